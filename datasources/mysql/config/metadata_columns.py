"""The metadata columns: a row's kind, times, position and GTID."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from datasources.arrow_types import TIMESTAMP

SEQUENCE_TYPE: Final = pa.struct(
    [
        ("epoch", pa.int32()),
        ("file_no", pa.int32()),
        ("pos", pa.int64()),
        ("row", pa.int32()),
        ("side", pa.int32()),
    ]
)
"""The order of all rows of a source, compared field by field: applied in it, the changes give the table.

`epoch` counts servers and resets, `file_no` and `pos` are the event's position, `row` the row's number in it, `side` is
0 for the before image and 1 for the after image. Snapshot rows have the position of their high watermark.
"""

METADATA_TYPES: Final[Mapping[str, pa.DataType]] = {
    "row_kind": pa.string(),
    "op_ts": TIMESTAMP,
    "source_ts": TIMESTAMP,
    "database_name": pa.string(),
    "table_name": pa.string(),
    "file": pa.string(),
    "pos": pa.int64(),
    "gtid": pa.string(),
    "snapshot": pa.bool_(),
    "_seq": SEQUENCE_TYPE,
}
"""Keys and types of the metadata columns, in the order in which a DataFrame has them.

row_kind is +I, -U, +U, -D, or T where the table was truncated; op_ts is the commit time, source_ts the time of the
statement.
"""

TRUNCATE: Final = "T"
