"""The tables in Prometheus' text format, with Flink's nouns under Prometheus' rules for names and units.

A value that is not known is left out: no sample is better than a number that means something else. Times and durations
are in seconds, and counters end in `_total`. Sources: Prometheus' naming practices; Flink's metrics reference,
FLIP-33, FLIP-513.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter, methodcaller
from typing import Final

from prometheus_client import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from datasources.observe.tables import STATUSES, Table
from datasources.task_counters import TASK_COUNTERS

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""Every Prometheus reads this version of the format."""

_MS_PER_S: Final = 1_000
_SOURCE_LABELS: Final = ("source", "name", "query", "group")
_SPLIT_LABELS: Final = (*_SOURCE_LABELS, "split")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricMeaning:
    """One metric.

    ``name`` is as it is scraped, without the `_total` of a counter, which only grows from the start of the process on.
    Values of one in seconds are in milliseconds in the tables.
    """

    name: str
    key: str
    is_counter: bool = False
    help: str

    def sample(self, value: int) -> float:
        """Return a table's value in the unit of the metric."""
        return value / _MS_PER_S if self.name.endswith("_seconds") else value


def _gauge(name: str, key: str, text: str) -> MetricMeaning:
    return MetricMeaning(name=name, key=key, help=text)


def _counter(name: str, key: str, text: str) -> MetricMeaning:
    return MetricMeaning(name=name, key=key, is_counter=True, help=text)


