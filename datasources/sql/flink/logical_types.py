"""Flink's logical types: defaults of parameters, families, and the type that two types have in common.

A type is a `SqlType` with all its parameters: STRING is VARCHAR(2147483647), TIMESTAMP is TIMESTAMP(6). NULL is the
type of the literal. Precisions of DECIMAL follow Flink's documentation of its operators.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import Final

from datasources.grammar.source_text import SqlText
from datasources.grammar.spark_type_names import sql_name_of
from datasources.grammar.sql_types import SqlField, SqlType
from datasources.sql.parse.types import parse_type

MAX_PRECISION: Final = 38
_MAX_LENGTH: Final = 2**31 - 1
NULL: Final = SqlType("NULL")
BOOLEAN: Final = SqlType("BOOLEAN")
TINYINT: Final = SqlType("TINYINT")
SMALLINT: Final = SqlType("SMALLINT")
INT: Final = SqlType("INT")
BIGINT: Final = SqlType("BIGINT")
FLOAT: Final = SqlType("FLOAT")
DOUBLE: Final = SqlType("DOUBLE")
STRING: Final = SqlType("VARCHAR", (_MAX_LENGTH,))
BYTES: Final = SqlType("VARBINARY", (_MAX_LENGTH,))
DATE: Final = SqlType("DATE")
TIME: Final = SqlType("TIME", (0,))
TIMESTAMP: Final = SqlType("TIMESTAMP", (3,))
LTZ: Final = SqlType("TIMESTAMP_LTZ", (3,))
MONTHS: Final = SqlType("INTERVAL", units=("MONTH",))
MILLISECONDS: Final = SqlType("INTERVAL", units=("SECOND",))
"""The two types of intervals, whatever their units."""

_INTEGERS: Final = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_DIGITS: Final = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}
_DEFAULTS: Final[dict[str, tuple[int, ...]]] = {
    "DECIMAL": (10, 0),
    "CHAR": (1,),
    "VARCHAR": (_MAX_LENGTH,),
    "BINARY": (1,),
    "VARBINARY": (_MAX_LENGTH,),
    "TIME": (0,),
    "TIMESTAMP": (6,),
    "TIMESTAMP_LTZ": (6,),
}
_SYNONYMS: Final = {"STRING": STRING, "BYTES": BYTES}
_UNITS_OF_MONTHS: Final = ("YEAR", "MONTH")
_FAMILIES: Final[dict[str, frozenset[str]]] = {
    "boolean": frozenset({"BOOLEAN"}),
    "integer": frozenset(_INTEGERS),
    "exact": frozenset({*_INTEGERS, "DECIMAL"}),
    "approximate": frozenset({"FLOAT", "DOUBLE"}),
    "numeric": frozenset({*_INTEGERS, "DECIMAL", "FLOAT", "DOUBLE"}),
    "text": frozenset({"CHAR", "VARCHAR"}),
    "binary": frozenset({"BINARY", "VARBINARY"}),
    "date": frozenset({"DATE"}),
    "time": frozenset({"TIME"}),
    "local": frozenset({"TIMESTAMP"}),
    "instant": frozenset({"TIMESTAMP_LTZ"}),
    "timestamp": frozenset({"TIMESTAMP", "TIMESTAMP_LTZ"}),
    "datetime": frozenset({"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ"}),
    "interval": frozenset({"INTERVAL"}),
    "array": frozenset({"ARRAY"}),
    "map": frozenset({"MAP", "MULTISET"}),
    "row": frozenset({"ROW"}),
}


def families() -> tuple[str, ...]:
    """Return the names that `is_family` knows."""
    return (*_FAMILIES, "any", "months", "milliseconds")


def is_family(kind: SqlType, family: str) -> bool:
    """Return whether a type is of a family; NULL is of every one."""
    if kind.root == "NULL" or family == "any":
        return True
    if family in {"months", "milliseconds"}:
        return kind.root == "INTERVAL" and (kind.units[0] in _UNITS_OF_MONTHS) == (family == "months")
    return kind.root in _FAMILIES[family]


def normalized(kind: SqlType) -> SqlType:
    """Return a declared type with all of its parameters, inner types as well."""
    if kind.root in _SYNONYMS:
        return replace(_SYNONYMS[kind.root], is_nullable=kind.is_nullable)
    if kind.root == "INTERVAL":
        return replace(kind, units=("MONTH" if kind.units[0] in _UNITS_OF_MONTHS else "SECOND",))
    parameters = kind.parameters or _DEFAULTS.get(kind.root, ())
    if kind.root == "DECIMAL" and len(parameters) == 1:
        parameters = (parameters[0], 0)
    return replace(
        kind,
        parameters=parameters,
        arguments=tuple(map(normalized, kind.arguments)),
        fields=tuple(replace(each, type=normalized(each.type)) for each in kind.fields),
    )


def type_of_spark(spark_type: str) -> SqlType:
    """Return the type of values of a type of Spark's, which its DDL or `simpleString` names."""
    return normalized(parse_type(SqlText(sql_name_of(spark_type))))


