"""Python functions that SQL calls, in a module that workers can import."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from datasources.sql import arrow_function

__all__ = ["watermark_on_flag"]


@arrow_function("TIMESTAMP_NTZ")
def watermark_on_flag(log_ts: pa.Array, flag: pa.Array) -> pa.Array:
    """FLIP-66's function: a row that ends a sequence carries a watermark, the others none."""
    return pc.if_else(flag, log_ts, pa.scalar(None, log_ts.type))
