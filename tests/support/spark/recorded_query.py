"""A query in a process of its own, to be killed: it stores each attempt at each batch.

python -m tests.support.spark.recorded_query SETTINGS

SETTINGS is a JSON file: `directory` of the recording, further `settings` of Spark, `format` and `options` of the source, Spark's `master`, and
`window`, the length of the windows in which the column `id` is counted and summed (null: rows are stored as they
come). With `script`, a list of SQL statements whose last one is the query, there is no `format`; if it is an INSERT, the
table that it writes into has the option `checkpointLocation`, and no attempts are stored. With `queries` all of the
script only declares, and each of these SELECTs, by name, is recorded in the directory of its name. The file `stop` in the
directory ends the queries when they have read everything.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import read_stream
from datasources.sql import TableEnvironment
from datasources.sql.execute.result import StatementResult
from tests.support.spark.recording import QueryDirectory, store_attempt

SETTINGS = {
    "spark.app.name": "tidemark-recorded-query",
    "spark.driver.memory": "768m",
    "spark.executor.memory": "768m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.minBatchesToRetain": "100000",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def main(directory: Path, given: dict[str, Any]) -> None:
    """Run the query until its directory holds the file `stop`."""
    recording = QueryDirectory(directory)
    builder = SparkSession.builder.master(given["master"])
    for key, value in {**SETTINGS, "spark.local.dir": str(directory / "scratch"), **given["settings"]}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")

    queries = _queries(spark, recording, given)
    while not queries[0].awaitTermination(1):
        if failed := [query for query in queries if query.exception() is not None]:
            raise failed[0].exception()
        if (directory / "stop").exists():
            for query in queries:
                query.processAllAvailable()
                query.stop()
            break
    spark.stop()


def _queries(spark: SparkSession, recording: QueryDirectory, given: dict[str, Any]) -> list[Any]:
    if given["queries"]:
        environment = TableEnvironment(spark)
        for statement in given["script"]:
            environment.sql(statement)
        return [
            _recorded(environment.sql(statement), QueryDirectory(recording.directory / name).create())
            for name, statement in given["queries"].items()
        ]
    result = _result(spark, given)
    return [result.query if isinstance(result, StatementResult) else _recorded(result, recording)]


def _recorded(result: DataFrame, recording: QueryDirectory) -> Any:
    def store(batch: Any, number: int) -> None:
        store_attempt(recording.batches, number, batch.toArrow())

    writer = result.writeStream.option("checkpointLocation", str(recording.checkpoint)).foreachBatch(store)
    return writer.trigger(processingTime="0 seconds").start()


def _result(spark: SparkSession, given: dict[str, Any]) -> DataFrame | StatementResult:
    if given["script"]:
        environment = TableEnvironment(spark)
        return [environment.sql(statement) for statement in given["script"]][-1]
    stream = read_stream(spark, given["format"], given["options"])
    return stream if given["window"] is None else counted(stream, given["window"])


def counted(stream: DataFrame, length: str) -> DataFrame:
    """Return the count and the sum of `id` per window of `ts`."""
    per_window = stream.groupBy(F.window("ts", length)).agg(F.count("id").alias("n"), F.sum("id").alias("total"))
    return per_window.select(F.unix_millis("window.start").alias("start"), "n", "total")


if __name__ == "__main__":
    read = json.loads(Path(sys.argv[1]).read_text())
    threading.current_thread().name = "query"
    main(Path(read["directory"]), read)
