"""How the cost of a record changes: partitions, worker slots, record sizes, compression, the topic's length; latency.

    python -m benchmarks.kafka_scaling          prints as it goes; the last line is JSON
    python -m benchmarks.kafka_scaling --save   writes results/kafka_scaling.json as well
    ... --only latency memory                   those figures; others that were written down stay

The windowed count of `make bench` on topics of one broker. Every point is a process of its own, after one run to warm
up; spark-sql-kafka runs beside it where the point is about records. Sides of one point give equal counts.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import pyspark
from rich.console import Console

from benchmarks.kafka_idle import empty_triggers
from benchmarks.measure import load_average, machine_facts
from benchmarks.orders import sized_name
from benchmarks.sides import PEER, TIDEMARK, Workload, produce, run_latency, run_side
from datasources.demo.spark_kafka import fetch_spark_kafka
from datasources.embedded import EmbeddedKafka

RESULTS: Final = Path(__file__).parent / "results" / "kafka_scaling.json"
ROWS: Final = 1_000_000
PARTITIONS: Final = (1, 4, 16, 64)
RECORDS: Final = ((100, 1_000_000), (1_024, 500_000), (10_240, 100_000))
"""About how large a record is, and how many of them there are."""
CODECS: Final = ("none", "lz4", "zstd")
LENGTHS: Final = (1_000_000, 5_000_000)
LARGE_RECORDS: Final = 10_240
LATENCY_ROUNDS: Final = 1
FIGURES: Final = ("partitions", "records", "compression", "lengths", "memory", "latency", "empty_triggers")
FEW: Final = 4
MANY: Final = 64


def main() -> None:
    """Measure every point and show it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help="write the result file")
    parser.add_argument("--only", nargs="*", choices=FIGURES, default=FIGURES, help="some of the figures")
    asked = parser.parse_args()
    load = load_average()
    console = Console()
    peer = fetch_spark_kafka(pyspark.__version__, console.print)
    with EmbeddedKafka() as kafka:
        points = _Points(console, Workload(bootstrap=kafka.bootstrap_servers, topic="", batch_rows=ROWS // 4))
        points.jars = ",".join(map(str, peer.jars))
        document = {"load": load, "spark": pyspark.__version__, **machine_facts()}
        for name in (each for each in FIGURES if each in asked.only):
            document[name] = getattr(points, name)()
            if asked.save:
                _save(document)
    print(json.dumps(document))


class _Points:
    """The points on one broker."""

    def __init__(self, console: Console, work: Workload) -> None:
        self._console = console
        self._work = work
        self.jars = ""
        self._topics: dict[str, tuple[str, float]] = {}

    def partitions(self) -> list[dict[str, Any]]:
        """Partitions on two slots, and four of them on one; ours alone."""
        found = []
        for partitions in PARTITIONS:
            topic, _ = self._topic(partitions=partitions, rows=ROWS)
            for slots in (1, 2) if partitions == FEW else (2,):
                point = {"partitions": partitions, "slots": slots}
                found.append(self._point(point, self._work.of(topic=topic, slots=slots), (TIDEMARK,)))
        return found

    def records(self) -> list[dict[str, Any]]:
        """Sizes of records."""
        found = []
        for record_bytes, rows in RECORDS:
            topic, size = self._topic(partitions=FEW, rows=rows, record_bytes=record_bytes)
            work = self._work.of(topic=topic, batch_rows=rows // 4)
            found.append(self._point({"record_bytes": size, "rows": rows}, work, (TIDEMARK, PEER)))
        return found

    def compression(self) -> list[dict[str, Any]]:
        """How the producer compressed."""
        found = []
        for codec in CODECS:
            topic, _ = self._topic(partitions=FEW, rows=ROWS, compression=codec)
            found.append(self._point({"codec": codec}, self._work.of(topic=topic), (TIDEMARK, PEER)))
        return found

    def lengths(self) -> list[dict[str, Any]]:
        """Longer and longer topics in batches of one size: the cost of a record must not grow."""
        found = []
        for rows in LENGTHS:
            topic, _ = self._topic(partitions=FEW, rows=rows)
            found.append(self._point({"rows": rows}, self._work.of(topic=topic), (TIDEMARK,)))
        return found

    def memory(self) -> list[dict[str, Any]]:
        """The largest worker with large records on many partitions; `records` has it for few."""
        rows = dict(RECORDS)[LARGE_RECORDS]
        topic, _ = self._topic(partitions=MANY, rows=rows, record_bytes=LARGE_RECORDS)
        point = {"partitions": MANY, "record_bytes": LARGE_RECORDS}
        return [self._point(point, self._work.of(topic=topic, batch_rows=rows // 4), (TIDEMARK,))]

    def latency(self) -> list[dict[str, Any]]:
        """Starts, small batches, restarts behind a backlog; the sides in turns."""
        found = []
        for number in range(LATENCY_ROUNDS):
            for side in (TIDEMARK, PEER) if number % 2 == 0 else (PEER, TIDEMARK):
                work = self._work.of(topic=f"latency-{side}-{number}", jars=self.jars)
                result = {"side": side, "round": number + 1, **run_latency(side, work)}
                self._console.print(result)
                found.append(result)
        return found

    def empty_triggers(self) -> list[dict[str, Any]]:
        """Spark asks for news, and there are none."""
        return [asdict(empty_triggers(self._work.bootstrap, count)) for count in (10, 100, 1_000)]

    def _topic(
        self, *, partitions: int, rows: int, record_bytes: int = 0, compression: str = "none"
    ) -> tuple[str, float]:
        """Return the topic that holds these orders, and the mean size of a record; it is filled once."""
        of: dict[str, Any] = {"partitions": partitions, "rows": rows}
        of |= {"record_bytes": record_bytes, "compression": compression}
        name = sized_name(**of)
        if name not in self._topics:
            self._topics[name] = produce(self._work.bootstrap, **of)
        return self._topics[name]

    def _point(self, point: dict[str, Any], work: Workload, sides: tuple[str, ...]) -> dict[str, Any]:
        measured = {side: run_side(side, work.of(jars=self.jars)) for side in sides}
        counts = [result.pop("counts") for result in measured.values()]
        if any(each != counts[0] for each in counts):
            raise SystemExit(f"{point}: the sides counted differently; nothing was compared")
        found = {**point, **{side: _rounded(result) for side, result in measured.items()}}
        self._console.print(found)
        return found


def _save(document: dict[str, Any]) -> None:
    """Write what was measured so far; figures that were not measured now stay."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps({**known, **document}, indent=2) + "\n")


def _rounded(result: dict[str, Any]) -> dict[str, Any]:
    return {key: round(value, 3) if isinstance(value, float) else value for key, value in result.items()}


if __name__ == "__main__":
    main()
