"""Actions as records: JSON as Flink's format writes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.changelog.net_actions import DELETE_COLUMN
from datasources.grammar.literals import quoted

_JSON: Final = {
    "timestampFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS'Z'",
    "timestampNTZFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS",
    "timeZone": "UTC",
    "ignoreNullFields": "false",
}
"""Flink's `timestamp-format.standard` = SQL: an instant ends with Z, a local time does not. NULL is written."""


def record_texts(actions: DataFrame, key: Sequence[str], *, has_key_in_value: bool) -> DataFrame:
    """Return `key` and `value` of the record of each action or row; the value of a delete is NULL.

    Without columns of the key it is NULL.
    """
    names = [name for name in actions.columns if name != DELETE_COLUMN]
    in_value = [name for name in names if has_key_in_value or name not in key]
    value = F.to_json(F.struct(*map(quoted, in_value)), _JSON) if in_value else F.lit("{}")
    key_text = F.to_json(F.struct(*map(quoted, key)), _JSON) if key else F.lit(None).cast("string")
    if DELETE_COLUMN in actions.columns:
        value = F.when(~F.col(DELETE_COLUMN), value)
    return actions.select(key_text.alias("key"), value.alias("value"))
