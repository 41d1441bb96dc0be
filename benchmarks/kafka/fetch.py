"""Fetching: CPU per record from the broker to Arrow columns, through C and through messages, without Spark.

    python -m benchmarks.kafka.fetch          prints the rounds; the last line is JSON
    python -m benchmarks.kafka.fetch --save   writes results/kafka_fetch.json as well

2,000,000 JSON orders of about 120 bytes on four partitions of a real broker, read as a query's tasks read them: in
ranges of 125,000 offsets, the partitions in turns, by consumers that are kept between ranges. `columns` stops at
values, offsets and timestamps, `json` decodes four typed columns. Each measurement is a process of its own; its CPU,
with all threads of librdkafka, counts from the first range to the last. The ways run in turns; figures are medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import load_average, machine_facts
from benchmarks.orders.json_orders import SCHEMA
from benchmarks.sides import produce
from datasources.embedded import EmbeddedKafka
from datasources.kafka.client.record_columns import RecordFields
from datasources.kafka.reader.fetcher import PartitionFetcher
from datasources.kafka.source import KafkaSource
from datasources.source.api.connector import SessionInfo
from watermark import SystemClock

WAYS: Final = ("native", "messages")
STEPS: Final = ("columns", "json")
RESULTS: Final = Path(__file__).parents[1] / "results" / "kafka_fetch.json"
PARTITIONS: Final = 4
ROWS: Final = 2_000_000
RANGE: Final = 125_000
ROUNDS: Final = 3


def main() -> None:
    """Run the rounds and show them, or measure one way in this process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help="write the result file")
    parser.add_argument(
        "--only", nargs=2, metavar=("STEP", "BOOTSTRAP"), help="measure here, in the way of this process"
    )
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(_measured(*arguments.only)))
        return
    load = load_average()
    with EmbeddedKafka() as kafka:
        _, size = produce(kafka.bootstrap_servers, partitions=PARTITIONS, rows=ROWS, topic="orders")
        rounds = [_round(kafka.bootstrap_servers, number) for number in range(ROUNDS)]
    summary = _summary(rounds) | {"rows": ROWS, "record_bytes": size, "load": load}
    if arguments.save:
        RESULTS.write_text(json.dumps(summary | machine_facts() | {"rounds": rounds}, indent=2) + "\n")
    print(json.dumps(summary))


def _round(bootstrap: str, number: int) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {step: {} for step in STEPS}
    for step in STEPS:
        for way in WAYS if number % 2 == 0 else WAYS[::-1]:
            environment = {**os.environ, **({"TIDEMARK_NATIVE": "off"} if way == "messages" else {})}
            command = [sys.executable, "-m", "benchmarks.kafka.fetch", "--only", step, bootstrap]
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
            found[step][way] = result = json.loads(done.stdout)
            print(
                f"  {step:8} {way:9} {result['cpu_us_per_record']:.3f} us CPU/record, {result['rows_per_s']:,} rows/s"
            )
        if found[step]["native"]["rows"] != found[step]["messages"]["rows"]:
            raise SystemExit(f"round {number + 1}: the ways gave different rows; nothing was compared")
    return found


def _measured(step: str, bootstrap: str) -> dict[str, Any]:
    read = {"columns": _columns, "json": _rows}[step]
    cpu, start, rows = time.process_time(), time.perf_counter(), 0
    for count in read(bootstrap):
        rows += count
    cpu, elapsed = time.process_time() - cpu, time.perf_counter() - start
    if rows != ROWS:
        raise SystemExit(f"{rows:,} of {ROWS:,} records were read")
    return {"rows": rows, "cpu_us_per_record": round(cpu / rows * 1e6, 3), "rows_per_s": round(rows / elapsed)}


def _ranges() -> Iterator[tuple[int, int, int]]:
    for start in range(0, ROWS // PARTITIONS, RANGE):
        for partition in range(PARTITIONS):
            yield partition, start, min(start + RANGE, ROWS // PARTITIONS)


def _columns(bootstrap: str) -> Iterator[int]:
    """Values, offsets and timestamps as columns."""
    settings, clock = _source(bootstrap).reader_factory().settings, SystemClock()
    for partition, start, end in _ranges():
        fetcher = PartitionFetcher(settings, "orders", partition, clock, RecordFields.VALUE | RecordFields.TIMESTAMP)
        with closing(fetcher.fetch(start, end)) as lists:
            for fetched in lists:
                values, offsets = fetched.records.values(), fetched.records.offsets()
                assert len(values) == len(offsets) == len(fetched.records.timestamps_ms())
                yield len(values)


def _rows(bootstrap: str) -> Iterator[int]:
    """Typed columns of JSON."""
    reader = _source(bootstrap, format="json", schema=SCHEMA).reader_factory().open()
    for partition, start, end in _ranges():
        for chunk in reader.read(f"orders-{partition}", start, end):
            yield chunk.columns.num_rows
    reader.close()


def _source(bootstrap: str, **options: str) -> KafkaSource:
    given = {"kafka.bootstrap.servers": bootstrap, "subscribe": "orders", **options}
    return KafkaSource.create(given, SessionInfo(time_zone="UTC", ansi=True))


def _summary(rounds: list[dict[str, dict[str, Any]]]) -> dict[str, Any]:
    def cost(one: dict[str, dict[str, Any]], step: str, way: str) -> float:
        return float(one[step][way]["cpu_us_per_record"])

    return {
        step: {
            "cpu_us_per_record": {
                way: round(statistics.median(cost(one, step, way) for one in rounds), 3) for way in WAYS
            },
            "ratio": round(statistics.median(cost(one, step, WAYS[0]) / cost(one, step, WAYS[1]) for one in rounds), 3),
        }
        for step in STEPS
    }


if __name__ == "__main__":
    main()
