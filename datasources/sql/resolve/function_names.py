"""Names of Spark functions with a special meaning in definitions, in lower case."""

from __future__ import annotations

from typing import Final

NON_DETERMINISTIC: Final = frozenset(
    {
        "curdate",
        "current_date",
        "current_time",
        "current_timestamp",
        "input_file_block_length",
        "input_file_block_start",
        "input_file_name",
        "localtime",
        "localtimestamp",
        "monotonically_increasing_id",
        "now",
        "rand",
        "randn",
        "random",
        "randstr",
        "shuffle",
        "spark_partition_id",
        "uniform",
        "uuid",
    }
)
"""They give something else when a record is read again."""

CLOCK_WITHOUT_ARGUMENTS: Final = "unix_timestamp"
"""Without arguments it is a clock, with them it is a conversion."""

WITHOUT_PARENTHESES: Final = frozenset(
    {
        "current_catalog",
        "current_database",
        "current_date",
        "current_path",
        "current_schema",
        "current_time",
        "current_timestamp",
        "current_user",
        "localtime",
        "localtimestamp",
        "session_user",
        "user",
    }
)
"""They may be called by their names alone."""
