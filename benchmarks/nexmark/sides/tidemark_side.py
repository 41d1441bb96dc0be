"""Tidemark's side: the reference's statements by `TableEnvironment`, in Flink's dialect, in a JVM that stays."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.nexmark.query_list import QUERIES, ddl_statements, with_options
from benchmarks.nexmark.sides.delivery import watch_stream
from benchmarks.nexmark.sides.side_run import SideRun
from benchmarks.nexmark.sides.stream_cost import run_stream, written_rows

__all__ = ["tidemark_runner"]

_DIALECT: Final = "SET 'table.sql-dialect' = 'flink'"
_KIND: Final = "row_kind"
_STATE_STORE: Final = "spark.sql.streaming.stateStore.providerClass"
_UPDATED: Final = {"q17": ("auction", "day")}
"""A plain GROUP BY is Spark's, in the mode *update*: the keys of the rows that a later batch replaces."""
_PARTITIONED: Final = {"q10": ("dt", "hm")}
_COUNT_CHAR: Final = "CREATE FUNCTION count_char AS 'benchmarks.nexmark.sides.count_char.count_char' LANGUAGE PYTHON"


def tidemark_runner(spark: Any) -> Callable[[SideRun], dict[str, Any]]:
    """Return what runs a query in a session."""
    from datasources import register

    spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", str(2**31 - 1))
    register(spark)
    return lambda asked: _answer(spark, asked)


def _answer(spark: Any, asked: SideRun) -> dict[str, Any]:
    from pyspark.errors import PySparkException

    from datasources.errors import TidemarkError

    try:
        return _run(spark, asked)
    except (PySparkException, TidemarkError) as error:
        return {"why": " ".join(str(error).split())[:600]}


def _run(spark: Any, asked: SideRun) -> dict[str, Any]:
    spark.conf.unset(_STATE_STORE)  # operators of ours set it, and the next query shall be as in a session of its own
    result = _result(spark, asked)
    is_changelog = _KIND in result.columns
    result = result.toDF(*([_KIND] if is_changelog else []), *QUERIES[asked.query].columns())
    keys, partitions = () if is_changelog else _UPDATED.get(asked.query, ()), _PARTITIONED.get(asked.query, ())
    mode = "update" if keys else "append"
    if asked.watch is not None:
        with tempfile.TemporaryDirectory() as checkpoint:
            return watch_stream(result, mode, asked.watch, checkpoint)
    if asked.output and not partitions:
        written_rows(result, mode, asked.output)
        return {"form": "parquet", "path": asked.output, "keys": keys}
    writer = result.writeStream.outputMode(mode)
    if not partitions:
        return run_stream(writer.format("noop"))
    directory = asked.output or tempfile.mkdtemp(dir=asked.directory)
    cost = run_stream(writer.format("csv").partitionBy(*partitions).option("path", directory))
    if asked.output:
        shutil.rmtree(Path(directory, "_spark_metadata"))
        return {"form": "csv", "path": directory}
    shutil.rmtree(directory)
    return cost


def _result(spark: Any, asked: SideRun) -> Any:
    """Return the query's streaming DataFrame."""
    from datasources.sql import TableEnvironment

    tables = TableEnvironment(spark)
    tables.execute(_DIALECT)
    values = {"BOOTSTRAP_SERVERS": asked.bootstrap}
    query = QUERIES[asked.query]
    for statement in ddl_statements(values, {"maxOffsetsPerTrigger": str(asked.batch_events)}):
        tables.execute(statement)
    for statement in query.statements(values)[:-1]:
        if not statement.startswith(f"CREATE TABLE nexmark_{asked.query}"):
            tables.execute(_own(statement, asked))
    return tables.query(query.select(values))


def _own(statement: str, asked: SideRun) -> str:
    """Return a statement in Tidemark's form: q14's function in Python, q13's side input as a table of Spark's."""
    if statement.startswith("CREATE FUNCTION"):
        return _COUNT_CHAR
    side_input = {"connector": "csv", "path": f"{asked.directory}/side_input.txt"}
    return with_options(statement, "side_input", side_input)
