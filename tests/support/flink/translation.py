"""Single expressions of Flink SQL over a table with a column of each kind: their Spark SQL and type, or the refusal."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.logical_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LTZ,
    STRING,
    TIMESTAMP,
    TINYINT,
    array_of,
    map_of,
    row_of,
)
from datasources.sql.flink.query_translator import translate_query
from datasources.sql.flink.scope import Column
from datasources.sql.flink.typed_value import shown_type
from datasources.sql.text.flink_strings import with_spark_strings

__all__ = ["refusal", "translated"]

_COLUMNS = (
    Column("b", BOOLEAN),
    Column("ti", TINYINT),
    Column("i", INT),
    Column("i2", INT),
    Column("l", BIGINT),
    Column("f", FLOAT),
    Column("d", DOUBLE),
    Column("dec", SqlType("DECIMAL", (10, 2))),
    Column("big", SqlType("DECIMAL", (38, 18))),
    Column("s", STRING),
    Column("c", SqlType("CHAR", (3,))),
    Column("bin", BYTES),
    Column("dt", DATE),
    Column("ts", TIMESTAMP),
    Column("ts6", SqlType("TIMESTAMP", (6,))),
    Column("ltz", LTZ),
    Column("ai", array_of(INT)),
    Column("m", map_of(STRING, INT)),
    Column("r", row_of([("a", INT), ("b", STRING)])),
)


class _Relations:
    """One table, `t`."""

    def columns(self, name: str) -> tuple[Column, ...] | None:
        return _COLUMNS if name == "t" else None

    def function_types(self) -> Mapping[str, SqlType]:
        return {}


def translated(expression: str) -> tuple[str, str]:
    """Return an expression's Spark SQL and Flink's type of it."""
    found = translate_query(with_spark_strings(SqlText(f"SELECT {expression} AS x FROM t")), _Relations())
    text = found.source.text.removeprefix("SELECT ").removesuffix(" AS x FROM t")
    return text, shown_type(found.columns[0].type)


def refusal(expression: str) -> str:
    """Return why an expression is refused."""
    with pytest.raises(SqlError) as caught:
        translated(expression)
    return caught.value.message
