"""An outcome of the demo as a run would give it, made without Kafka and Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from datasources.demo.queries.mysql_copy import Copied
from datasources.demo.results.accuracy import accuracy_of
from datasources.demo.results.join_outcome import Joined, JoinOutcome
from datasources.demo.results.mysql_outcome import TableOutcome, TableProgress
from datasources.demo.results.outcome import Outcome, SideOutcome, Surroundings
from datasources.demo.results.timeline import QueryTimeline
from datasources.demo.story.mysql_shop import Written
from datasources.demo.story.orders import DELAY_MS, ROLES, Story, generate_story

__all__ = ["STARTED_MS", "demo_outcome", "join_outcome", "progress_text", "table_outcome"]

STARTED_MS = 1_790_000_000_000
_STEP_MS = 250
_STEPS_OF_A_BATCH = 8
_IDLE_FROM_BATCH = 4


def demo_outcome(*, seed: int = 7, spark_loses: int = 3, tidemark_loses: int = 0) -> Outcome:
    """Return an outcome in which each side counted so many orders too few in each of its first ten results."""
    story = generate_story(seed)
    newest, oldest = _timelines(story)
    return Outcome(
        story=story,
        started_ms=STARTED_MS,
        spark=_side(story, "Spark's withWatermark", spark_loses, newest),
        tidemark=_side(story, "Tidemark", tidemark_loses, oldest),
        surroundings=Surroundings(tidemark="0.1.0", spark="4.3.0", broker="Kafka <embedded>", source="a plain source"),
        table=table_outcome(),
        join=join_outcome(story),
    )


def join_outcome(story: Story, *, unmatched: int = 0) -> JoinOutcome:
    """Return the outcome of the join, in which so many orders met no customer."""
    joined = Joined(
        answer=dict(story.truth), unmatched=unmatched, read_before=20_012, batches_before=3, read_afterwards=345
    )
    return JoinOutcome(joined=joined, accuracy=accuracy_of(story, joined.answer))


def table_outcome(*, lost: int = 0, is_mariadb: bool = False) -> TableOutcome:
    """Return the outcome of the MySQL part, with so many keys missing in the copy."""
    table = {number: (number, "tea", 1, 2) for number in range(20_100)}
    copy = {number: row for number, row in table.items() if number >= lost}
    progress = TableProgress(
        written=Written(inserts=900, updates=1_800, deletes=500, keys=300, is_done=True),
        copied=Copied(batches=12, snapshot_batches=6, snapshot_rows=19_876, changes=4_321, early_changes=1_234),
    )
    server = "MariaDB 11.4.5" if is_mariadb else "MySQL <9.7.4>"
    return TableOutcome.compare(table, copy, server=server, is_mariadb=is_mariadb, progress=progress)


def progress_text(
    *,
    batch: int,
    at_ms: int,
    watermark_ms: int | None = None,
    latest: object = None,
    end: object = None,
    dropped: int = 0,
    state: int = 0,
) -> str:
    """Return a StreamingQueryProgress as Spark writes it."""
    progress = {
        "batchId": batch,
        "timestamp": _iso(at_ms),
        "stateOperators": [{"numRowsTotal": state, "numRowsDroppedByWatermark": dropped}],
        "sources": [{"endOffset": end, "latestOffset": latest}],
    }
    if watermark_ms is not None:
        progress["eventTime"] = {"watermark": _iso(watermark_ms)}
    return json.dumps(progress)


def _side(story: Story, title: str, loses: int, timeline: QueryTimeline) -> SideOutcome:
    answer: dict[tuple[int, str], int] = dict(story.truth)
    for key in list(answer)[:10]:
        answer[key] -= min(loses, answer[key])
    return SideOutcome(title=title, answer=answer, accuracy=accuracy_of(story, answer), timeline=timeline)


def _timelines(story: Story) -> tuple[QueryTimeline, QueryTimeline]:
    """Return the timelines of a query by the maximum and of one by the minimum."""
    newest: dict[int, int] = {}
    positions = dict.fromkeys(range(len(ROLES)), 0)
    texts: tuple[list[str], list[str]] = ([], [])
    for number, step in enumerate(story.steps):
        for order in step:
            newest[order.partition] = max(order.ts_ms, newest.get(order.partition, 0))
            positions[order.partition] += 1
        if number % _STEPS_OF_A_BATCH == _STEPS_OF_A_BATCH - 1:
            batch = number // _STEPS_OF_A_BATCH
            for kind, side in enumerate(texts):
                side.append(_text(batch, STARTED_MS + number * _STEP_MS, newest, positions, is_minimum=kind == 1))
    return QueryTimeline.from_progress(texts[0]), QueryTimeline.from_progress(texts[1])


def _text(batch: int, at_ms: int, newest: Mapping[int, int], positions: Mapping[int, int], *, is_minimum: bool) -> str:
    idle = {3} if batch >= _IDLE_FROM_BATCH else set()
    active = [ts for partition, ts in newest.items() if partition not in idle]
    splits = [
        {
            "split": f"tidemark-demo-orders-1a-{partition}",
            "position": positions[partition],
            "watermark": ts - DELAY_MS,
            "status": "idle" if partition in idle else "active",
        }
        for partition, ts in newest.items()
    ]
    watermark_ms = (min(active) if is_minimum else max(newest.values())) - DELAY_MS
    latest = json.dumps({"batch": batch, "splits": splits})
    return progress_text(batch=batch, at_ms=at_ms, watermark_ms=watermark_ms, latest=latest, dropped=2, state=batch)


def _iso(value_ms: int) -> str:
    return datetime.fromtimestamp(value_ms / 1_000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
