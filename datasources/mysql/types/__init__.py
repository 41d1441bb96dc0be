"""MySQL's types: their Arrow and Spark types, and decoders that give equal values for snapshot and binlog.

`type_table` has one row per type, with everything that is known about it; a new type is a name in `column`, a row
there, and its decoders. `column` is the type of a column, `declared` reads it from information_schema, `storage` is how
row images of the binlog store it, `result` decodes what a SELECT returns. The table's entries are made in
`declarations`, `storage` and `decoders`.
"""

from datasources.mysql.types.column import ColumnType, Kind, ZeroDates
from datasources.mysql.types.declared import column_type_of
from datasources.mysql.types.result import result_column, snapshot_column
from datasources.mysql.types.type_table import arrow_type, result_expression, select_expression

__all__ = [
    "ColumnType",
    "Kind",
    "ZeroDates",
    "arrow_type",
    "column_type_of",
    "result_column",
    "result_expression",
    "select_expression",
    "snapshot_column",
]