_SOURCE_METRICS: Final = (
    _gauge(
        "tidemark_source_watermark_timestamp_seconds",
        "watermark",
        "Combined watermark of the source, seconds since the epoch.",
    ),
    _gauge(
        "tidemark_source_max_desired_watermark_timestamp_seconds",
        "max_allowed",
        "How far a split may go in the newest batch, seconds since the epoch; only with alignment.",
    ),
    _gauge("tidemark_source_batch", "batch", "Number of the source's newest batch."),
    _gauge(
        "tidemark_source_last_planned_timestamp_seconds",
        "time",
        "Driver's clock when the source last planned; all of its figures are of that time, seconds since the epoch.",
    ),
    _gauge("tidemark_source_splits", "split_count", "Number of splits."),
    _gauge(
        "tidemark_source_unanswered_splits",
        "unanswered_splits",
        "Number of splits whose server does not answer; they are planned with their last known ends.",
    ),
    _counter("tidemark_source_late_records", "late_rows", "Rows behind the source's watermark."),
    _gauge("tidemark_source_max_lateness_seconds", "max_lateness_ms", "Largest lateness of a row so far, seconds."),
    *(_counter(f"tidemark_source_{each.metric}", each.key, each.help) for each in TASK_COUNTERS),
)
_SPLIT_METRICS: Final = (
    _gauge(
        "tidemark_split_watermark_timestamp_seconds", "watermark", "Watermark of the split, seconds since the epoch."
    ),
    _gauge(
        "tidemark_split_watermark_alignment_drift_seconds",
        "drift",
        "Watermark of the split minus that of the slowest split of its group, seconds; only with alignment.",
    ),
    _gauge("tidemark_split_pending_records", "lag", "Positions that are not planned yet."),
    _gauge(
        "tidemark_split_watermark_lag_seconds",
        "watermark_lag",
        "Driver's clock minus the watermark of the split, seconds. Flink's currentEmitEventTimeLag is measured at the "
        "newest record instead: this is larger by the delay of the strategy, and keeps growing while no record comes.",
    ),
    _counter("tidemark_split_late_records", "late_rows", "Rows behind the source's watermark."),
    _gauge("tidemark_split_max_lateness_seconds", "max_lateness_ms", "Largest lateness of a row so far, seconds."),
    _counter("tidemark_split_dead_letters", "dead_letters", "Records that were written to the dead letter topic."),
)
_SNAPSHOT_METRICS: Final = (
    _gauge(
        "tidemark_source_snapshotting",
        "is_running",
        "1 while tables are read, 0 afterwards; this and the following only of sources that read tables.",
    ),
    _counter("tidemark_source_snapshot_splits_processed", "chunks", "Chunks of tables that were read."),
    _gauge(
        "tidemark_source_snapshot_splits_remaining",
        "chunks_left",
        "Chunks of tables that are not read yet, by the server's estimate of rows.",
    ),
    _counter("tidemark_source_snapshot_records", "rows", "Rows of tables that were read."),
    _gauge(
        "tidemark_source_snapshot_records_remaining",
        "rows_left",
        "Rows of tables that are not read yet, by the server's estimate.",
    ),
    _gauge(
        "tidemark_source_snapshot_records_per_second",
        "rows_per_second",
        "Rows of tables that were read, per second since the run began.",
    ),
    _gauge(
        "tidemark_source_snapshot_time_left_seconds",
        "left_ms",
        "How long the reading of tables will take at this rate, seconds.",
    ),
)
_LOG_METRICS: Final = (
    _gauge(
        "tidemark_source_log_unread_age_seconds",
        "unread_age_ms",
        "Age of the oldest transaction that is not read, at most; 0 if all are read. Only of MySQL.",
    ),
    _gauge(
        "tidemark_source_log_retention_seconds",
        "retention_ms",
        "How long the server keeps the files of its binlog, seconds; only of MySQL, and where there is a limit.",
    ),
)
_COMMIT_METRICS: Final = (
    _counter(
        "tidemark_source_commits_succeeded",
        "commitsSucceeded",
        "Commits of positions to the consumer group; only of sources with commit.offsets.on.checkpoint.",
    ),
    _counter("tidemark_source_commits_failed", "commitsFailed", "Commits to the consumer group that failed."),
)
_LOAD_GATE_METRICS: Final = (
    _gauge(
        "tidemark_source_held",
        "is_waiting",
        "1 while the source is not read because those that it waits for are not loaded, 0 afterwards; this and "
        "the following only of sources with scan.hold.until.",
    ),
    _gauge("tidemark_source_held_seconds", "waiting_ms", "How long it has been waiting, seconds."),
    _gauge(
        "tidemark_source_loading",
        "is_loading",
        "1 while others have to wait for the source to be loaded, 0 afterwards; this and the following only of "
        "sources with scan.hold.name.",
    ),
    _gauge(
        "tidemark_source_load_records_remaining",
        "unread",
        "Positions that have to be read before it is loaded, without those of tables.",
    ),
)
_LAG: Final = _gauge(
    "tidemark_source_watermark_lag_seconds", "", "Driver's clock minus the combined watermark of the source, seconds."
)
_STATUS: Final = _gauge("tidemark_split_status", "status", "1 for the status that the split has, 0 for the others.")

_UNANSWERED: Final = _gauge(
    "tidemark_split_unanswered_seconds",
    "unanswered_since",
    "How long the server of the split has not been answering, seconds; only while it does not.",
)

METRICS: Final[Sequence[MetricMeaning]] = (
    *_SOURCE_METRICS,
    _LAG,
    *_SNAPSHOT_METRICS,
    *_LOG_METRICS,
    *_COMMIT_METRICS,
    *_LOAD_GATE_METRICS,
    *_SPLIT_METRICS,
    _UNANSWERED,
    _STATUS,
)
"""Every metric that is rendered."""


def render_metrics(tables: Iterable[Table]) -> bytes:
    """Return the tables in the text format, UTF-8; its media type is `CONTENT_TYPE`."""
    return generate_latest(_Collector(list(tables)))


