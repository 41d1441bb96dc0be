"""What a run of the benchmark has: a broker with the topic, Parquet files of the same events, and the sides."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pyspark
from rich.console import Console

from benchmarks.nexmark.check import Checker, last_watermark
from benchmarks.nexmark.dataset import Filled, fill_topic, write_files
from benchmarks.nexmark.generator.generator_config import GeneratorConfig
from benchmarks.nexmark.measurement import measure_query
from benchmarks.nexmark.query_list import QUERIES
from benchmarks.nexmark.sides.side_run import SideRun
from benchmarks.nexmark.truth.expected import ExpectedResults
from benchmarks.sides import BOTH, PEER, TIDEMARK, WarmSide
from datasources.demo.spark.spark_kafka import fetch_spark_kafka
from datasources.embedded import EmbeddedKafka, KafkaProcessOptions

__all__ = ["SharedSide", "Workbench", "filled_topic", "open_sides", "write_side_input"]

_SIDE_INPUT: Final = 10_000
_BROKER: Final = KafkaProcessOptions(heap_mb=1024, jvm_options=("-XX:+UseParallelGC",))
_OF_SPARK: Final = (TIDEMARK, PEER)
_MODULE: Final = "benchmarks.nexmark.sides.side_main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench:
    """A topic that is filled, and the sides that read it.

    Attributes:
        console: prints what happens.
        config: of the events.
        run: of a query; its name is filled in.
        sides: their processes, by name.
        filled: how the topic was filled.
    """

    console: Console
    config: GeneratorConfig
    run: SideRun
    sides: Mapping[str, WarmSide | SharedSide]
    filled: Filled

    def check(self, queries: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return of each query the sides that cannot run it, or have another result, and what is wrong."""
        files = Path(self.run.directory, "events")
        write_files(files, self.run.events, self.config)
        checker = Checker(
            expected=ExpectedResults(files),
            until=last_watermark(self.config, self.run.events),
            run=self.run,
            console=self.console,
        )
        return {name: checker.check(QUERIES[name], dict(self.sides)) for name in queries}

    def measure(self, query: str, problems: Mapping[str, str], rounds: int, before: SideRun | None) -> dict[str, Any]:
        """Return the figures of a query, on the sides that have no problem with it; see `measure_query`."""
        able = {side: process for side, process in self.sides.items() if side not in problems}
        return measure_query(self.console, able, replace(self.run, query=query), rounds, before)


@contextmanager
def filled_topic(
    console: Console, config: GeneratorConfig, sides: Mapping[str, WarmSide | SharedSide], run: SideRun
) -> Iterator[Workbench]:
    """Start a broker and fill the topic; give the workbench.

    Args:
        console: prints what happens.
        config: of the events.
        sides: their processes.
        run: how many events there are, how many a batch has, and the benchmark's directory.
    """
    with EmbeddedKafka(options=_BROKER) as kafka:
        filled = fill_topic(kafka.bootstrap_servers, run.events, config)
        console.print(
            f"topic: {run.events:,} events of {filled.bytes_per_event:.0f} bytes, {filled.events_per_s:,.0f} events/s"
        )
        located = replace(run, bootstrap=kafka.bootstrap_servers)
        yield Workbench(console=console, config=config, run=located, sides=sides, filled=filled)
        shutil.rmtree(Path(run.directory, "results"), ignore_errors=True)


def open_sides(
    stack: ExitStack, names: Sequence[str], console: Console, *, is_shared: bool = False
) -> dict[str, WarmSide | SharedSide]:
    """Start the processes of some sides; with ``is_shared`` those of Spark have one, which is warm sooner."""
    jars = ",".join(map(str, fetch_spark_kafka(pyspark.__version__, console.print).jars)) if PEER in names else ""
    together = [name for name in names if is_shared and name in _OF_SPARK]
    alone = [name for name in names if name not in together]
    sides: dict[str, WarmSide | SharedSide] = {
        name: stack.enter_context(WarmSide(name, jars=jars, module=_MODULE)) for name in alone
    }
    if together:
        process = stack.enter_context(WarmSide(BOTH.join(together), jars=jars, module=_MODULE))
        lock = threading.Lock()
        sides |= {name: SharedSide(process, name, lock) for name in together}
    return {name: sides[name] for name in names}


class SharedSide:
    """One of the sides of a process.

    Args:
        process: of the sides.
        side: the name of this one.
        lock: of the process, which runs one query at a time.
    """

    def __init__(self, process: WarmSide, side: str, lock: threading.Lock) -> None:
        self._process, self._side, self._lock = process, side, lock

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Give the process a line and return its answer; see `WarmSide.answer`."""
        with self._lock:
            return self._process.answer({**asked, "side": self._side})


def write_side_input(directory: Path) -> None:
    """Write the file that q13 joins."""
    lines = "".join(f"{number},{number}\n" for number in range(_SIDE_INPUT))
    (directory / "side_input.txt").write_text(lines, encoding="utf-8")
