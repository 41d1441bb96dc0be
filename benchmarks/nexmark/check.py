"""Results of the sides beside the expected ones."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from benchmarks.nexmark.dataset import PARTITIONS, topic_messages
from benchmarks.nexmark.generator.generator_config import GeneratorConfig
from benchmarks.nexmark.query_list import NexmarkQuery
from benchmarks.nexmark.sides.side_run import FLINK_ROCKSDB, SideRun
from benchmarks.nexmark.truth.comparison import differences, found_in_csv, found_in_debezium, found_in_parquet
from benchmarks.nexmark.truth.expected import ExpectedResults
from benchmarks.orders.json_orders import make_topic
from benchmarks.sides import FLINK, WarmSide

__all__ = ["Checker", "last_watermark"]

_DELAY: Final = dt.timedelta(seconds=4)
_TO_ITS_END: Final = (FLINK, FLINK_ROCKSDB)
"""These end with the largest watermark there is: all windows are emitted. Spark ends with that of the last event."""


def last_watermark(config: GeneratorConfig, events: int) -> dt.datetime:
    """Return the watermark behind the last event: no partition has a smaller one."""
    import numpy as np

    last = np.arange(max(events - PARTITIONS, 0), events)
    newest_ms = int(config.times_ms(config.ids(last)).min())
    return dt.datetime.fromtimestamp(newest_ms / 1_000, dt.UTC) - _DELAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Checker:
    """Lets sides write results and compares them.

    Attributes:
        expected: the results.
        until: the last watermark.
        run: of a query; its name and output are filled in.
        console: prints what is found.
    """

    expected: ExpectedResults
    until: dt.datetime
    run: SideRun
    console: Console

    def check(self, query: NexmarkQuery, sides: dict[str, WarmSide]) -> dict[str, str]:
        """Return of each side that cannot run the query or has another result what is wrong. The sides run at once."""
        runs = {name: replace(self.run, query=query.name, output=self._output(query, name)) for name in sides}
        with ThreadPoolExecutor(max(len(sides), 1)) as pool:
            answers = {name: pool.submit(side.answer, asdict(runs[name])) for name, side in sides.items()}
        found = {name: self._problem(query, name, run.output, answers[name].result()) for name, run in runs.items()}
        return {name: problem for name, problem in found.items() if problem}

    def _problem(self, query: NexmarkQuery, name: str, output: str, answer: dict[str, Any]) -> str:
        if "why" in answer:
            problem = str(answer["why"])
        else:
            self.expected.compute(query, None if name in _TO_ITS_END else self.until)
            self._read(query, answer, output)
            problem = "; ".join(differences(self.expected, query))
        rows = "" if "why" in answer else f"{self.expected.rows('SELECT coalesce(sum(n), 0) FROM found')[0][0]:,} rows"
        self.console.print(f"  {query.name} {name}: {problem or f'as expected, {rows}'}", markup=False, highlight=False)
        return problem

    def _output(self, query: NexmarkQuery, side: str) -> str:
        """Return the topic or directory for a result, new."""
        name = f"{query.name}-{side}"
        if side in _TO_ITS_END:
            make_topic(self.run.bootstrap, name, 1)
            return name
        directory = Path(self.run.directory, "results", name)
        shutil.rmtree(directory, ignore_errors=True)
        return str(directory)

    def _read(self, query: NexmarkQuery, answer: dict[str, Any], output: str) -> None:
        match answer["form"]:
            case "debezium":
                file = Path(self.run.directory, "results", f"{output}.json")
                _copy(self.run.bootstrap, output, file)
                found_in_debezium(self.expected, query, file)
            case "csv":
                found_in_csv(self.expected, query, Path(answer["path"]))
            case _:
                keys: Sequence[str] = answer["keys"]
                found_in_parquet(self.expected, query, Path(answer["path"]), keys)


def _copy(bootstrap: str, topic: str, file: Path) -> None:
    """Write the values of a topic of one partition into a file, one a line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as output:
        for messages in topic_messages(bootstrap, topic):
            output.writelines(message.value() + b"\n" for message in messages)
