"""Expressions of Flink SQL over the table `t`, translated and run by Spark."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from typing import Any, Final

import numpy as np
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.grammar.sql_types import SqlType
from datasources.sql.definitions.python_functions import for_spark
from datasources.sql.flink.logical_types import normalized
from datasources.sql.flink.python_kernels import PYTHON_KERNELS
from datasources.sql.flink.query_translator import translate_query
from datasources.sql.flink.scope import Column
from datasources.sql.flink.typed_value import shown_type, spark_type
from datasources.sql.parse import parse_type
from datasources.sql.text.flink_strings import with_spark_strings
from tests.support.flink.inputs import InputTable, input_table

__all__ = ["FAILED", "Outcome", "SparkSide", "collectable", "of_type", "plain"]

FAILED: Final = "<failed>"
"""The value of a row at which the query fails."""
_AT_ONCE: Final = 40
_VIEW: Final = "t"
_MAPS: Final = ("map<array", "map<struct", "map<map")
_ENOUGH: Final = Context(prec=80)
_UNITS: Final = re.compile(r"interval (?:\w+ to )?\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an expression gives.

    Attributes:
        refused: why it is not translated; "" if it is.
        type: Flink's, as it was inferred.
        spark_text: the translation.
        spark_problem: why Spark does not analyse the translation, or gives it another type; "" = it does.
        values: by row of `t`, in the form of `java_values.plain`; `FAILED` where the query fails.
    """

    refused: str = ""
    type: str = ""
    spark_text: str = ""
    spark_problem: str = ""
    values: tuple[Any, ...] = ()


@dataclass(slots=True)
class SparkSide:
    """Translates and runs expressions over the table `t` in a session, whose zone is to be that of the answers."""

    spark: SparkSession
    table: InputTable = field(default_factory=input_table)

    def __post_init__(self) -> None:
        columns = ", ".join(
            f"`{name}` {spark_type(_declared(kind))}"
            for name, kind in zip(self.table.names, self.table.types, strict=True)
        )
        for name, function in PYTHON_KERNELS.items():
            self.spark.udf.register(name, for_spark(function))
        rows = [tuple(map(_given, row)) for row in self.table.rows]
        self.spark.createDataFrame(rows, columns).coalesce(1).createOrReplaceTempView(_VIEW)

    # What the translation asks (`query_translator.KnownRelations`).

    def columns(self, name: str) -> tuple[Column, ...] | None:
        """Return the columns of `t`."""
        if name != _VIEW:
            return None
        return tuple(Column(n, _declared(k)) for n, k in zip(self.table.names, self.table.types, strict=True))

    def function_types(self) -> Mapping[str, SqlType]:
        """There are no functions of the session's own."""
        return {}

    def outcomes(self, expressions: Sequence[str], failing: Collection[str] = ()) -> list[Outcome]:
        """Return what each expression gives; those that are expected to fail at a row are run row by row at once."""
        translated = [self._translated(each) for each in expressions]
        waiting = [(at, each) for at, each in enumerate(translated) if not each.refused and not each.spark_problem]
        values = {at: self._row_by_row(each.spark_text) for at, each in waiting if expressions[at] in failing}
        waiting = [(at, each) for at, each in waiting if at not in values]
        for first in range(0, len(waiting), _AT_ONCE):
            values |= self._values(waiting[first : first + _AT_ONCE])
        return [_with_values(each, values.get(at, ())) for at, each in enumerate(translated)]

    def query(self, text: str) -> DataFrame:
        """Return the translated query's DataFrame."""
        return self.spark.sql(translate_query(with_spark_strings(SqlText(text)), self).source.text)

    def _translated(self, expression: str) -> Outcome:
        try:
            found = translate_query(with_spark_strings(SqlText(f"SELECT {expression} AS x FROM {_VIEW}")), self)
        except SqlError as refusal:
            return Outcome(refused=refusal.message.splitlines()[0])
        kind = found.columns[0].type
        text = found.source.text.removeprefix("SELECT ").rpartition(" AS x FROM ")[0]
        outcome = Outcome(type=shown_type(kind), spark_text=text)
        try:
            actual = self.spark.sql(found.source.text).schema[0].dataType.simpleString()
            wanted = "void" if kind.root == "NULL" else self._simple(spark_type(kind))
        except PySparkException as problem:
            return Outcome(**{**_fields(outcome), "spark_problem": str(problem).splitlines()[0]})
        if not _is_alike(actual, wanted):
            return Outcome(**{**_fields(outcome), "spark_problem": f"Spark's type is {actual}, not {wanted}"})
        return outcome

    def _simple(self, spark_ddl: str) -> str:
        return self.spark.sql(f"SELECT CAST(NULL AS {spark_ddl}) AS x").schema[0].dataType.simpleString()

    def _values(self, waiting: Sequence[tuple[int, Outcome]]) -> dict[int, tuple[Any, ...]]:
        try:
            rows = self._rows([each.spark_text for _, each in waiting], "")
        except Exception as problem:
            if not _is_of_rows(problem):
                raise
            if len(waiting) == 1:
                return {waiting[0][0]: self._row_by_row(waiting[0][1].spark_text)}
            middle = len(waiting) // 2
            return self._values(waiting[:middle]) | self._values(waiting[middle:])
        return {at: tuple(plain(row[number]) for row in rows) for number, (at, _) in enumerate(waiting)}

    def _row_by_row(self, text: str) -> tuple[Any, ...]:
        found: list[Any] = []
        for key in range(1, len(self.table.rows) + 1):
            try:
                found += [plain(row[0]) for row in self._rows([text], f" WHERE k = {key}")]
            except Exception as problem:
                if not _is_of_rows(problem):
                    raise
                found.append(FAILED)
        return tuple(found)

    def _rows(self, texts: Sequence[str], suffix: str) -> list[Row]:
        kinds = [self.spark.sql(f"SELECT {text} AS x FROM {_VIEW}").schema[0].dataType.simpleString() for text in texts]
        listed = ", ".join(f"{collectable(k, t)} AS x{at}" for at, (k, t) in enumerate(zip(kinds, texts, strict=True)))
        return self.spark.sql(f"SELECT {listed} FROM {_VIEW}{suffix} ORDER BY k").collect()


