"""Spark as the oracle of expressions: its analyser's types, and its value or error for every row.

One query is planned for all expressions. The values come from Spark's own evaluator, row by row, so that an
error in one cell does not hide the others; `executed` runs the query itself, with generated code, for the cells
that have values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession

ERROR = "an error"
_EXCLUDED = "spark.sql.optimizer.excludedRules"
_KEYS = (
    "spark.sql.session.timeZone",
    "spark.sql.ansi.enabled",
    "spark.sql.subexpressionElimination.enabled",
    _EXCLUDED,
)


@dataclass(frozen=True)
class Oracle:
    """A session, and the rows as a table in it."""

    spark: SparkSession
    rows: DataFrame

    def settings(self, time_zone: str, *, ansi: bool, excluded_rules: Sequence[str] = ()) -> None:
        """Set what expressions depend on."""
        self.spark.conf.set(
            _EXCLUDED, ",".join(f"org.apache.spark.sql.catalyst.optimizer.{rule}" for rule in excluded_rules)
        )
        self.spark.conf.set("spark.sql.session.timeZone", time_zone)
        self.spark.conf.set("spark.sql.ansi.enabled", str(ansi).lower())

    def select(self, expressions: Sequence[str]) -> DataFrame:
        """Return the query of all expressions, analysed."""
        return self.rows.selectExpr(*(f"{text} AS r{index}" for index, text in enumerate(expressions)))

    def types(self, expressions: Sequence[str]) -> list[str]:
        """Return the types that Spark's analyser gives."""
        return [type_name(field.dataType.simpleString()) for field in self.select(expressions).schema]

    def values(self, expressions: Sequence[str]) -> list[list[Any]]:
        """Return for each expression the value of each row, or ERROR."""
        frame = self.select(expressions)
        plan = frame._jdf.queryExecution().executedPlan()
        project, source = _project_of(plan)
        rows = source.executeCollect()
        binder = self.spark._jvm.org.apache.spark.sql.catalyst.expressions.BindReferences
        attributes = getattr(self.spark._jvm.org.apache.spark.sql.catalyst.expressions, "package$AttributeSeq")(
            source.output()
        )
        result = []
        for index, name in enumerate(field.dataType.simpleString() for field in frame.schema):
            bound = binder.bindReference(project.apply(index), attributes, False)
            cells = [_evaluated(bound, row) for row in rows]
            result.append([_single(cell) for cell in cells] if name == "float" else cells)
        return result

    def executed(self, expressions: Sequence[str], expected: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Run the query, with generated code, for the cells whose expected value is no error."""
        guarded = [
            f"CASE WHEN id IN ({','.join(['-1', *(str(row) for row, cell in enumerate(cells) if cell != ERROR)])}) THEN {text} END"
            for text, cells in zip(expressions, expected, strict=True)
        ]
        table = self.select(guarded).toArrow()
        return [plain(column.combine_chunks()) for column in table.columns]


def _project_of(plan: Any) -> tuple[Any, Any]:
    """Return the list of projected expressions and the plan below it."""
    if plan.nodeName().startswith(("AdaptiveSparkPlan",)):
        plan = plan.initialPlan()
    while plan.nodeName() != "Project":
        plan = plan.children().apply(0)
    return plan.projectList(), plan.children().apply(0)


def _evaluated(bound: Any, row: Any) -> Any:
    try:
        return _python(bound.eval(row))
    except (Py4JJavaError, PySparkException):
        return ERROR


def _python(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return repr(value)
    text = value.toString()
    return text if value.getClass().getSimpleName() == "UTF8String" else Decimal(text)


def _single(cell: Any) -> Any:
    """Undo that a FLOAT travels from Java as its shortest text."""
    return cell if cell in (None, ERROR) else repr(float(np.float32(cell)))


def type_name(simple: str) -> str:
    """Return Spark's name of a type as the reader writes it: intervals of days to seconds are one type."""
    return "interval day to second" if simple.startswith("interval") else simple


def plain(array: pa.Array) -> list[Any]:
    """Return an Arrow array as integers, texts, decimals, booleans; floats by their text."""
    if pa.types.is_timestamp(array.type) or pa.types.is_duration(array.type):
        return array.cast(pa.int64()).to_pylist()
    if pa.types.is_date32(array.type):
        return array.cast(pa.int32()).to_pylist()
    if pa.types.is_floating(array.type):
        return [None if value is None else repr(value) for value in array.to_pylist()]
    return array.to_pylist()


@contextmanager
def oracle(spark: SparkSession, batch: pa.RecordBatch, directory: Path) -> Iterator[Oracle]:
    """Give the rows to the shared session as a table; its settings are put back at the end."""
    before = {key: spark.conf.get(key, None) for key in _KEYS}
    # PySpark writes every expected error to stderr; a logger that another class made would refuse its arguments
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    was_disabled, logger.disabled = logger.disabled, True
    path = directory / "rows.parquet"
    pq.write_table(pa.Table.from_batches([batch]), path)
    try:
        spark.conf.set("spark.sql.subexpressionElimination.enabled", "false")
        yield Oracle(spark=spark, rows=spark.read.parquet(str(path)).coalesce(1))
    finally:
        logger.disabled = was_disabled
        for key, value in before.items():
            spark.conf.unset(key) if value is None else spark.conf.set(key, value)
