"""Tables of Delta Lake, columns and rows, as JSON: python -m tests.support.spark.delta_rows OUT PATH ..."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.grammar.literals import quoted
from tests.support.spark.delta_spark import delta_spark
from tests.support.spark.recorded_query import SETTINGS


def main(out: Path, paths: list[str]) -> None:
    """Write for each table its columns, name to type, and its rows, values as texts."""
    builder = SparkSession.builder.master("local[1]")
    scratch = {"spark.local.dir": str(out.parent), "spark.sql.warehouse.dir": str(out.parent / "warehouse")}
    for key, value in {**SETTINGS, **delta_spark().settings, **scratch}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    found = []
    for path in paths:
        table = spark.read.format("delta").load(path)
        texts = table.select(*(F.col(quoted(name)).cast("string") for name in table.columns)).collect()
        columns = {field.name: field.dataType.simpleString() for field in table.schema}
        found.append({"columns": columns, "rows": [list(row) for row in texts]})
    out.write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
