"""The function `count_char` of q14 over Arrow arrays."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from datasources.sql import arrow_function

__all__ = ["count_char"]


@arrow_function("BIGINT")
def count_char(texts: pa.Array, characters: pa.Array) -> pa.Array:
    """Return how often each text has a character; all rows have the same one."""
    if not len(texts):
        return pa.array([], pa.int64())
    counts = pc.count_substring(texts, pattern=characters[0].as_py()).cast(pa.int64())
    return pc.fill_null(counts, 0)
