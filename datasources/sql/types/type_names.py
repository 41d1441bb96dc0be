"""A type's texts: canonical SQL, which the parser reads back to the same type, and Spark's DDL.

TIMESTAMP(p) is Spark's TIMESTAMP_NTZ and TIMESTAMP_LTZ(p) its TIMESTAMP. CHAR, VARCHAR and STRING are STRING, as in
every table schema of Spark; BINARY, VARBINARY and BYTES are BINARY; ROW is STRUCT; MULTISET<T> is MAP<T, INT>, the
number of times that each element occurs, as Flink stores it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from datasources.errors import SchemaError
from datasources.grammar.literals import literal
from datasources.grammar.sql_types import SqlField, SqlType
from datasources.sql.text.quoting import name_text

_SPARK_NAMES: Final = {
    **{each: each for each in ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "BINARY")},
    **dict.fromkeys(("CHAR", "VARCHAR", "STRING"), "STRING"),
    **dict.fromkeys(("VARBINARY", "BYTES"), "BINARY"),
    "TIMESTAMP": "TIMESTAMP_NTZ",
    "TIMESTAMP_LTZ": "TIMESTAMP",
}
_REFUSED: Final = {
    "TIME": (
        "columns of type TIME cannot be read: no source of Tidemark makes times without a date",
        "Declare it as STRING, or as TIMESTAMP(3) with a date.",
    )
}
_DEFAULT_DECIMAL: Final = "DECIMAL(10, 0)"


def sql_text(sql_type: SqlType) -> str:
    """Return the canonical SQL text of a type, with NOT NULL where it is: `ROW<a INT, b DECIMAL(10, 2)> NOT NULL`."""
    return _bare_text(sql_type) + ("" if sql_type.is_nullable else " NOT NULL")


def spark_ddl(sql_type: SqlType) -> str:
    """Return the type as Spark's DDL names it, without its own NOT NULL: `STRUCT<a: INT, b: DECIMAL(10, 2)>`.

    Raises:
        SchemaError: Spark has no such type; see `refusal_of`.
    """
    refusal = refusal_of(sql_type)
    if refusal is not None:
        reason, hint = refusal
        raise SchemaError(f"{reason}. {hint}")
    return _spark_text(sql_type)


def refusal_of(sql_type: SqlType) -> tuple[str, str] | None:
    """Return why no column can have this type, a clause, and what to do, a sentence; None = it can."""
    for each in _parts(sql_type):
        if each.root in _REFUSED:
            return _REFUSED[each.root]
    return None


def _parts(sql_type: SqlType) -> Iterator[SqlType]:
    yield sql_type
    for each in (*sql_type.arguments, *(field.type for field in sql_type.fields)):
        yield from _parts(each)


def _bare_text(sql_type: SqlType) -> str:
    if sql_type.root == "ROW":
        return f"ROW<{', '.join(_field_text(each) for each in sql_type.fields)}>"
    if sql_type.arguments:
        return f"{sql_type.root}<{', '.join(sql_text(each) for each in sql_type.arguments)}>"
    if sql_type.units:
        return _interval(sql_type)
    return sql_type.root + _parameters(sql_type)


def _field_text(field: SqlField) -> str:
    comment = "" if field.comment is None else f" COMMENT {literal(field.comment)}"
    return f"{name_text(field.name)} {sql_text(field.type)}{comment}"


def _parameters(sql_type: SqlType) -> str:
    return f"({', '.join(str(each) for each in sql_type.parameters)})" if sql_type.parameters else ""


def _spark_text(sql_type: SqlType) -> str:
    plain = _SPARK_NAMES.get(sql_type.root)
    return plain if plain is not None else _SPARK_TEXTS[sql_type.root](sql_type)


def _spark_decimal(sql_type: SqlType) -> str:
    return f"DECIMAL{_parameters(sql_type)}" if sql_type.parameters else _DEFAULT_DECIMAL


def _interval(sql_type: SqlType) -> str:
    return "INTERVAL " + " TO ".join(sql_type.units)


def _spark_map(sql_type: SqlType) -> str:
    key, value = sql_type.arguments
    return f"MAP<{_spark_text(key)}, {_spark_text(value)}>"


def _spark_struct(sql_type: SqlType) -> str:
    fields = (
        f"{name_text(each.name)}: {_spark_text(each.type)}{'' if each.type.is_nullable else ' NOT NULL'}"
        for each in sql_type.fields
    )
    return f"STRUCT<{', '.join(fields)}>"


_SPARK_TEXTS: Final[dict[str, Callable[[SqlType], str]]] = {
    "DECIMAL": _spark_decimal,
    "INTERVAL": _interval,
    "ARRAY": lambda sql_type: f"ARRAY<{_spark_text(sql_type.arguments[0])}>",
    "MAP": _spark_map,
    "MULTISET": lambda sql_type: f"MAP<{_spark_text(sql_type.arguments[0])}, INT>",
    "ROW": _spark_struct,
}
