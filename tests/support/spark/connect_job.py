"""A job of a Spark Connect client: a stream with a watermark that nobody attached, and a secret; prints what came of it.

python -m tests.support.spark.connect_job OPTIONS.json     a server is started with the client, and ends with it
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from datasources import KafkaDataSource, ScriptedDataSource
from tests.support.spark.spark_session import server_settings

__all__ = ["main"]

NAME = "unattached"
KAFKA = {"kafka.bootstrap.servers": "b:1", "subscribe": "t", "kafka.ssl.key.pem": "s3cr3t-value"}


def main(options: dict[str, str], directory: Path) -> dict[str, Any]:
    """Run the query, return its error and its rows."""
    builder = SparkSession.builder.remote("local[1]")
    for key, value in server_settings(directory).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        spark.dataSource.register(ScriptedDataSource)
        loaded = spark.readStream.format(ScriptedDataSource.name()).options(**options).load()
        query = loaded.writeStream.format("memory").queryName(NAME).start()
        try:
            query.awaitTermination(60)
            error = ""
        except Exception as raised:  # noqa: BLE001 - the test looks at whatever it is
            error = str(raised)
        rows = spark.table(NAME).count()
        found = {"client": type(spark).__module__, "columns": loaded.columns, "error": error, "rows": rows}
        return {**found, "refused": [_refusal(spark, read) for read in (spark.read, spark.readStream)]}
    finally:
        spark.stop()


def _refusal(spark: Any, reader: Any) -> str:
    spark.dataSource.register(KafkaDataSource)
    try:
        return str(reader.format(KafkaDataSource.name()).options(**KAFKA).load().columns)
    except Exception as raised:  # noqa: BLE001 - as above
        return str(raised)


if __name__ == "__main__":
    given = Path(sys.argv[1])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    found = main(json.loads(given.read_text()), given.parent)
    print(json.dumps(found))
