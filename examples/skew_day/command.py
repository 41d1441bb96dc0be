"""One partition twelve hours behind: the state of three queries over the same backlog.

Spark's connector loses the slow partition's records, Tidemark without alignment keeps twelve hours of windows open,
Tidemark with alignment keeps what the drift allows. Ends with 1 if the aligned state is not within its bound or a
result of Tidemark's is wrong. The last line is JSON; the chart is written to skew.html.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Final

import pyspark
from rich.console import Console

from datasources.demo.spark.local_spark import local_spark
from datasources.demo.spark.silenced_output import silenced_output
from datasources.demo.spark.spark_kafka import fetch_spark_kafka
from datasources.demo.story.broker import open_broker
from datasources.embedded import KAFKA_VERSION, external_kafka
from examples.skew_day.outcome import SkewOutcome
from examples.skew_day.page import render_page
from examples.skew_day.story import SkewSettings, make_skew
from examples.skew_day.tables import comparison_table
from examples.skew_day.topic import open_backlog
from examples.skew_day.variants import DrainSettings, Variant, drain

__all__ = ["main"]

_BATCHES: Final = 96
_DRIFT_MS: Final = 600_000
_COLUMNS: Final = 110


def main() -> int:
    """Run the three queries and show their results; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path, default=Path("skew.html"), help="the HTML file to write")
    page: Path = parser.parse_args().page
    with tempfile.TemporaryDirectory(prefix="tidemark-skew-", ignore_cleanup_errors=True) as name:
        directory = Path(name)
        with silenced_output(directory / "output.log") as terminal:
            console = Console(file=terminal, width=None if terminal.isatty() else _COLUMNS, highlight=False)
            outcome = _run(directory, console)
            _show(outcome, page, console)
    return 1 if outcome.failure else 0


def _run(directory: Path, console: Console) -> SkewOutcome:
    story = make_skew(SkewSettings())
    peer = fetch_spark_kafka(pyspark.__version__, console.print)
    console.print("starting Kafka and Spark")
    with (
        open_broker(external_kafka(), console.print) as wait_for_broker,
        local_spark(directory, jars=peer.jars) as spark,
    ):
        servers = wait_for_broker()
        console.print(f"writing {story.settings.rows:,} records")
        with open_backlog(servers, story) as backlog:
            settings = DrainSettings(rows_per_batch=story.settings.rows // _BATCHES, max_drift_ms=_DRIFT_MS)
            results = {}
            for variant in Variant:
                console.print(f"reading them with {variant.value}")
                results[variant] = drain(spark, variant, settings, backlog, directory / variant.name.lower())
            facts = f"PySpark {spark.version}, spark-sql-kafka {peer.version}, Kafka {_broker()}"
            return SkewOutcome(story=story, settings=settings, results=results, surroundings=facts)


def _broker() -> str:
    named = external_kafka()
    return f"at {named}" if named else f"{KAFKA_VERSION}, embedded"


def _show(outcome: SkewOutcome, page: Path, console: Console) -> None:
    page.write_text(render_page(outcome), encoding="utf-8")
    console.print(comparison_table(outcome))
    console.print(f"The page with the charts: {page.resolve()}", soft_wrap=True)
    if outcome.failure:
        console.print(f"FAILED: {outcome.failure}", style="bold red", soft_wrap=True)
    console.print(json.dumps(outcome.to_json()), soft_wrap=True, markup=False)
