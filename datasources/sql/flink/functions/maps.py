"""Functions of maps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.casts import coerced
from datasources.sql.flink.functions.binding import bound, free_name
from datasources.sql.flink.functions.signature import Function, common, overloads
from datasources.sql.flink.logical_types import array_of, map_of, row_of
from datasources.sql.flink.parse.syntax import Call
from datasources.sql.flink.typed_value import Refused, Value


def _inner(arguments: Sequence[Value]) -> tuple[SqlType, SqlType]:
    kind = arguments[0].type
    if kind.root != "MAP":
        raise Refused("the word NULL has no keys", "CAST it to a MAP.")
    return kind.arguments[0], kind.arguments[1]


def _keys(arguments: Sequence[Value]) -> SqlType:
    return array_of(_inner(arguments)[0])


def _values(arguments: Sequence[Value]) -> SqlType:
    return array_of(_inner(arguments)[1])


def _entries(arguments: Sequence[Value]) -> SqlType:
    key, value = _inner(arguments)
    return array_of(row_of((("key", key), ("value", value))))


def _union(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001 - texts are made alike
    kind = common(arguments)
    return reduce(_merged, (coerced(each, kind) for each in arguments)).text


def _merged(first: Value, second: Value) -> Value:
    """Two maps in one; where both have a key, the second one's value counts."""

    def joined(name: str) -> str:
        key = free_name("k", name)
        return f"map_concat(map_filter({first.text}, ({key}, v) -> NOT map_contains_key({name}, {key})), {name})"

    return Value(text=bound(second, joined), type=first.type)


def _map_type(arguments: Sequence[Value]) -> SqlType:
    keys, values = (each.type for each in arguments)
    if "NULL" in (keys.root, values.root):
        raise Refused("the word NULL has no elements", "CAST it to an ARRAY.")
    return map_of(keys.arguments[0], values.arguments[0])


MAPS: Final[tuple[Function, ...]] = (
    overloads("MAP_KEYS", ("map", _keys, "map_keys({0})")),
    overloads("MAP_VALUES", ("map", _values, "map_values({0})")),
    overloads("MAP_ENTRIES", ("map", _entries, "map_entries({0})")),
    overloads("MAP_UNION", ("map map*", common, _union)),
    overloads("MAP_FROM_ARRAYS", ("array array", _map_type, "map_from_arrays({0}, {1})")),
)
