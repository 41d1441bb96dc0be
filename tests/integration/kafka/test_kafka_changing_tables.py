"""Queries over topics of upserts and of Debezium's events: their changes lead to the tables of a model."""

from __future__ import annotations

import json
import random
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame

from datasources.sql import TableEnvironment
from tests.support.kafka.followed_topics import Answer, followed
from tests.support.kafka.kafka_changing_tables import ChangingTopics
from tests.support.spark.applied_result import AppliedResult
from tests.support.spark.scripted_stream import running

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.usefixtures("operator_queries")]


@pytest.fixture
def topics(kafka) -> ChangingTopics:
    topics = ChangingTopics(kafka, random.Random(3))
    topics.create()
    return topics


@pytest.fixture
def t(spark, topics) -> TableEnvironment:
    environment = TableEnvironment(spark)
    for declaration in topics.declarations:
        environment.sql(declaration)
    return environment


def price(order: dict[str, Any]) -> Decimal | None:
    return None if order["price"] is None else Decimal(str(order["price"])).quantize(Decimal("0.01"))


def joined(topics: ChangingTopics) -> list[tuple[Any, ...]]:
    return [
        (order["id"], price(order), (topics.users.get(order["user"]) or {}).get("name"))
        for order in topics.orders.values()
    ]


def scores(topics: ChangingTopics) -> list[tuple[Any, ...]]:
    groups: dict[Any, list[int]] = {}
    for user in topics.users.values():
        groups.setdefault(user["name"], []).append(user["score"])
    return [
        (name, len(found), max([s for s in found if s is not None], default=None)) for name, found in groups.items()
    ]


def largest(topics: ChangingTopics) -> list[tuple[Any, ...]]:
    last: dict[Any, int] = {}
    for order in topics.orders.values():
        last[order["user"]] = max(last.get(order["user"], -1), order["id"])
    return list(last.items())


def tags(topics: ChangingTopics) -> list[tuple[Any, ...]]:
    return list(Counter(tag for order in topics.orders.values() for tag in order["tags"] or []).items())


STATEMENTS: dict[str, Answer] = {
    "SELECT count(*), count(score) FROM users": lambda topics: [
        (len(topics.users), sum(user["score"] is not None for user in topics.users.values()))
    ],
    "SELECT o.id, o.price, u.name FROM orders o LEFT JOIN users u ON o.`user` = u.id": joined,
    "SELECT name, count(*), max(score) FROM users GROUP BY name": scores,
    "SELECT `user`, id FROM (SELECT *, row_number() OVER (PARTITION BY `user` ORDER BY id DESC) AS n FROM orders) "
    "WHERE n = 1": largest,
    "SELECT tag, count(*) FROM orders, LATERAL unnest(tags) AS x(tag) GROUP BY tag": tags,
}


@pytest.mark.long
def test_changes_lead_to_the_tables_of_the_model(t, topics):
    with followed(t, topics, STATEMENTS, rounds=3) as found:
        for each in found:
            each.query.drain()
            assert each.result.rows == Counter(each.answer(topics))
            assert each.result.kinds["-U"] + each.result.kinds["-D"] > 0


@pytest.mark.full
def test_a_batch_gives_the_tables_of_the_model(t, topics):
    topics.change(80)
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    for statement, answer in STATEMENTS.items():
        assert Counter(map(tuple, t.sql(statement).collect())) == Counter(answer(topics))


def test_a_delete_of_a_key_that_is_not_there_changes_nothing(t, topics):
    topics.write(
        "users", 0, (b'{"id": 3}', None, 1), (b'{"id": 3}', b'{"id": 3, "name": "ann"}', 2), (b'{"id": 6}', None, 3)
    )
    result = AppliedResult()
    with running(t.sql("SELECT id, name FROM users"), for_each=result) as query:
        query.wait_for(lambda _: result.rows == Counter([(3, "ann")]))
        topics.write("users", 0, (b'{"id": 3}', None, 4), (b'{"id": 3}', None, 5), (b'{"id": 9}', None, 6))
        query.wait_for(lambda _: not result.rows)
    assert result.kinds == Counter({"+I": 1, "-D": 1})


