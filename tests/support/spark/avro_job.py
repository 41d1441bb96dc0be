"""What Spark's from_avro makes of records: python -m tests.support.spark.avro_job CASES OUT.

CASES is a JSON list of {"schema": the writer's, "records": as hexadecimal digits}; OUT is a directory that receives
`0.arrow` with the columns of the first case, or `0.txt` with Spark's refusal, and so on.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.avro.functions import from_avro

from tests.support.spark.spark_avro import spark_avro_jars


def main() -> None:
    """Run the cases."""
    cases, out = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    settings = {
        "spark.jars": ",".join(map(str, spark_avro_jars())),
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    for number, case in enumerate(cases):
        try:
            found = _columns(spark, case)
        except (PySparkException, Py4JError) as refusal:
            (out / f"{number}.txt").write_text(str(refusal))
            continue
        with pa.OSFile(str(out / f"{number}.arrow"), "wb") as file, pa.ipc.new_file(file, found.schema) as writer:
            writer.write_table(found)


def _columns(spark: SparkSession, case: dict[str, Any]) -> pa.Table:
    records = [(bytes.fromhex(each),) for each in case["records"]]
    df = spark.createDataFrame(records, "value BINARY").coalesce(1)
    event = from_avro("value", json.dumps(case["schema"]), {"mode": "FAILFAST"})
    batches = df.select(event.alias("event")).select("event.*")._collect_as_arrow()
    return pa.Table.from_batches(batches)  # toArrow() refuses a NOT NULL field in a struct that is null


if __name__ == "__main__":
    main()
