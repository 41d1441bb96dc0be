"""What a run of the benchmark has: a broker with the topic, Parquet files of the same events, and the sides."""

from __future__ import annotations

import shutil
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
from benchmarks.sides import PEER, WarmSide
from datasources.demo.spark.spark_kafka import fetch_spark_kafka
from datasources.embedded import EmbeddedKafka, KafkaProcessOptions

__all__ = ["Workbench", "filled_topic", "open_sides", "write_side_input"]

_SIDE_INPUT: Final = 10_000
_BROKER: Final = KafkaProcessOptions(heap_mb=1024, jvm_options=("-XX:+UseParallelGC",))
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
    sides: Mapping[str, WarmSide]
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
    console: Console, config: GeneratorConfig, sides: Mapping[str, WarmSide], run: SideRun
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


def open_sides(stack: ExitStack, names: Sequence[str], console: Console) -> dict[str, WarmSide]:
    """Start the processes of some sides."""
    jars = ",".join(map(str, fetch_spark_kafka(pyspark.__version__, console.print).jars)) if PEER in names else ""
    return {name: stack.enter_context(WarmSide(name, jars=jars, module=_MODULE)) for name in names}


def write_side_input(directory: Path) -> None:
    """Write the file that q13 joins."""
    lines = "".join(f"{number},{number}\n" for number in range(_SIDE_INPUT))
    (directory / "side_input.txt").write_text(lines, encoding="utf-8")
