"""The mark of row batches in Spark's plan: the name of an alias above the node that packs them.

What a Python function in a plan does cannot be seen. An alias stays in the analysed plan, and has no other effect.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Final

_PREFIX: Final = f"tidemark_row_batches_{secrets.token_hex(4)} "  # no alias of a user's begins like this


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBatchMarker:
    """Rows of one stream in row batches.

    Attributes:
        buckets: into how many.
        keys: the columns by whose hash rows are distributed; empty: all rows are in one bucket.
        time: the column with the rowtime.
    """

    buckets: int
    keys: tuple[str, ...]
    time: str

    @property
    def alias(self) -> str:
        """The name of the alias."""
        return _PREFIX + json.dumps([self.buckets, self.keys, self.time])

    @classmethod
    def of(cls, alias: str) -> RowBatchMarker | None:
        """Return the mark that the name of an alias is, None if it is a name of the user's."""
        if not alias.startswith(_PREFIX):
            return None
        buckets, keys, time = json.loads(alias.removeprefix(_PREFIX))
        return cls(buckets=buckets, keys=tuple(keys), time=time)
