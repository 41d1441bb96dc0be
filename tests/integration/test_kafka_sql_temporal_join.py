"""Joins with an upsert topic as of a time, in SQL: its history as a stream and as a batch, deletions included."""

from __future__ import annotations

import json
from typing import Any

import pytest

from datasources.errors import SqlError
from datasources.sql import TableEnvironment
from tests.support.scripted_stream import TINY_QUERIES, running, settings

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow]

BASE = 1_760_000_000_000
RATES = [(1, 100, 1), (2, 200, 2), (1, 101, 10), (1, None, 20), (1, 102, 30)]  # key, rate (None: deleted), second
ORDERS = [(1, 1, 5), (2, 2, 5), (3, 1, 10), (4, 1, 25), (5, 1, 35), (6, 3, 35)]  # id, key, second
WANTED = [(1, 100), (2, 200), (3, 101), (4, None), (5, 102), (6, None)]
TIME = "at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR at AS at - INTERVAL '1' HOUR"
JOIN = "SELECT o.id, r.rate FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.at AS r ON o.k = r.k"


def text(**values: Any) -> bytes:
    return json.dumps(values).encode()


@pytest.fixture
def t(kafka, spark):
    rates, orders = kafka.create_topic(), kafka.create_topic()
    kafka.produce(
        rates,
        0,
        [(text(k=k), None if rate is None else text(rate=rate), BASE + s * 1_000) for k, rate, s in RATES],
    )
    kafka.produce(orders, 0, [(None, text(id=i, k=k), BASE + s * 1_000) for i, k, s in ORDERS])
    common = (
        f"'properties.bootstrap.servers' = '{kafka.bootstrap_servers}', 'scan.startup.mode' = 'earliest-offset', "
        "'scan.bounded.mode' = 'latest-offset'"
    )
    with settings(spark, TINY_QUERIES):
        environment = TableEnvironment(spark)
        environment.sql(
            f"CREATE TABLE rates (k INT, rate INT, {TIME}, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = "
            f"'upsert-kafka', {common}, 'topic' = '{rates}', 'key.format' = 'json', 'value.format' = 'json', "
            "'value.fields-include' = 'EXCEPT_KEY')"
        )
        environment.sql(
            f"CREATE TABLE orders (id INT, k INT, {TIME}) WITH ('connector' = 'kafka', {common}, "
            f"'topic' = '{orders}', 'format' = 'json')"
        )
        yield environment


def test_deleted_and_older_versions_count_as_a_stream_and_as_a_batch(t, tmp_path):
    found: list[tuple[Any, ...]] = []
    with running(
        t.sql(JOIN),
        checkpoint=tmp_path / "checkpoint",
        for_each=lambda df, _: found.extend(map(tuple, df.collect())),
        trigger={"availableNow": True},
    ) as query:
        assert query.query.awaitTermination(240)
    assert sorted(found) == WANTED
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    assert sorted(map(tuple, t.sql(JOIN).collect())) == WANTED


def test_an_upsert_topic_is_no_left_side(t):
    with pytest.raises(SqlError, match=r"the rows of table 'rates' change \(connector 'upsert-kafka'\)"):
        t.sql("SELECT o.k FROM rates AS o JOIN rates FOR SYSTEM_TIME AS OF o.at AS r ON o.k = r.k")
