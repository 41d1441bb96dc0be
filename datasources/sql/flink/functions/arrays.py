"""Functions of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.casts import coerced
from datasources.sql.flink.functions.binding import bound, free_name, is_null, whole_number
from datasources.sql.flink.functions.signature import Function, common, first_argument, function, overloads
from datasources.sql.flink.logical_types import BOOLEAN, INT, STRING, common_type, is_family
from datasources.sql.flink.parse.syntax import Call
from datasources.sql.flink.typed_value import Refused, Value, shown_type, spark_type


def _element_type(arguments: Sequence[Value]) -> SqlType:
    kind = arguments[0].type
    if kind.root == "NULL":
        raise Refused("the word NULL has no elements", "CAST it to an ARRAY.")
    return kind.arguments[0]


def _element(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001 - texts are made alike
    (array,) = arguments
    failure = "raise_error('ELEMENT takes an array of one element')"
    return bound(array, lambda v: f"CASE WHEN array_size({v}) > 1 THEN {failure} ELSE get({v}, 0) END")


def _alike(name: str) -> Function:
    def text(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
        kind = common(arguments)
        return f"{name.lower()}({', '.join(coerced(each, kind).text for each in arguments)})"

    return overloads(name, ("array array", common, text))


def _concat(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    kind = common(arguments)
    return f"concat({', '.join(coerced(each, kind).text for each in arguments)})"


def _item(arguments: Sequence[Value]) -> Value:
    """The second argument as an element of the first; Flink casts it if it loses nothing by its type."""
    array, item = arguments[:2]
    element = _element_type(arguments)
    kind = common_type((element, item.type))
    are_texts = is_family(element, "text") and is_family(item.type, "text")
    if kind is None or (kind.root != element.root and not are_texts) or "MAP" in (element.root, item.type.root):
        raise Refused(f"{shown_type(array.type)} has no elements of {shown_type(item.type)}", "CAST the element.")
    return coerced(item, element)


def _with_item(name: str, differs: str = "") -> Function:
    def text(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
        return f"{name.lower()}({arguments[0].text}, {_item(arguments).text})"

    return overloads(name, ("array any", first_argument, text), differs=differs)


def _contains(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    item = _item(arguments).text
    name = free_name("e", item)
    return f"exists({arguments[0].text}, {name} -> {name} <=> {item})"


def _position(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    return f"CAST(array_position({arguments[0].text}, {_item(arguments).text}) AS INT)"


def _remove(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    array, given = arguments
    item = _item(arguments).text
    if given.constant is not None and not is_null(given):
        return f"array_remove({array.text}, {item})"
    name = free_name("e", item)
    return f"filter({array.text}, {name} -> NOT ({name} <=> {item}))"


def _sort(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    array, *flags = arguments
    if any(map(is_null, flags)):
        return f"CAST(NULL AS {spark_type(array.type)})"
    upward = flags[0] if flags else None
    if upward is not None and upward.constant is None:
        if len(flags) > 1:
            raise Refused("the third argument of ARRAY_SORT needs TRUE or FALSE as the second one here")
        return bound(
            array,
            lambda v: f"CASE {upward.text} WHEN true THEN sort_array({v}) WHEN false THEN sort_array({v}, false) END",
        )
    is_upward = upward is None or upward.constant == "TRUE"
    return _sorted(array.text, is_upward=is_upward, are_nulls_first=_flag(flags[1:], is_upward))


def _flag(flags: Sequence[Value], otherwise: bool) -> bool:  # noqa: FBT001 - the value, not a switch
    if not flags:
        return otherwise
    if flags[0].constant is None:
        raise Refused("the third argument of ARRAY_SORT has to be TRUE or FALSE here")
    return flags[0].constant == "TRUE"


def _sorted(array: str, *, is_upward: bool, are_nulls_first: bool) -> str:
    if is_upward == are_nulls_first:
        return f"sort_array({array})" if is_upward else f"sort_array({array}, false)"
    return f"array_sort({array})" if is_upward else f"reverse(array_sort({array}))"


def _slice(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    array, *ends = arguments
    if any(map(is_null, ends)):
        return f"CAST(NULL AS {spark_type(array.type)})"
    numbers = [whole_number(each) for each in ends]
    if all(each is not None and each >= 0 for each in numbers):
        first, *rest = (max(each or 0, 1) for each in numbers)
        return bound(array, lambda v: f"slice({v}, {first}, {_length(v, first, rest)})")
    found = bound(array, lambda v: _computed_slice(v, ends))
    tests = [f"{each.text} IS NOT NULL" for each, number in zip(ends, numbers, strict=True) if number is None]
    return f"CASE WHEN {' AND '.join(tests)} THEN {found} END" if tests else found


def _length(array: str, first: int, rest: Sequence[int]) -> str:
    return str(max(rest[0] - first + 1, 0)) if rest else f"array_size({array})"


def _computed_slice(array: str, ends: Sequence[Value]) -> str:
    first = f"greatest({_counted(ends[0], array)}, 1)"
    if len(ends) == 1:
        return f"slice({array}, {first}, array_size({array}))"
    return f"slice({array}, {first}, greatest({_counted(ends[1], array)} - {first} + 1, 0))"


def _counted(end: Value, array: str) -> str:
    """A position from the front; negative ones are counted from the end, 0 is 1."""
    number = whole_number(end)
    if number is None:
        return f"if({end.text} < 0, array_size({array}) + {end.text} + 1, greatest({end.text}, 1))"
    return str(max(number, 1)) if number >= 0 else f"array_size({array}) - {-number - 1}"


def _extreme(name: str) -> Function:
    made: Callable[[Sequence[Value], Call], str] = lambda arguments, _: f"{name.lower()}({arguments[0].text})"  # noqa: E731
    return overloads(name, ("array", _element_type, made))


ARRAYS: Final[tuple[Function, ...]] = (
    overloads("CARDINALITY", ("array", INT, "array_size({0})"), ("map", INT, "array_size(map_keys({0}))")),
    overloads("ELEMENT", ("array", _element_type, _element)),
    function("ARRAY_DISTINCT", "array", first_argument, "array_distinct({0})"),
    function("ARRAY_REVERSE", "array", first_argument, "reverse({0})"),
    _extreme("ARRAY_MAX"),
    _extreme("ARRAY_MIN"),
    *map(_alike, ("ARRAY_UNION", "ARRAY_EXCEPT", "ARRAY_INTERSECT")),
    overloads("ARRAY_CONCAT", ("array array*", common, _concat)),
    overloads(
        "ARRAY_SORT",
        ("array boolean? boolean?", first_argument, _sort),
        differs="NULL is last in Spark's, and first in Flink's",
    ),
    _with_item("ARRAY_APPEND"),
    _with_item("ARRAY_PREPEND"),
    overloads(
        "ARRAY_CONTAINS",
        ("array any", BOOLEAN, _contains),
        differs="Spark's is NULL where NULL is an element and the value is none, Flink's FALSE",
    ),
    overloads("ARRAY_POSITION", ("array any", INT, _position)),
    overloads(
        "ARRAY_REMOVE", ("array any", first_argument, _remove), differs="NULL removes nothing but NULLs, in Spark's all"
    ),
    overloads(
        "ARRAY_JOIN",
        ("array text", STRING, "array_join({0}, {1})"),
        ("array text text", STRING, "array_join({0}, {1}, {2})"),
    ),
    overloads("ARRAY_SLICE", ("array INT INT?", first_argument, _slice)),
)
