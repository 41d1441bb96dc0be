"""A driver of its own with secrets in its options; what it shows anywhere lies in a folder when it ends.

It reads its orders from `job.json` there: `options` of a source that takes any, `in_sql` those of a table, `streams`, (format, options) of real
ones. It writes `explain.txt`; Spark writes the event log and the checkpoints.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from datasources import read_stream, register
from datasources.sql import TableEnvironment

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
LOGGING = """
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p %c: %m%n%ex
"""
MODES = ("simple", "extended", "codegen", "cost", "formatted")


class Rows(DataSourceReader):
    def read(self, partition):
        yield (1,)


class Stream(DataSourceStreamReader):
    def initialOffset(self):  # noqa: N802 - Spark's name
        return {"n": 0}

    def latestOffset(self):  # noqa: N802 - as above
        return {"n": 1}

    def partitions(self, start, end):
        return [InputPartition(0)]

    def read(self, partition):
        yield (1,)

    def commit(self, end):
        pass


class AnyOptions(DataSource):
    """A source that takes any option."""

    @classmethod
    def name(cls) -> str:
        return "any-options"

    def schema(self):
        return "id INT"

    def reader(self, schema):
        return Rows()

    def streamReader(self, schema):  # noqa: N802 - as above
        return Stream()


def explained(frame: DataFrame) -> str:
    texts = []
    for mode in MODES:
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            frame.explain(mode=mode)
        texts.append(text.getvalue())
    return "\n".join(texts) + str(frame._jdf.queryExecution().toString())


def analysed(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().analyzed().toString())


def run(frame: DataFrame, number: int) -> str:
    """Run a stream to its end; return what its plan and its progress show."""
    writer = frame.writeStream.format("memory").queryName(f"q{number}").outputMode("append")
    query = writer.option("checkpointLocation", str(FOLDER / f"checkpoint{number}")).trigger(availableNow=True).start()
    query.awaitTermination()
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        query.explain(extended=True)
    return text.getvalue() + str([progress.json for progress in query.recentProgress])


def session() -> SparkSession:
    (FOLDER / "events").mkdir()
    builder = SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1")
    (FOLDER / "log4j2.properties").write_text(LOGGING.format(FOLDER / "driver.log"))
    settings = {
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={FOLDER / 'log4j2.properties'}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(FOLDER / "scratch"),
        "spark.sql.warehouse.dir": str(FOLDER / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.debug.maxToStringFields": "10000",
        "spark.sql.maxMetadataStringLength": "10000",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (FOLDER / "events").as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def in_sql(spark: SparkSession, options: dict[str, str]) -> str:
    t = TableEnvironment(spark)
    texts = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    t.sql(f"CREATE TABLE orders (id INT) WITH ('connector' = 'any-options', {texts})")
    found = t.sql("EXPLAIN SELECT id FROM orders")
    return f"{found} {found!r} {t.sql('SHOW CREATE TABLE orders')} {analysed(t.sql('SELECT id FROM orders'))}"


def main() -> None:
    job: dict[str, Any] = json.loads((FOLDER / "job.json").read_text())
    spark = session()
    spark.dataSource.register(AnyOptions)
    if job["registers"]:
        register(spark)
    shown = []
    options = job["options"]
    frames = [spark.read.format("any-options").options(**options).load()]
    shown += [explained(frames[0]), str(frames[0].collect())]
    frames = [spark.readStream.format("any-options").options(**options).load()]
    frames += [read_stream(spark, name, more) for name, more in job["streams"]]
    for number, frame in enumerate(frames):
        shown += [repr(frame), explained(frame), run(frame, number)]
    if job["registers"]:
        shown.append(in_sql(spark, job["in_sql"]))
    (FOLDER / "explain.txt").write_text("\n".join(shown))
    spark.stop()


if __name__ == "__main__":
    os.environ["PYSPARK_PYTHON"] = sys.executable
    main()
