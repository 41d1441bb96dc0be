"""A query over a topic that is deleted and created again with more records: it stops, or reads the new one whole."""

from __future__ import annotations

import pytest

from datasources import read_stream
from tests.support.forms import full
from tests.support.kafka.kafka_orders import BASE, MINUTE, minute_counts, order, orders, start, wait_until
from tests.support.spark.scripted_stream import process_all

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

OLD, NEW = 50, 120


@pytest.mark.long
@pytest.mark.parametrize("fail_on_data_loss", [*full("true"), "false"])
def test_a_topic_that_is_recreated_while_the_query_is_stopped(kafka, spark, tmp_path, fail_on_data_loss):
    topic = kafka.create_topic()
    df = read_stream(spark, "tidemark-kafka", orders(kafka, topic) | {"failOnDataLoss": fail_on_data_loss})
    kafka.produce(topic, 0, [order(n, BASE + n * 100) for n in range(OLD)])
    query, _ = start(minute_counts(df), tmp_path)
    process_all(query)
    query.stop()
    kafka.recreate_topic(topic)
    later = BASE + 5 * MINUTE
    kafka.produce(topic, 0, [order(n, later + n * 100) for n in range(NEW)])
    kafka.produce(topic, 0, [order(NEW, later + 9 * MINUTE)])
    query, found = start(minute_counts(df), tmp_path)
    try:
        if fail_on_data_loss == "false":
            wait_until(lambda: 5 in found, query)
            assert found == {0: OLD, 5: NEW}
        else:
            wait_until(lambda: query.exception() is not None)
            assert "deleted and created again (topic id " in str(query.exception())
            assert found == {}
    finally:
        query.stop()
