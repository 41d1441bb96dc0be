"""The windowed count over each format against from_avro behind spark-sql-kafka, and Flink's format of the same name.

    python -m benchmarks.kafka.formats          prints the rounds; the last line is JSON
    python -m benchmarks.kafka.formats --save   writes results/kafka_formats.json as well
    ... --rows 600000 --rounds 1                a first look

Measured as `benchmarks.kafka.shapes` is. A schema registry runs as a process beside the broker.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Final

import pyspark
from confluent_kafka.schema_registry import Schema
from rich.console import Console

from benchmarks.kafka.shapes import fill_topics, measure_shapes
from benchmarks.kafka.sides.window_shapes import FORMAT_SHAPES
from benchmarks.measure import load_before, machine_facts
from benchmarks.orders.avro_orders import AVRO_ORDER, SCHEMA_ID
from datasources.demo.spark.spark_kafka import fetch_spark_kafka
from datasources.embedded import EmbeddedKafka
from tests.support.kafka.schema_registry_server import SchemaRegistryServer
from tests.support.spark.spark_avro import spark_avro_jars

RESULTS: Final = Path(__file__).parents[1] / "results" / "kafka_formats.json"
_SUBJECT: Final = "orders-value"


def main() -> None:
    """Check, warm up, run the rounds, and show them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help="write the result file")
    parser.add_argument("--only", choices=tuple(FORMAT_SHAPES), action="append", help="one of the formats, or several")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    console, load = Console(), load_before(is_saved=asked.save)
    jars = [*fetch_spark_kafka(pyspark.__version__, console.print).jars, *spark_avro_jars()]
    with SchemaRegistryServer() as registry, EmbeddedKafka() as kafka:
        _require_id(registry.client().register_schema(_SUBJECT, Schema(json.dumps(AVRO_ORDER), "AVRO")))
        shapes = {name: FORMAT_SHAPES[name] for name in asked.only or FORMAT_SHAPES}
        runs = fill_topics(console, kafka.bootstrap_servers, asked.rows, shapes, registry.url)
        found = measure_shapes(console, runs, jars, asked.rounds, load)
    if asked.save:
        RESULTS.write_text(json.dumps({**machine_facts(), "formats": found}, indent=2) + "\n")
    print(json.dumps({name: {**each, "rounds": asked.rounds} for name, each in found.items()}))


def _require_id(found: int) -> None:
    if found != SCHEMA_ID:
        raise SystemExit(f"the registry gave its first schema the id {found} in place of {SCHEMA_ID}")


if __name__ == "__main__":
    main()
