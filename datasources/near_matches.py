"""Suggestions for an unknown name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def near_matches(name: str, known: Iterable[str], *, likeness: float = 0.6) -> str:
    """Return " Did you mean 'x'?" for the names that look like `name`, whatever their case; "" if none does.

    ``likeness`` is from 0 to 1; names with a long common beginning are alike anyway.
    """
    by_folded = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.lower(), by_folded, n=3, cutoff=likeness)
    return f" Did you mean {' or '.join(repr(by_folded[n]) for n in near)}?" if near else ""
