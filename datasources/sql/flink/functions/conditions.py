"""COALESCE, IF, NULLIF, GREATEST and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from datasources.sql.flink.casts import bound, cast, coerced
from datasources.sql.flink.functions.binding import is_cheap
from datasources.sql.flink.functions.signature import Function, common, first_argument, function, overloads
from datasources.sql.flink.logical_types import BOOLEAN, DOUBLE
from datasources.sql.flink.operators import compare
from datasources.sql.flink.parse.syntax import Call
from datasources.sql.flink.typed_value import ADDITIVE, Value

_OF_ARRAYS: Final = {"GREATEST": "array_max", "LEAST": "array_min"}


def _alike(arguments: Sequence[Value]) -> list[str]:
    kind = common(arguments)
    return [coerced(each, kind).text for each in arguments]


def _coalesce(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001 - texts are made alike
    return f"coalesce({', '.join(_alike(arguments))})"


def _extreme(name: str) -> Function:
    def text(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
        texts = _alike(arguments)
        if len(texts) == 1:
            return texts[0]
        if not all(map(is_cheap, arguments)):
            found = f"if(exists(items, item -> item IS NULL), NULL, {_OF_ARRAYS[name]}(items))"
            return f"transform(array(array({', '.join(texts)})), items -> {found})[0]"
        tests = " OR ".join(f"({each}) IS NULL" for each in texts)
        return f"CASE WHEN {tests} THEN NULL ELSE {name.lower()}({', '.join(texts)}) END"

    return overloads(name, ("any any*", common, text), differs="Spark's leaves NULL out; Flink's is NULL then")


def _if(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    first, second = _alike(arguments[1:])
    return f"if({arguments[0].text}, {first}, {second})"


def _nullif(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    value, other = arguments
    same = compare("=", value, other).text
    start = f"{value.inside(ADDITIVE)} = "
    if same.startswith(start):  # no test for NaN, and no cast of the first
        return f"nullif({value.text}, {same.removeprefix(start)})"
    return bound(value, lambda x: f"CASE WHEN {compare('=', x, other).text} THEN NULL ELSE {x.text} END")


def _is_decimal(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    return f"({cast(arguments[0], DOUBLE, is_try=True).text} IS NOT NULL)"


CONDITIONS: Final[tuple[Function, ...]] = (
    overloads("COALESCE", ("any any*", common, _coalesce)),
    overloads("IFNULL", ("any any", common, _coalesce)),
    overloads("NULLIF", ("any any", first_argument, _nullif)),
    overloads("IF", ("boolean any any", lambda arguments: common(arguments[1:]), _if)),
    _extreme("GREATEST"),
    _extreme("LEAST"),
    function("IS_ALPHA", "text", BOOLEAN, r"coalesce({0} RLIKE r'^\p{{L}}+\z', FALSE)"),
    function("IS_DIGIT", "text", BOOLEAN, r"coalesce({0} RLIKE r'^\p{{Nd}}+\z', FALSE)"),
    overloads("IS_DECIMAL", ("text", BOOLEAN, _is_decimal)),
)
