"""Parses JSON text into a tree that keeps number texts and duplicate keys, unlike the standard library's parser.

Theory of operation: the grammar is the one that Spark's `from_json` reads by default. It is RFC 8259 plus strings and
names in single quotes, an escaped single quote, and the bare words NaN, Infinity, +Infinity, -Infinity, +INF and -INF;
the limits are those of `json_scanner`. The standard library's C scanner accepts a subset of it with the same meaning,
so it is tried first; texts that it rejects are parsed by `json_scanner`, which accepts the whole grammar and reports
where a text is malformed.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from datasources.formats.json.text.json_scanner import (
    MAX_DEPTH,
    MAX_NAME_LENGTH,
    Fraction,
    Malformed,
    Members,
    Whole,
    check_number,
    scan,
)

__all__ = ["Fraction", "Malformed", "Members", "Whole", "parse"]


class _NeedsFullParser(Exception):
    """The fast parser cannot decide; the full one must."""


def parse(text: str) -> object:
    """Return the tree of one document.

    Objects are `Members` (a list of name-value pairs in the order of the text, duplicates included), arrays lists,
    numbers `Whole` or `Fraction` (their texts; NaN and infinities are Fractions), the rest is str, bool and None.

    Raises:
        Malformed: the text is no document of the grammar, or exceeds one of its limits.
    """
    # The C scanner recurses on the C stack and counts depth differently.
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        try:
            return _FAST_PARSE(text)
        except (ValueError, RecursionError, _NeedsFullParser):
            pass
    return scan(text)


def _members(pairs: list[tuple[str, object]]) -> Members:
    for name, _ in pairs:
        if len(name) > MAX_NAME_LENGTH:
            raise _NeedsFullParser
    return Members(pairs)


def _whole(text: str) -> Whole:
    return Whole(check_number(text))


def _fraction(text: str) -> Fraction:
    return Fraction(check_number(text))


_FAST_PARSE: Callable[[str], object] = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=_whole, parse_float=_fraction, parse_constant=Fraction, strict=True
).decode
