"""Queries of Nexmark whose results change, over its topic: their changes lead to DuckDB's answers on the same events.

Source: the queries of Nexmark for Flink, whose sink is a table that shows the changes here; averages are DOUBLE, as Spark's.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import duckdb
import pytest

from datasources.sql import TableEnvironment
from tests.support.forms import full
from tests.support.kafka.auction_events import TABLE, VIEWS, AuctionEvents
from tests.support.spark.applied_result import AppliedResult, comparable
from tests.support.spark.scripted_stream import Running

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.usefixtures("operator_queries")]

IN_TIME = "A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires"
WINNING = (
    f"SELECT A.id, A.seller, A.category, B.price, B.`dateTime`, ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, "
    f"B.`dateTime` ASC) AS rownum FROM auction A, bid B WHERE {IN_TIME}"
)
RANKS = ", ".join(
    f"count({what}) filter (where {condition})"
    for what in ("*", "distinct bidder", "distinct auction")
    for condition in ("price < 10000", "price >= 10000 and price < 1000000", "price >= 1000000")
)
DAY = "DATE_FORMAT(`dateTime`, 'yyyy-MM-dd')"
QUERIES = {
    "q4": f"SELECT Q.category, AVG(Q.final) FROM (SELECT MAX(B.price) AS final, A.category FROM auction A, bid B "
    f"WHERE {IN_TIME} GROUP BY A.id, A.category) Q GROUP BY Q.category",
    "q6": "SELECT seller, AVG(price) FROM (SELECT seller, price, ROW_NUMBER() OVER (PARTITION BY seller ORDER BY "
    f"`dateTime` DESC, id) AS n FROM ({WINNING}) WHERE rownum <= 1) WHERE n <= 10 GROUP BY seller",
    "q9": f"SELECT id, seller, category, price, `dateTime` FROM ({WINNING}) WHERE rownum <= 1",
    "q15": f"SELECT {DAY} AS `day`, count(*), count(distinct bidder), count(distinct auction), {RANKS} FROM bid "
    f"GROUP BY {DAY}",
    "q16": f"SELECT channel, {DAY} AS `day`, max(DATE_FORMAT(`dateTime`, 'HH:mm')), count(*), count(distinct bidder), "
    f"{RANKS} FROM bid GROUP BY channel, {DAY}",
    "q17": f"SELECT auction, {DAY} AS `day`, count(*), count(*) filter (where price < 10000), min(price), max(price), "
    f"avg(price), sum(price) FROM bid GROUP BY auction, {DAY}",
    "q18": "SELECT auction, bidder, price, channel, url, `dateTime`, extra FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY "
    "bidder, auction ORDER BY `dateTime` DESC) AS rank_number FROM bid) WHERE rank_number <= 1",
    "q19": "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number FROM bid) "
    "WHERE rank_number <= 10",
    "q20": "SELECT auction, bidder, price, channel, url, B.`dateTime`, B.extra, itemName, description, initialBid, reserve, "
    "A.`dateTime`, expires, seller, category, A.extra FROM bid AS B INNER JOIN auction AS A on B.auction = A.id "
    "WHERE A.category = 10",
}

TYPES = {
    "q4": "BIGINT, DOUBLE",
    "q6": "BIGINT, DOUBLE",
    "q9": "BIGINT, BIGINT, BIGINT, BIGINT, TIMESTAMP(3)",
    "q15": "VARCHAR" + 12 * ", BIGINT",
    "q16": "VARCHAR, VARCHAR, VARCHAR" + 11 * ", BIGINT",
    "q17": "BIGINT, VARCHAR, BIGINT, BIGINT, BIGINT, BIGINT, DOUBLE, BIGINT",
    "q18": "BIGINT, BIGINT, BIGINT, VARCHAR, VARCHAR, TIMESTAMP(3), VARCHAR",
    "q19": "BIGINT, BIGINT, BIGINT, VARCHAR, VARCHAR, TIMESTAMP(3), VARCHAR, BIGINT",
    "q20": "BIGINT, BIGINT, BIGINT, VARCHAR, VARCHAR, TIMESTAMP(3), VARCHAR, VARCHAR, VARCHAR, BIGINT, BIGINT, TIMESTAMP(3), "
    "TIMESTAMP(3), BIGINT, BIGINT, VARCHAR",
}
"""The columns of the sinks."""


def applied(query: Running) -> Counter[tuple[Any, ...]]:
    """Return the rows of the sink, its changes applied."""
    table = query.spark.table(query.name)
    result = AppliedResult()
    rows = [tuple(row) for row in table.collect()]
    result.apply(rows if table.columns[0] == "row_kind" else [("+I", *row) for row in rows])
    return result.rows


def answer(events: AuctionEvents, query: str) -> Counter[tuple[Any, ...]]:
    """Return DuckDB's answer."""
    text = query.replace("`", '"')
    for pattern, of_duckdb in (("'yyyy-MM-dd'", "'%Y-%m-%d'"), ("'HH:mm'", "'%H:%M'")):
        text = text.replace(f'DATE_FORMAT("dateTime", {pattern})', f'strftime("dateTime", {of_duckdb})')
    with duckdb.connect() as connection:
        for name, table in events.tables().items():
            connection.register(name, table)
        return Counter(comparable(row) for row in connection.execute(text).fetchall())


@pytest.mark.long
@pytest.mark.parametrize("name", ["q18", *full(*(name for name in QUERIES if name != "q18"))])
def test_the_changes_of_a_query_lead_to_the_answer(spark, kafka, name):
    events, topic = AuctionEvents(random.Random(name)), kafka.create_topic(partitions=2)
    t = TableEnvironment(spark)
    t.sql(TABLE.format(topic=topic, servers=kafka.bootstrap_servers))
    for view in VIEWS:
        t.sql(view)
    sink = f"nexmark_{name}"
    columns = ", ".join(f"c{at} {kind}" for at, kind in enumerate(TYPES[name].split(", ")))
    t.sql(f"CREATE TABLE {sink} ({columns}) WITH ('connector' = 'memory')")
    query = Running(t.sql(f"INSERT INTO {sink} {QUERIES[name]}").query, sink, spark)
    try:
        for _ in range(3):
            for at, record in enumerate(events.add(60)):
                kafka.produce(topic, at % 2, [(None, record, 1)])
            expected = answer(events, QUERIES[name])
            query.wait_for(lambda found, expected=expected: applied(found) == expected, deadline_s=120)
        query.drain()
        assert applied(query) == expected
    finally:
        query.query.stop()
    assert (spark.table(sink).columns[0] == "row_kind") == (name != "q20")
