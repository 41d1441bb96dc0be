"""A TTL that is longer than everything changes no result, whatever carries times through a query."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from datasources.sql import TableEnvironment
from tests.support.kafka.followed_topics import Answer, followed
from tests.support.kafka.kafka_changing_tables import ChangingTopics
from tests.support.spark.applied_result import Row

pytestmark = [
    pytest.mark.long,
    pytest.mark.spark,
    pytest.mark.kafka,
    pytest.mark.slow,
    pytest.mark.usefixtures("operator_queries"),
]

EVENT_TIME = "ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR ts AS ts, PRIMARY KEY"
Rows = list[Row]


def unmatched(topics: ChangingTopics) -> Rows:
    """Orders with the user whose score is less than the order's number, or none."""
    found = []
    for order in topics.orders.values():
        user = topics.users.get(order["user"])
        is_match = user is not None and user["score"] is not None and user["score"] < order["id"]
        found.append((order["id"], user["id"] if is_match and user is not None else None))
    return found


def both(topics: ChangingTopics) -> Rows:
    used = {order["user"] for order in topics.orders.values()}
    pairs: Rows = [
        (order["id"], order["user"] if order["user"] in topics.users else None) for order in topics.orders.values()
    ]
    return pairs + [(None, user) for user in topics.users if user not in used]


def orders_each(topics: ChangingTopics) -> Rows:
    counts = Counter(order["user"] for order in topics.orders.values())
    return list(Counter(counts.values()).items())


def of_known_users(topics: ChangingTopics) -> Rows:
    return [(order["id"],) for order in topics.orders.values() if order["user"] in topics.users]


STATEMENTS: dict[str, Answer] = {
    "SELECT o.id, u.id FROM orders o LEFT JOIN users u ON o.`user` = u.id AND u.score < o.id": unmatched,
    "SELECT o.id, u.id FROM orders o FULL JOIN users u ON o.`user` = u.id": both,
    "SELECT /*+ STATE_TTL('u' = '0') */ o.id, u.id FROM orders o FULL JOIN users u ON o.`user` = u.id": both,
    "SELECT n, count(*) FROM (SELECT `user`, count(*) AS n FROM orders GROUP BY `user`) GROUP BY n": orders_each,
    "SELECT id FROM orders WHERE `user` IN (SELECT id FROM users)": of_known_users,
}


def test_a_long_ttl_changes_nothing(spark, kafka):
    topics = ChangingTopics(kafka, random.Random(5))
    topics.create()
    t = TableEnvironment(spark)
    for declaration in topics.declarations:
        t.sql(declaration.replace("PRIMARY KEY", EVENT_TIME))
    t.sql("SET 'table.exec.state.ttl' = '9000 d'")
    with followed(t, topics, STATEMENTS, rounds=2) as found:
        assert len(found) == len(STATEMENTS)
