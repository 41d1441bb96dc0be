"""Tables of sources, drawn with rich: one heading and one table of splits per source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from operator import itemgetter
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from datasources.observe.tables import END_OF_TIME_MS, Table, counts_by_status, is_purge_near, worst_first
from datasources.task_counters import TASK_COUNTERS
from datasources.terminal_text import plain

_NONE: Final = "-"
_STALE_MS: Final = 5_000
_LINES_AROUND: Final = 8
_MIN_ROWS: Final = 3
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000))
_STYLES: Final = {"active": "blue", "paused": "yellow", "idle": "magenta", "finished": "green"}
_COLUMNS: Final = ("watermark", "behind", "unread", "late", "lateness", "position", "drift", "not read")
_NARROW: Final = 112
_COLUMNS_IF_NARROW: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The content of the screen.

    Attributes:
        answer: of the page: `time`, `sampled`, `sources`.
        gone_since_ms: since when there is no newer answer, ms since the epoch; None = the answer is new.
    """

    answer: Mapping[str, Any]
    gone_since_ms: int | None = None


def render(shown: Shown, *, lines: int, width: int) -> Iterator[RenderableType]:
    """Yield the renderables to print.

    Of many splits those are shown that hold their source back; a narrow terminal gets fewer columns.
    """
    notice = _notice(shown)
    if notice is not None:
        yield Text(notice, style="bold red")
    sources = shown.answer["sources"]
    if not sources:
        yield Text(
            "No source is running. Start a streaming query on a Tidemark source; it appears here with its first batch."
        )
        return
    rows = max(_MIN_ROWS, (lines - (notice is not None)) // len(sources) - _LINES_AROUND)
    columns = len(_COLUMNS) if width >= _NARROW else _COLUMNS_IF_NARROW
    for table in sources:
        yield _heading(table, shown.answer["time"] - table["time"])
        yield Padding(_splits(table, rows, columns), (0, 0, 0, 1))


def time_text(value_ms: int | None) -> str:
    """Return a time in UTC as ISO text; `-` for none."""
    if value_ms is None:
        return _NONE
    if value_ms >= END_OF_TIME_MS:
        return "end of input"
    try:
        moment = _EPOCH + timedelta(milliseconds=value_ms)
    except OverflowError:
        return f"{value_ms} ms"
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def duration_text(value_ms: int | None) -> str:
    """Return a duration with its two largest units: `340 ms`, `4.2 s`, `4 min 5 s`; `-` for none."""
    if value_ms is None:
        return _NONE
    if value_ms < 0:
        return f"-{duration_text(-value_ms)}"
    if value_ms < 10_000:  # noqa: PLR2004 - below ten seconds the tenths matter
        return f"{value_ms} ms" if value_ms < _UNITS[-1][1] else f"{value_ms // 100 / 10:.1f} s"
    parts = []
    for unit, size in _UNITS:
        count, value_ms = divmod(value_ms, size)
        parts.append((count, unit))
    first = next(index for index, (count, _) in enumerate(parts) if count)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2] if count)


def _notice(shown: Shown) -> str | None:
    if shown.gone_since_ms is not None:
        since = time_text(shown.gone_since_ms)
        return f"No answer since {since}: the driver has ended, or cannot be reached. Below is its last state."
    answer = shown.answer
    if answer["time"] - answer["sampled"] > _STALE_MS:
        return f"The driver answers, but its figures are from {time_text(answer['sampled'])}."
    return None


def _heading(table: Table, age_ms: int) -> Text:
    lag = None if table["watermark"] is None else table["time"] - table["watermark"]
    counts = ", ".join(f"{count:,} {status}" for status, count in counts_by_status(table["splits"]).items())
    text = Text(plain(table["name"]), style="bold", end="\n")
    text.append(f"  watermark {time_text(table['watermark'])}", style="not bold cyan")
    text.append(f"  {_lag_text(lag, table['watermark'])} behind  {plain(table['status'])}", style="not bold")
    details = [
        f"query {_or_none(table['query'])}",
        f"group {_or_none(table['group'])}",
        f"batch {table['batch']:,}",
        *([f"planned {duration_text(age_ms)} ago"] if age_ms > _STALE_MS else []),
        plain(counts),
        *_losses(table),
    ]
    text.append("\n  " + " | ".join(details), style="not bold dim")
    if "snapshot" in table:
        text.append("\n  " + " | ".join(_snapshot(table["snapshot"])), style="not bold dim")
    for line in (*_unanswered(table), *_purge(table), *_waits(table)):
        text.append(f"\n  {line}", style="not bold yellow")
    return text