def collectable(kind: str, text: str) -> str:
    """Return what is collected of an expression of a type, where Python has no such value or not all of them.

    Intervals of months and instants are numbers, maps whose keys have no hash are lists of pairs.
    """
    if kind.startswith("interval"):
        is_months = "year" in kind or "month" in kind
        return (
            f"CAST({f'CAST({text} AS INTERVAL MONTH) AS BIGINT' if is_months else f'{text} AS INTERVAL DAY TO SECOND'})"
        )
    if kind.startswith(_MAPS):
        return f"transform(map_entries({text}), pair -> struct(pair.key, pair.value))"
    return f"unix_micros({text})" if kind == "timestamp" else text


def _is_of_rows(problem: Exception) -> bool:
    """Whether a query failed while it ran."""
    return isinstance(problem, (PySparkException, Py4JError, OverflowError, ValueError))


def _fields(outcome: Outcome) -> dict[str, Any]:
    return {name: getattr(outcome, name) for name in Outcome.__dataclass_fields__}


def _with_values(outcome: Outcome, values: tuple[Any, ...]) -> Outcome:
    return Outcome(**{**_fields(outcome), "values": tuple(of_type(each, outcome.type) for each in values)})


def of_type(value: Any, kind: str) -> Any:
    """Return a plain value as Flink's answers have it: a FLOAT is the shortest number for it, an instant has a zone."""
    if kind == "FLOAT" and isinstance(value, str) and value != FAILED:
        return repr(float(str(np.float32(value))))
    if kind.startswith(("MAP<ARRAY", "MAP<ROW", "MULTISET<ARRAY", "MULTISET<ROW")):
        return _sorted_pairs([list(pair.values()) for pair in value]) if isinstance(value, list) else value
    if kind.startswith("DECIMAL(") and isinstance(value, str) and value != FAILED:  # PySpark adds zeros to small ones
        scale = int(kind.rstrip(")").rpartition(", ")[2])
        return f"{Decimal(value).quantize(Decimal(1).scaleb(-scale), context=_ENOUGH):f}"
    return _instant(value) if kind.startswith("TIMESTAMP_LTZ") else value


def _instant(micros: Any) -> Any:
    if not isinstance(micros, int):
        return micros
    try:
        moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=micros)
    except OverflowError:
        return f"{micros} microseconds"
    return f"{_wall_clock(moment.replace(tzinfo=None))}Z"


def _is_alike(actual: str, wanted: str) -> bool:
    """Whether types are equal but for the units of intervals."""
    return _UNITS.sub("interval", actual) == _UNITS.sub("interval", wanted)


def _declared(kind: str) -> SqlType:
    return normalized(parse_type(SqlText(kind)))


def _given(value: Any) -> Any:
    return value


def _wall_clock(value: dt.datetime) -> str:
    text = value.strftime("%H:%M:%S")
    fraction = f".{value.microsecond:06d}".rstrip("0") if value.microsecond else ""
    return f"{value.year:04d}-{value.month:02d}-{value.day:02d}T{text}{fraction}"


def plain(value: Any) -> Any:
    """Return a value of a row of Spark in the form of `java_values.plain`.

    Raises:
        TypeError: No form is known for objects of its class.
    """
    for kinds, convert in _FORMS:
        if isinstance(value, kinds):
            return convert(value)
    raise TypeError(f"no form of {type(value).__name__} is known")


def _time(value: dt.time) -> str:
    return value.strftime("%H:%M:%S") + (f".{value.microsecond:06d}".rstrip("0") if value.microsecond else "")


def _map(value: Mapping[Any, Any]) -> list[list[Any]]:
    return _sorted_pairs([[plain(key), plain(inner)] for key, inner in value.items()])


def _sorted_pairs(pairs: list[list[Any]]) -> list[list[Any]]:
    return sorted(pairs, key=lambda pair: json.dumps(pair, ensure_ascii=False))


_FORMS: Final[tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...]] = (
    ((bool, int, str, type(None)), lambda value: value),
    (float, repr),
    (Decimal, lambda value: f"{value:f}"),
    ((bytes, bytearray), lambda value: bytes(value).hex()),
    (Row, lambda value: {name: plain(value[name]) for name in value.__fields__}),
    (dt.datetime, _wall_clock),
    (dt.date, lambda value: value.isoformat()),
    (dt.time, _time),
    (dt.timedelta, lambda value: value // dt.timedelta(milliseconds=1)),
    (list, lambda value: [plain(each) for each in value]),
    (dict, _map),
)
