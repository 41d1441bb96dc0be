"""A query in a process of its own, to be killed: stores each attempt at each batch.

python -m tests.support.mysql_consistency.job SETTINGS

SETTINGS is a JSON file: `directory` of the recording, `options` of the source and Spark's `master`. The file `stop` in the directory ends
the query when it has read everything.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from datasources import register
from datasources.mysql.data_source import MySqlDataSource
from tests.support.mysql_consistency.recording import Recording, store_attempt

SETTINGS = {
    "spark.app.name": "tidemark-mysql-consistency",
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


def main(directory: Path, options: dict[str, str], master: str) -> None:
    """Run the query until it is told to stop."""
    recording = Recording(directory)
    builder = SparkSession.builder.master(master)
    for key, value in {**SETTINGS, "spark.local.dir": str(directory / "scratch")}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    register(spark)
    spark.dataSource.register(MySqlDataSource)

    def store(batch: Any, number: int) -> None:
        store_attempt(recording.batches, number, batch.toArrow())

    stream = spark.readStream.format("tidemark-mysql").options(**options).load()
    writer = stream.writeStream.option("checkpointLocation", str(recording.checkpoint)).foreachBatch(store)
    query = writer.trigger(processingTime="0 seconds").start()
    while not query.awaitTermination(1):
        if (directory / "stop").exists():
            query.processAllAvailable()
            query.stop()
            break
    spark.stop()


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text())
    threading.current_thread().name = "query"
    main(Path(given["directory"]), given["options"], given["master"])
