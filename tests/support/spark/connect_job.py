"""A job of a Spark Connect client: counts orders of a topic by the minute, into files of Parquet.

python -m tests.support.spark.connect_job REMOTE JOB.json     one run until nothing is left, or until it is killed

The file has the options of the source, and the directories of checkpoint and results. The last line that it prints is JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import read_stream

__all__ = ["main"]


def main(remote: str, job: dict[str, Any]) -> dict[str, Any]:
    """Run the query; return what the client is, and the rows that the query read."""
    spark = SparkSession.builder.remote(remote).getOrCreate()
    counts = (
        read_stream(spark, "tidemark-kafka", job["options"])
        .groupBy(F.window("ts", "1 minute"))
        .agg(F.count("id").alias("n"))
    )
    writer = counts.selectExpr("unix_millis(window.start) AS start", "n").writeStream.format("parquet")
    writer = writer.option("checkpointLocation", job["checkpoint"]).option("path", job["results"])
    query = (writer.trigger(availableNow=True) if job["is_bounded"] else writer).start()
    print("started", flush=True)
    query.awaitTermination()
    rows = sum(progress.numInputRows for progress in query.recentProgress)
    return {"client": type(spark).__module__, "rows": rows}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")))))
