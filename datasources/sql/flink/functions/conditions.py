"""COALESCE, IF, NULLIF, GREATEST and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from datasources.sql.flink.casts import coerced
from datasources.sql.flink.functions.signature import Function, common, first_argument, overloads
from datasources.sql.flink.operators import compare
from datasources.sql.flink.parse.syntax import Call
from datasources.sql.flink.typed_value import Value


def _alike(arguments: Sequence[Value]) -> list[str]:
    kind = common(arguments)
    return [coerced(each, kind).text for each in arguments]


def _coalesce(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001 - texts are made alike
    return f"coalesce({', '.join(_alike(arguments))})"


def _extreme(name: str) -> Function:
    def text(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
        texts = _alike(arguments)
        tests = " OR ".join(f"({each}) IS NULL" for each in texts)
        return f"CASE WHEN {tests} THEN NULL ELSE {name.lower()}({', '.join(texts)}) END"

    return overloads(name, ("any any*", common, text), differs="Spark's leaves NULL out; Flink's is NULL then")


def _if(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    first, second = _alike(arguments[1:])
    return f"if({arguments[0].text}, {first}, {second})"


def _nullif(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    same = compare("=", *arguments).text
    return f"CASE WHEN {same} THEN NULL ELSE {arguments[0].text} END"


CONDITIONS: Final[tuple[Function, ...]] = (
    overloads("COALESCE", ("any any*", common, _coalesce)),
    overloads("IFNULL", ("any any", common, _coalesce)),
    overloads("NULLIF", ("any any", first_argument, _nullif)),
    overloads("IF", ("boolean any any", lambda arguments: common(arguments[1:]), _if)),
    _extreme("GREATEST"),
    _extreme("LEAST"),
)
