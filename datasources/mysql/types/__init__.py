"""MySQL's types: their Arrow and Spark types, and decoders that give equal values for snapshot and binlog."""

from datasources.mysql.types.column import ColumnType, Kind, ZeroDates, arrow_type, result_expression, select_expression
from datasources.mysql.types.declared import column_type_of
from datasources.mysql.types.result import result_column
from datasources.mysql.types.snapshot import snapshot_column

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
