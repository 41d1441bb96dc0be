"""Queries over topics that change while they run, until each has what a model of the tables gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from datasources.sql import TableEnvironment
from tests.support.kafka.kafka_changing_tables import ChangingTopics
from tests.support.spark.applied_result import AppliedResult, Row
from tests.support.spark.scripted_stream import Running, running

__all__ = ["Answer", "Followed", "followed"]

Answer = Callable[[ChangingTopics], list[Row]]


@dataclass(frozen=True, slots=True)
class Followed:
    """A query that runs, its result so far, and what the model gives."""

    query: Running
    result: AppliedResult
    answer: Answer


@contextmanager
def followed(
    t: TableEnvironment, topics: ChangingTopics, statements: Mapping[str, Answer], *, rounds: int
) -> Iterator[list[Followed]]:
    """Run statements side by side, and change the topics so many times; each has the model's rows after each time."""
    topics.change(40)
    with ExitStack() as stack:
        found = []
        for statement, answer in statements.items():
            result = AppliedResult()
            query = stack.enter_context(running(t.sql(statement), for_each=result))
            found.append(Followed(query, result, answer))
        for _ in range(rounds):
            topics.change(25)
            for each in found:
                expected = Counter(each.answer(topics))
                each.query.wait_for(
                    lambda _, each=each, expected=expected: each.result.rows == expected, deadline_s=400
                )
        yield found