def ran(frame: DataFrame, checkpoint: Path) -> Counter[tuple[Any, ...]]:
    """Run a query over what is there, and return the rows of its changes."""
    result = AppliedResult()
    with running(frame, for_each=result, checkpoint=checkpoint, trigger={"availableNow": True}) as query:
        query.query.awaitTermination()
    return result.rows


@pytest.mark.long
def test_a_checkpoint_belongs_to_one_statement(t, topics, tmp_path):
    """A row that another statement had added would be removed, or stay for ever."""
    topics.write("users", 0, (b'{"id": 3}', b'{"id": 3, "score": 1}', 1))
    t.sql("CREATE TEMPORARY VIEW scores AS SELECT id, score FROM users")
    assert ran(t.sql("SELECT id, score FROM scores WHERE score > 0"), tmp_path) == Counter([(3, 1)])
    topics.write("users", 0, (b'{"id": 6}', b'{"id": 6, "score": 2}', 2))
    same = "select id, score -- of all\nfrom scores /* as before */ where score > 0"
    assert ran(t.sql(same), tmp_path) == Counter([(6, 2)])
    for other in (
        "SELECT id, score FROM scores WHERE score > 1",
        "SELECT id, score + 1 FROM scores WHERE score > 0",
        "SELECT op, id, score FROM TO_CHANGELOG(input => TABLE users)",
    ):
        with pytest.raises(StreamingQueryException, match="the checkpoint was written by"):
            ran(t.sql(other), tmp_path)
    t.sql("CREATE OR REPLACE TEMPORARY VIEW scores AS SELECT id, score * 2 AS score FROM users")
    with pytest.raises(StreamingQueryException, match="written by another statement over tables that change"):
        ran(t.sql("SELECT id, score FROM scores WHERE score > 0"), tmp_path)


def test_a_checkpoint_of_events_is_none_of_a_table(t, topics, tmp_path):
    topics.write("users", 0, (b'{"id": 3}', b'{"id": 3, "score": 1}', 1))
    with running(t.sql("SELECT id FROM TO_CHANGELOG(input => TABLE users)"), checkpoint=tmp_path) as query:
        query.wait_for(lambda found: len(found.rows()) == 1)
    with pytest.raises(StreamingQueryException, match="reads this source as it is, and now a query over tables"):
        ran(t.sql("SELECT id FROM users"), tmp_path)


def test_rows_with_operations_are_the_table_that_they_describe(t, topics, kafka, tmp_path):
    """Each key is in one partition; an update gives the new row only, and without a key it needs the old one."""
    topic = kafka.create_topic(partitions=1)
    rows = [("c", 1, "a"), ("r", 2, "b"), ("u", 1, "c"), ("d", 2, "b"), ("c", 3, "c"), ("d", 4, "none")]
    kafka.produce(topic, 0, [(None, json.dumps({"op": op, "id": n, "v": v}).encode(), 1) for op, n, v in rows])
    t.sql(
        f"CREATE TABLE events (op STRING, id INT, v STRING) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'format' = "
        f"'json', 'properties.bootstrap.servers' = '{kafka.bootstrap_servers}', 'scan.startup.mode' = 'earliest-offset')"
    )
    mapped = "op_mapping => MAP['c, r', 'INSERT', 'u', 'UPDATE_AFTER', 'd', 'DELETE']"
    text = f"SELECT v, count(*) FROM FROM_CHANGELOG(input => TABLE events PARTITION BY id, {mapped}) GROUP BY v"
    assert ran(t.sql(text), tmp_path / "upserts") == Counter([("c", 2)])
    old = "op_mapping => MAP['c, r', 'INSERT', 'u', 'DELETE', 'd', 'DELETE']"
    with pytest.raises(StreamingQueryException, match="change of unknown kind: the operation c"):
        ran(t.sql("SELECT id FROM FROM_CHANGELOG(input => TABLE events) AS e"), tmp_path / "unknown")
    found = ran(t.sql(f"SELECT e.* FROM FROM_CHANGELOG(TABLE events, {old}) AS e WHERE id = 2"), tmp_path / "retract")
    assert found == Counter()
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    assert [tuple(row) for row in t.sql(text).collect()] == [("c", 2)]
