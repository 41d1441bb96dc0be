"""One side of a benchmark over Kafka, run in a process of its own: what was asked, and what it cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Self

from benchmarks.orders.json_orders import sized_name

__all__ = [
    "BOTH",
    "FLINK",
    "PEER",
    "PYTHON_SOURCE",
    "TIDEMARK",
    "TIDEMARK_SQL",
    "WarmSide",
    "Workload",
    "produce",
    "run_latency",
    "run_side",
]

BOTH: Final = "+"
"""Between the names of two sides that share a process."""
TIDEMARK: Final = "tidemark"
TIDEMARK_SQL: Final = "tidemark-sql"
PEER: Final = "spark-sql-kafka"
FLINK: Final = "flink"
PYTHON_SOURCE: Final = "python-source"
"""The least that a source in Python costs (`python_source.py`); for latencies only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What a side does.

    Attributes:
        bootstrap: the broker.
        topic: read from its beginning to its end.
        batch_rows: the most rows of a batch.
        query: `window` counts JSON orders in windows, in `sql` as well, `raw` reads the bytes of values.
        slots: Spark's worker slots.
        warm_ups: runs in the same JVM before those that count.
        jars: of spark-sql-kafka, with commas between them.
        min_partitions: tasks of a batch at least, among which ranges are split; 0 = one for each range.
    """

    bootstrap: str
    topic: str
    batch_rows: int
    query: str = "window"
    slots: int = 2
    warm_ups: int = 1
    jars: str = ""
    min_partitions: int = 0

    def of(self, **changes: Any) -> Workload:
        """Return it with changes."""
        return replace(self, **changes)


def run_side(side: str, work: Workload) -> dict[str, Any]:
    """Run a side of Spark's in a process of its own; return the last line that it printed.

    Raises:
        SystemExit: it failed; with the end of its output.
    """
    options = ["--warm-ups", str(work.warm_ups), "--query", work.query, "--slots", str(work.slots)]
    options += ["--jars", work.jars if side == PEER else ""]
    source = [work.bootstrap, work.topic, str(work.batch_rows)]
    return _last_line(side, ["benchmarks.kafka.sides.window_query", side, *source, *options])


class WarmSide:
    """A side in a process that stays: its JVM has compiled what the next run needs. Use it in `with`."""

    def __init__(
        self,
        side: str,
        *,
        slots: int = 2,
        jars: str = "",
        module: str = "benchmarks.kafka.sides.warm_side",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._side, self._module = side, module
        self._environment = {**os.environ, **(environment or {})}
        self._options = ["--slots", str(slots), "--jars", jars if PEER in side.split(BOTH) else ""]

    def __enter__(self) -> Self:
        self._errors = tempfile.TemporaryFile("w+")
        command = [sys.executable, "-m", self._module, self._side, *self._options]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=self._errors, text=True, env=self._environment
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # the end of its input is the end of it
        self._errors.close()

    def run(self, work: Workload) -> dict[str, Any]:
        """Run a workload's query; return what it counted and what it cost.

        Raises:
            SystemExit: the side failed; with the end of its output.
        """
        return self.answer(asdict(work))

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Give the process a line and return its answer.

        Raises:
            SystemExit: the side failed; with the end of its output.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):  # it has ended; why is in its output
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
        printed = self._process.stdout.readline()
        if not printed:
            self._errors.seek(0)
            raise SystemExit(f"the {self._side} side failed:\n{self._errors.read()[-4000:]}")
        result: dict[str, Any] = json.loads(printed)
        return result


def run_latency(side: str, work: Workload) -> dict[str, Any]:
    """Run a side of the latency benchmark; return the last line that it printed."""
    jars = ["--jars", work.jars if side == PEER else ""]
    return _last_line(side, ["benchmarks.kafka.sides.latency_side", side, work.bootstrap, work.topic, *jars])


def _last_line(side: str, command: list[str]) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", *command], check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"the {side} side failed:\n{done.stderr[-4000:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def produce(  # noqa: PLR0913 - what a topic is
    bootstrap: str, *, partitions: int, rows: int, topic: str = "", record_bytes: int = 0, compression: str = "none"
) -> tuple[str, float]:
    """Fill a new topic with orders, in a process of its own; return its name and the mean size of a record in bytes.

    Args:
        bootstrap: the broker.
        partitions: filled in turns.
        rows: how many orders.
        topic: its name; by default made of the rest.
        record_bytes: about how large a record is; 0 = about 108 bytes.
        compression: of the producer.
    """
    name = topic or sized_name(partitions, rows, record_bytes, compression)
    command = [sys.executable, "-m", "benchmarks.orders.json_orders", bootstrap, name, str(partitions), str(rows)]
    command += [str(record_bytes), compression]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return name, round(float(printed), 1)