def decimal(precision: int, scale: int) -> SqlType:
    """Return a DECIMAL; where its digits are more than 38, digits behind the point go, down to six."""
    if precision > MAX_PRECISION:
        whole = precision - scale
        scale = max(MAX_PRECISION - whole, min(scale, 6))
        precision = MAX_PRECISION
    return SqlType("DECIMAL", (precision, scale))


def as_decimal(kind: SqlType) -> SqlType:
    """Return the DECIMAL that holds every value of an exact number."""
    return kind if kind.root == "DECIMAL" else SqlType("DECIMAL", (_DIGITS[kind.root], 0))


def array_of(element: SqlType) -> SqlType:
    """Return an ARRAY."""
    return SqlType("ARRAY", arguments=(element,))


def map_of(key: SqlType, value: SqlType) -> SqlType:
    """Return a MAP."""
    return SqlType("MAP", arguments=(key, value))


def row_of(fields: Iterable[tuple[str, SqlType]]) -> SqlType:
    """Return a ROW."""
    return SqlType("ROW", fields=tuple(SqlField(name, kind) for name, kind in fields))


def common_type(kinds: Iterable[SqlType]) -> SqlType | None:
    """Return the type of CASE, COALESCE and UNION over types; None if they have none in common."""
    found = [replace(each, is_nullable=True) for each in kinds]
    start: SqlType | None = NULL
    return reduce(_common, found, start) if found else None


def _common(left: SqlType | None, right: SqlType) -> SqlType | None:
    if left is None or left == right or right.root == "NULL":
        return left
    if left.root == "NULL":
        return right
    for family, rule in _RULES:
        if is_family(left, family) and is_family(right, family):
            return rule(left, right)
    return _common_time(left, right)


def _common_number(left: SqlType, right: SqlType) -> SqlType:
    roots = {left.root, right.root}
    if roots <= {"FLOAT", "DOUBLE"}:
        return left  # of two floating types, Flink takes the first
    if "DOUBLE" in roots or (("FLOAT" in roots) and "DECIMAL" in roots):
        return DOUBLE
    if "FLOAT" in roots:
        return FLOAT
    if "DECIMAL" not in roots:
        return max(left, right, key=lambda each: _INTEGERS.index(each.root))
    (p1, s1), (p2, s2) = as_decimal(left).parameters, as_decimal(right).parameters
    scale = max(s1, s2)
    return SqlType("DECIMAL", (min(MAX_PRECISION, max(p1 - s1, p2 - s2) + scale), scale))


def _common_sized(fixed: str, varying: str, left: SqlType, right: SqlType) -> SqlType:
    is_fixed = left.root == right.root == fixed and left.parameters == right.parameters
    return SqlType(fixed if is_fixed else varying, (max(left.parameters[0], right.parameters[0]),))


def _common_text(left: SqlType, right: SqlType) -> SqlType:
    return _common_sized("CHAR", "VARCHAR", left, right)


def _common_binary(left: SqlType, right: SqlType) -> SqlType:
    return _common_sized("BINARY", "VARBINARY", left, right)


def _common_interval(left: SqlType, right: SqlType) -> SqlType | None:
    return left if left.units == right.units else None


def _common_array(left: SqlType, right: SqlType) -> SqlType | None:
    element = _common(left.arguments[0], right.arguments[0])
    return None if element is None else array_of(element)


def _common_map(left: SqlType, right: SqlType) -> SqlType | None:
    if left.root != right.root or left.root == "MULTISET":
        return None
    key, value = (_common(left.arguments[at], right.arguments[at]) for at in (0, 1))
    return None if key is None or value is None else map_of(key, value)


def _common_row(left: SqlType, right: SqlType) -> SqlType | None:
    if len(left.fields) != len(right.fields):
        return None
    fields = []
    for one, other in zip(left.fields, right.fields, strict=True):
        kind = _common(one.type, other.type)
        if kind is None:
            return None
        fields.append((one.name, kind))
    return row_of(fields)


def _common_time(left: SqlType, right: SqlType) -> SqlType | None:
    """Of a TIMESTAMP and a TIMESTAMP_LTZ the first counts if they have as many digits, or else the second."""
    if left.root == right.root or {left.root, right.root} <= {"TIMESTAMP", "TIMESTAMP_LTZ"}:
        if left.parameters == right.parameters:
            return left
        return replace(right, parameters=max(left.parameters, right.parameters))
    return None


_RULES: Final = (
    ("numeric", _common_number),
    ("text", _common_text),
    ("binary", _common_binary),
    ("interval", _common_interval),
    ("array", _common_array),
    ("map", _common_map),
    ("row", _common_row),
)