class _Collector(Collector):
    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables = tables

    def collect(self) -> Iterator[Metric]:
        for meaning in _SOURCE_METRICS:
            yield self._sources(meaning, itemgetter(meaning.key))
        yield self._sources(_LAG, _lag)
        for meaning in _SNAPSHOT_METRICS:
            yield self._sources(meaning, partial(_of_snapshot, meaning.key))
        for meaning in _LOG_METRICS:
            yield self._sources(meaning, partial(_of_log, meaning.key))
        for meaning in _COMMIT_METRICS:
            yield self._sources(meaning, methodcaller("get", meaning.key))
        for meaning in _LOAD_GATE_METRICS:
            yield self._sources(meaning, partial(_of_waiting, meaning.key))
        for meaning in _SPLIT_METRICS:
            yield self._splits(meaning, _of_split(meaning.key))
        yield self._splits(_UNANSWERED, _unanswered_ms)
        yield self._statuses()

    def _sources(self, meaning: MetricMeaning, value_of: Callable[[Table], int | None]) -> Metric:
        family = _family(meaning, _SOURCE_LABELS)
        for table in self._tables:
            value = value_of(table)
            if value is not None:
                family.add_metric(_labels(table), meaning.sample(value))
        return family

    def _splits(self, meaning: MetricMeaning, value_of: Callable[[Table, Table], int | None]) -> Metric:
        family = _family(meaning, _SPLIT_LABELS)
        for table in self._tables:
            labels = _labels(table)
            for split in table["splits"]:
                value = value_of(table, split)
                if value is not None:
                    family.add_metric([*labels, _text(split["split"])], meaning.sample(value))
        return family

    def _statuses(self) -> Metric:
        family = _family(_STATUS, (*_SPLIT_LABELS, "status"))
        for table in self._tables:
            labels = _labels(table)
            for split in table["splits"]:
                for status in STATUSES:
                    family.add_metric([*labels, _text(split["split"]), status], int(split["status"] == status))
        return family


def _family(meaning: MetricMeaning, labels: Sequence[str]) -> CounterMetricFamily | GaugeMetricFamily:
    kind = CounterMetricFamily if meaning.is_counter else GaugeMetricFamily
    return kind(meaning.name, meaning.help, labels=labels)


def _lag(table: Table) -> int | None:
    return None if table["watermark"] is None else table["time"] - table["watermark"]


def _of_split(key: str) -> Callable[[Table, Table], int | None]:
    return lambda _, split: split[key]


def _unanswered_ms(table: Table, split: Table) -> int | None:
    since = split["unanswered_since"]
    return None if since is None else max(0, table["time"] - since)


def _of_snapshot(key: str, table: Table) -> int | None:
    """Return the progress of the snapshot scan."""
    if "snapshot" not in table:
        return None
    found = table["snapshot"]
    left = found["seconds_left"]
    known: dict[str, int | None] = {
        "is_running": int(found["status"] != "done"),
        "chunks": found["chunks"],
        "chunks_left": max(0, found["chunks_estimated"] - found["chunks"]),
        "rows": found["rows"],
        "rows_left": max(0, found["rows_estimated"] - found["rows"]),
        "rows_per_second": found["rows_per_second"],
        "left_ms": None if left is None else left * 1_000,
    }
    return known[key]


def _of_log(key: str, table: Table) -> int | None:
    value: int | None = table.get("log", {}).get(key)
    return value


def _of_waiting(key: str, table: Table) -> int | None:
    """Return the state of a source that waits for another, or is waited for."""
    known: dict[str, int | None] = {}
    if (gate := table.get("hold")) is not None:
        is_waiting = gate["status"] == "waiting"
        known |= {"is_waiting": int(is_waiting), "waiting_ms": table["time"] - gate["since"] if is_waiting else None}
    if (load := table.get("load")) is not None:
        known |= {"is_loading": int(load["status"] != "loaded"), "unread": load["unread"]}
    return known.get(key)


def _labels(table: Table) -> list[str]:
    return [_text(table[label]) for label in _SOURCE_LABELS]


def _text(value: str | None) -> str:
    """Return a label's value; half of a surrogate pair, which UTF-8 cannot carry, becomes a question mark."""
    return (value or "").encode("utf-8", "replace").decode("utf-8")
