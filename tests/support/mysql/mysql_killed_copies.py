"""Queries over MySQL tables in a process that is killed again and again, at random moments."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from tests.support.mysql.mysql_changing_tables import ChangingShop
from tests.support.spark.applied_result import AppliedResult, Row
from tests.support.spark.query_process import QueryProcess
from tests.support.spark.recording import QueryDirectory

__all__ = ["recorded_rows", "run_with_kills"]

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_TRANSACTIONS: Final = 12
_LONGEST_S: Final = 1.5


def run_with_kills(
    shop: ChangingShop,
    recording: QueryDirectory,
    script: Sequence[str],
    *,
    kills: int,
    queries: Mapping[str, str] = _NOTHING,
    transactions: int = _TRANSACTIONS,
    settings: Mapping[str, str] = _NOTHING,
    environment: Mapping[str, str] = _NOTHING,
) -> None:
    """Run queries while the tables change and their driver is killed, then let them read what there is and end.

    Args:
        shop: the tables.
        recording: where the process writes.
        script: SQL statements; without `queries` the last one is the query.
        kills: how many.
        queries: SELECTs, by name.
        transactions: how many there are before each kill.
        settings: of Spark.
        environment: variables of the process.
    """
    each = [QueryDirectory(recording.directory / name) for name in queries] or [recording]
    process = QueryProcess(
        recording, "", {}, script=script, queries=queries, settings=settings, environment=environment
    )
    with process as job:
        for _ in range(kills):
            goals = [one.planned() + 1 for one in each]
            shop.write(transactions)
            job.wait_until("a batch", lambda goals=goals: _are_at(goals, [one.planned() for one in each]))
            threading.Event().wait(_LONGEST_S * shop.rng.random())
            job.kill_driver()
        shop.write(transactions)
        job.finish()
    assert job.kills == ["driver"] * kills


def recorded_rows(recording: QueryDirectory) -> Counter[Row]:
    """Return the rows to which a query's changes lead; a batch that was repeated is the same each time."""
    result = AppliedResult()
    for _, attempts in sorted(recording.stored().items()):
        first, *others = [[tuple(row.values()) for row in attempt] for attempt in attempts]
        assert all(Counter(other) == Counter(first) for other in others)
        result.apply(first)
    return result.rows


def _are_at(goals: Sequence[int], found: Sequence[int]) -> bool:
    return all(count >= goal for count, goal in zip(found, goals, strict=True))