def _unanswered(table: Table) -> Iterator[str]:
    """Yield the number of splits whose server does not answer, and the first of them in the table."""
    if not table["unanswered_splits"]:
        return
    without = [split for split in table["splits"] if split["unanswered_since"] is not None]
    first = min(without, key=itemgetter("unanswered_since"), default=None)
    yield " | ".join(
        (
            f"no answer about {table['unanswered_splits']:,} of {table['split_count']:,} splits",
            *([] if first is None else [_since_and_why(first)]),
        )
    )


def _purge(table: Table) -> Iterator[str]:
    """Yield that the server may purge its log before it is read."""
    if is_purge_near(table):
        age, kept = (duration_text(table["log"][key]) for key in ("unread_age_ms", "retention_ms"))
        yield f"the oldest unread change is {age} old, and the server purges its log after {kept}"


def _since_and_why(split: Table) -> str:
    return f"{plain(split['split'])} since {time_text(split['unanswered_since'])}: {plain(split['unanswered_reason'])}"


def _waits(table: Table) -> Iterator[str]:
    """Yield the source that this one waits for, and that others wait for it."""
    gate, load = table.get("hold"), table.get("load")
    if gate is not None and gate["status"] == "waiting":
        since = time_text(gate["since"])
        for build in gate["builds"]:
            yield " | ".join((f"waits for {plain(build['name'])} since {since}", *_build(build)))
    if load is not None and load["status"] == "loading":
        yield f"loading: others wait for {plain(load['name'])} | {_number(load['unread'])} unread"


def _build(found: Table) -> Iterator[str]:
    yield plain(found["status"])
    if found["unread"]:
        yield f"{found['unread']:,} unread"
    if found["snapshot"] is not None:
        yield from _snapshot(found["snapshot"])


def _snapshot(found: Table) -> Iterator[str]:
    """Yield the progress of the snapshot scan."""
    if found["status"] == "done":
        yield "snapshot done"
        yield f"{found['chunks']:,} chunks"
        yield f"{found['rows']:,} rows"
        return
    left = found["seconds_left"]
    yield f"snapshot of {_or_none(found['table'])}"
    yield f"{found['chunks']:,} of about {found['chunks_estimated']:,} chunks"
    yield f"{found['rows']:,} of about {found['rows_estimated']:,} rows"
    yield f"{found['rows_per_second']:,} rows/s"
    yield "time left not known yet" if left is None else f"about {duration_text(left * 1_000)} left"


def _losses(table: Table) -> Iterator[str]:
    if table["late_rows"]:
        yield f"{table['late_rows']:,} late rows, up to {duration_text(table['max_lateness_ms'])}"
    for counter in TASK_COUNTERS:
        if table[counter.key]:
            yield f"{table[counter.key]:,} {counter.label}"


def _splits(table: Table, rows: int, columns: int) -> RichTable:
    ranked = worst_first(table["splits"])
    caption = None
    if len(ranked) > rows or table["split_count"] > len(ranked):
        caption = (
            f"{min(rows, len(ranked)):,} of {table['split_count']:,} splits, those that hold the source back first"
        )
    drawn = RichTable(box=SIMPLE_HEAD, caption=caption, caption_justify="left", padding=(0, 1, 0, 0))
    drawn.add_column("split", overflow="fold", min_width=8)
    drawn.add_column("status", no_wrap=True)
    for name in _COLUMNS[:columns]:
        drawn.add_column(name, justify="right", no_wrap=True)
    for split in ranked[:rows]:
        drawn.add_row(*_name_and_status(split), *islice(_cells(split, table["time"]), columns))
    return drawn


def _name_and_status(split: Table) -> tuple[Text, Text]:
    status = split["status"]
    return Text(plain(split["split"])), Text(plain(status), style=_STYLES.get(status, ""))


def _cells(split: Table, now_ms: int) -> Iterator[Text]:
    """Yield the cells of `_COLUMNS`."""
    late = split["late_rows"]
    since_ms = {"idle": split["idle_since"], "paused": split["paused_since"]}.get(split["status"])
    yield Text(time_text(split["watermark"]))
    yield Text(_lag_text(split["watermark_lag"], split["watermark"]))
    yield Text(_number(split["lag"]))
    yield Text(_number(late), style="red" if late else "")
    yield Text(duration_text(split["max_lateness_ms"]) if late else _NONE)
    yield Text(_number(split["position"]))
    yield Text(duration_text(split["drift"]))
    yield Text(duration_text(None if since_ms is None else now_ms - since_ms))


def _lag_text(lag_ms: int | None, watermark_ms: int | None) -> str:
    return _NONE if watermark_ms is not None and watermark_ms >= END_OF_TIME_MS else duration_text(lag_ms)


def _number(value: int | None) -> str:
    return _NONE if value is None else f"{value:,}"


def _or_none(value: str | None) -> str:
    return _NONE if value is None else plain(value)
