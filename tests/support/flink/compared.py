"""Which of Flink's answers the dialect does not give: `python -m tests.support.flink.compared` writes them down.

`tests/golden/flink/not_equal.json` has by area each expression that is refused here (`refused: reason`), and each whose type or
value differs (`differs: ...`). Everything that is not listed is equal, or is refused by Flink itself.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pyspark.errors import PySparkException

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.flink.query_translator import translate_query
from datasources.sql.flink.typed_value import shown_type
from datasources.sql.text.flink_strings import with_spark_strings
from tests.support.flink.answers import (
    DIRECTORY,
    AggregateAnswer,
    CellFailure,
    ScalarAnswer,
    aggregate_answers,
    scalar_answers,
)
from tests.support.flink.corpus.areas import AGGREGATES, AREAS
from tests.support.flink.inputs import ZONE
from tests.support.flink.spark_side import FAILED, Outcome, SparkSide, collectable, of_type, plain
from tests.support.spark.spark_session import start_spark

NOT_EQUAL: Final = DIRECTORY.parent / "not_equal.json"
_GROUPS: Final = ("whole", "empty")
_TOO_LARGE: Final = frozenset({"LPAD(s, i2, s2)", "RPAD(s, i2, s2)", "REPEAT(s, i2)", "REPEAT('ab', i2)"})
"""Texts of 2 GB at one row: neither engine has the memory."""


def not_equal(side: SparkSide, area: str, *, step: int = 1) -> dict[str, str]:
    """Return the expressions of an area whose answers are not Flink's, and what they are; every `step`-th is asked."""
    if area == AGGREGATES:
        found = {each.call: _of_aggregate(side, each) for each in aggregate_answers()[::step] if each.refused is None}
    else:
        asked = [
            each for each in scalar_answers(area)[::step] if each.refused is None and each.expression not in _TOO_LARGE
        ]
        failing = {each.expression for each in asked if any(isinstance(value, CellFailure) for value in each.values)}
        outcomes = side.outcomes([each.expression for each in asked], failing)
        found = {a.expression: _of_scalar(a, o) for a, o in zip(asked, outcomes, strict=True)}
    return {expression: text for expression, text in found.items() if text}


def asked_expressions(area: str, step: int) -> set[str]:
    """Return the expressions that `not_equal` asks."""
    if area == AGGREGATES:
        return {each.call for each in aggregate_answers()[::step]}
    return {each.expression for each in scalar_answers(area)[::step]}


def compared_areas() -> tuple[str, ...]:
    """Return the areas that were compared and written down."""
    return tuple(json.loads(NOT_EQUAL.read_text(encoding="utf-8")))


def recorded(area: str) -> Mapping[str, str]:
    """Return what was written down for an area."""
    known: dict[str, dict[str, str]] = json.loads(NOT_EQUAL.read_text(encoding="utf-8"))
    return known.get(area, {})


def kinds(found: Mapping[str, str]) -> dict[str, str]:
    """Return `refused` or `differs` for each expression."""
    return {expression: text.partition(":")[0] for expression, text in found.items()}


def _of_scalar(answer: ScalarAnswer, outcome: Outcome) -> str:
    if outcome.refused or outcome.spark_problem:
        return f"refused: {outcome.refused}" if outcome.refused else f"differs: {outcome.spark_problem}"
    wanted = [FAILED if isinstance(each, CellFailure) else each for each in answer.values]
    if outcome.type == "FLOAT":  # Java's shortest number for one is not always the shortest
        wanted = [of_type(each, outcome.type) for each in wanted]
    given = list(outcome.values)[: len(wanted)]
    kind = _without_nullability(answer.type)
    if kind != _without_nullability(outcome.type):
        return f"differs: {kind} in Flink, {outcome.type} here"
    return "" if answer.varies or wanted == given else _cells(wanted, given)


def _without_nullability(kind: Any) -> str:
    """Return a type's text: every type is nullable here, also within another, and names need no quotes."""
    return str(kind).replace(" NOT NULL", "").replace("`", "")


def _cells(wanted: list[Any], given: list[Any]) -> str:
    at = next(number for number, pair in enumerate(zip(wanted, given, strict=True)) if pair[0] != pair[1])
    return f"differs: {wanted[at]!r} in Flink, {given[at]!r} here (value {at + 1})"


def _of_aggregate(side: SparkSide, answer: AggregateAnswer) -> str:
    try:
        found = translate_query(with_spark_strings(SqlText(f"SELECT {answer.call} AS x FROM t")), side)
    except SqlError as refusal:
        return f"refused: {refusal.message.splitlines()[0]}"
    kind = shown_type(found.columns[0].type)
    if _without_nullability(kind) != _without_nullability(answer.type):
        return f"differs: {answer.type} in Flink, {kind} here"
    wanted = {name: FAILED if isinstance(each, CellFailure) else each for name, each in answer.groups.items()}
    given = {group: of_type(value, kind) for group, value in _groups(side, answer.call, wanted).items()}
    if not wanted or given == wanted:
        return ""
    name = next(name for name in wanted if given.get(name) != wanted[name])
    return f"differs: {wanted[name]!r} in Flink, {given.get(name)!r} here (group {name})"


def _groups(side: SparkSide, call: str, wanted: Iterable[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    queries = {"whole": "FROM t", "empty": "FROM t WHERE FALSE"}
    for name in _GROUPS:
        found |= dict(_rows(side, f"SELECT '{name}' AS g, {call} AS x {queries[name]}", (name,)))
    names = [each for each in wanted if each not in _GROUPS]
    grouped = _rows(side, f"SELECT g, {call} AS x FROM t GROUP BY g", tuple(names))
    return found | {"NULL" if group is None else group: value for group, value in grouped}


def _rows(side: SparkSide, query: str, names: tuple[str, ...]) -> list[tuple[Any, Any]]:
    try:
        frame = side.query(query)
        found = frame.selectExpr("g", f"{collectable(frame.schema[1].dataType.simpleString(), 'x')} AS x")
        return [(row[0], plain(row[1])) for row in found.collect()]
    except PySparkException:
        return [(name, FAILED) for name in names]


def main() -> None:
    """Compare areas, all without arguments, and write down what is not equal."""
    areas = sys.argv[1:] or AREAS
    with tempfile.TemporaryDirectory() as directory:
        spark = start_spark(Path(directory))
        spark.sparkContext.setLogLevel("OFF")
        spark.conf.set("spark.sql.session.timeZone", ZONE)
        side = SparkSide(spark)
        for area in areas:
            found = not_equal(side, area)
            _write(area, found)
            counts = {kind: list(kinds(found).values()).count(kind) for kind in ("refused", "differs")}
            print(area, counts, flush=True)
        spark.stop()


def _write(area: str, found: dict[str, str]) -> None:
    known = json.loads(NOT_EQUAL.read_text(encoding="utf-8")) if NOT_EQUAL.exists() else {}
    known[area] = found
    NOT_EQUAL.write_text(json.dumps(known, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
