"""The rows of a table of Delta Lake, as JSON: python -m tests.support.spark.delta_rows PATH OUT."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from tests.support.spark.delta_spark import DELTA_SETTINGS
from tests.support.spark.recorded_query import SETTINGS


def main(path: str, out: Path) -> None:
    """Write the rows of a table, values as texts."""
    builder = SparkSession.builder.master("local[1]")
    scratch = {"spark.local.dir": str(out.parent), "spark.sql.warehouse.dir": str(out.parent / "warehouse")}
    for key, value in {**SETTINGS, **DELTA_SETTINGS, **scratch}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    table = spark.read.format("delta").load(path)
    rows = table.select(*(F.col(f"`{name}`").cast("string") for name in table.columns)).collect()
    out.write_text(json.dumps([list(row) for row in rows]))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
