"""States with a TTL on Spark: which keys begin anew, what stays in the state, and what is refused."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from datasources import changelog
from datasources.changelog import latest_changes
from datasources.errors import QueryError, SqlError
from datasources.source.reading.row_blobs import from_blob
from datasources.sql import TableEnvironment
from tests.support.spark.applied_result import RowsByKey
from tests.support.spark.scripted_stream import Scripts, running

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("operator_queries")]

START = 1_000_000
"""Seconds since the epoch."""


@pytest.fixture
def scripts(tmp_path) -> Scripts:
    return Scripts(tmp_path / "scripts")


def generated(seed: int) -> list[list[tuple[float, str, str]]]:
    """Rows of twelve keys in two splits, in three parts; the keys come back after gaps of every length."""
    random_ = random.Random(seed)
    rows = []
    for key in range(12):
        time = random_.randrange(60)
        for number in range(random_.randrange(1, 8)):
            rows.append((START + time, f"k{key}", f"{number}"))
            time += random_.choice([1, 10, 39, 40, 41, 61, 400])
    rows.sort()
    third = len(rows) // 3 + 1
    return [rows[at : at + third] for at in range(0, len(rows), third)]


def expected(rows: list[tuple[float, str, str]]) -> dict[str, tuple[str, int, int]]:
    """Rows and different values of each key since its last gap."""
    found: dict[str, list[tuple[float, str]]] = {}
    for time, key, value in sorted(rows):
        part = found.setdefault(key, [])
        if part and time - part[-1][0] > 40:
            part.clear()
        part.append((time, value))
    return {key: (key, len(part), len({value for _, value in part})) for key, part in found.items()}


def test_a_sink_with_a_key_has_the_newest_row_of_a_key_that_came_back(spark, scripts, tmp_path):
    """Also where a batch has the row of before the pause, and that one replaced another."""
    found: dict[str, int] = {}

    def merge(df, number):
        actions = latest_changes(df, ["k"], is_result=True).select("row_kind", "k", "n")
        for kind, key, count in map(tuple, actions.collect()):
            assert kind == "upsert"
            found[key] = count

    for rows in (
        [(START, "a", "")],
        [(START + 5, "a", ""), (START + 300, "a", "")],
        [(START + 310, "b", ""), (START + 311, "b", ""), (START + 400, "z", ""), (START + 700, "b", "")],
    ):
        scripts.append("s", *rows)
        frame = changelog.aggregate(scripts.stream(spark), ["k"], {"n": "count(*)"}, state_ttl="40 s")
        with running(frame, for_each=merge, checkpoint=tmp_path / "c", trigger={"availableNow": True}) as query:
            query.query.awaitTermination()
    assert found == {"a": 1, "b": 1, "z": 1}


@pytest.mark.parametrize("at_once", [True, False], ids=["one batch", "three batches"])
def test_a_key_begins_anew_after_its_ttl_however_batches_fall(spark, scripts, tmp_path, at_once):
    parts, result = generated(3), RowsByKey()
    for number, part in enumerate(parts):
        for row in part:
            scripts.append(f"s{int(row[1][1:]) % 2}", row)
        if number == len(parts) - 1 or not at_once:
            frame = changelog.aggregate(
                scripts.stream(spark), ["k"], {"n": "count(*)", "d": "count(DISTINCT v)"}, state_ttl="40 s"
            )
            with running(frame, for_each=result, checkpoint=tmp_path / "c", trigger={"availableNow": True}) as query:
                query.query.awaitTermination()
    assert result.rows == expected([row for part in parts for row in part])


def test_the_state_of_idle_keys_is_dropped(spark, scripts, tmp_path):
    frame = changelog.aggregate(scripts.stream(spark), ["k"], {"n": "count(*)"}, state_ttl="40 s")
    with running(frame, for_each=RowsByKey(), checkpoint=tmp_path / "c") as query:
        for number in range(6):
            scripts.append("s", *[(START + 200 * number + at, f"k{number}_{at}", "") for at in range(30)])
            query.drain()
    assert 30 <= stored_rows(spark, tmp_path / "c", "times") < 6 * 30
    assert 30 <= stored_rows(spark, tmp_path / "c", "groups") < 6 * 30


def stored_rows(spark, checkpoint: Path, name: str) -> int:
    """How many rows the pages of a state have."""
    pages = spark.read.format("statestore").option("path", str(checkpoint)).option("stateVarName", name).load()
    return sum(from_blob(page.part).num_rows for (page,) in pages.select("user_map_value").collect())


def test_a_ttl_needs_a_watermark(spark, scripts):
    plain = scripts.stream(spark, {"watermark.for": "ts"}).selectExpr("k", "v")
    with pytest.raises(QueryError, match=r"state_ttl is measured in event time, and 'table' has no watermark"):
        changelog.aggregate(plain, ["k"], {"n": "count(*)"}, state_ttl="1 d")


BIDS = (
    "CREATE TABLE bids (auction INT, price INT, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', PRIMARY KEY (auction) NOT "
    "ENFORCED, WATERMARK FOR ts AS ts) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = "
    "'localhost:1', 'topic' = 'bids', 'key.format' = 'json', 'value.format' = 'json')"
)


@pytest.fixture
def t(spark) -> TableEnvironment:
    environment = TableEnvironment(spark)
    environment.sql(BIDS)
    environment.sql(BIDS.replace("bids", "asks"))
    environment.sql(BIDS.replace("bids", "plain").replace(", WATERMARK FOR ts AS ts", ""))
    environment.sql("SET 'table.exec.state.ttl' = '1 d'")
    return environment


def explained(t: TableEnvironment, statement: str) -> list[str]:
    """The operators that have a TTL, with it."""
    text = str(t.sql(f"EXPLAIN {statement}").rows[0][0])
    lines = text[text.index("== Changes ==") : text.index("== Spark ==")].splitlines()
    return [
        f"{line.strip(' :+-').split()[0]} {line.split('stateTtl=')[1].split(']')[0]}]"
        for line in lines
        if "Ttl" in line
    ]


SHOWN = {
    "SELECT price, count(*) FROM bids GROUP BY price": ["Aggregate [1 d]"],
    "SELECT /*+ STATE_TTL('bids' = '90 min') */ price, count(*) FROM bids GROUP BY price": ["Aggregate [90 min]"],
    "SELECT /*+ STATE_TTL('b' = '0') */ price, count(*) FROM bids b GROUP BY price": [],
    "SELECT count(*), count(DISTINCT price) FROM bids": [],
    "SELECT auction FROM bids ORDER BY price LIMIT 3": [],
    "SELECT /*+ STATE_TTL('b' = '2 d', 'a' = '3 h') */ b.price FROM bids b JOIN asks a ON a.auction = b.auction "
    "AND a.price < b.price": ["Join [2 d]"],
    "SELECT b.price FROM bids b LEFT JOIN asks a ON a.auction = b.auction": ["Join [1 d]"],
    "SELECT b.price FROM bids b LEFT JOIN asks a ON a.auction = b.auction AND a.price < b.price": [],
    "SELECT /*+ STATE_TTL('x' = '2 d') */ p, count(*) FROM (SELECT price AS p FROM bids) x GROUP BY p": [
        "Aggregate [2 d]"
    ],
    "SELECT price, auction FROM (SELECT *, row_number() OVER (PARTITION BY price ORDER BY auction) AS n FROM bids) "
    "WHERE n = 1": ["Rank [1 d]"],
    "SELECT n, count(*) FROM (SELECT price, count(*) AS n FROM bids GROUP BY price) GROUP BY n": [
        "Aggregate [1 d]",
        "Aggregate [1 d]",
    ],
}


@pytest.mark.parametrize("statement", SHOWN)
def test_explain_shows_which_states_forget(t, statement):
    assert explained(t, statement) == SHOWN[statement]


REFUSED = {
    "SELECT price, count(*) FROM plain GROUP BY price": "table 'plain' has no watermark that its source makes",
    "SELECT /*+ STATE_TTL('bid' = '1 d') */ count(*) FROM bids": "STATE_TTL names 'bid', and this FROM has bids",
    "SELECT /*+ STATE_TTL('bids' = 'long') */ count(*) FROM bids": "'long' is not a duration",
    "SELECT /*+ STATE_TTL(bids = '1 d') */ count(*) FROM bids": "'bids' is not expected in a hint",
    "SELECT /*+ COALESCE(1), STATE_TTL('bids' = '1 d') */ count(*) FROM bids": "a hint of its own",
    "SELECT x.n FROM (SELECT price, count(*) AS n FROM bids GROUP BY price) x JOIN asks a ON a.price = x.price": "a GROUP "
    "BY, DISTINCT or set operation below a join",
    "SELECT price, count(DISTINCT auction), sum(DISTINCT auction % 2) FROM bids GROUP BY price": "several different DISTINCT "
    "aggregates, with a TTL",
    "SELECT price, n FROM (SELECT *, row_number() OVER (ORDER BY n DESC) AS r FROM (SELECT price, count(*) AS n FROM bids "
    "GROUP BY price)) WHERE r <= 3": "a GROUP BY, DISTINCT or set operation below a ranking",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_what_a_ttl_cannot_be_for_is_refused_with_a_reason(t, statement):
    with pytest.raises((QueryError, SqlError), match=REFUSED[statement]):
        t.sql(statement)


def test_a_hint_without_effect_is_refused(t):
    t.sql(
        BIDS.replace("bids", "stream")
        .replace("PRIMARY KEY (auction) NOT ENFORCED, ", "")
        .replace("upsert-kafka", "kafka")
        .replace("'key.format' = 'json', 'value.format'", "'format'")
    )
    with pytest.raises(SqlError, match="STATE_TTL of 'stream' has no effect"):
        t.sql("SELECT /*+ STATE_TTL('stream' = '1 d') */ auction FROM stream")
    t.sql(
        "SELECT /*+ STATE_TTL('stream' = '1 d') */ auction, count(*) OVER (PARTITION BY auction ORDER BY ts ROWS BETWEEN "
        "2 PRECEDING AND CURRENT ROW) AS n FROM stream"
    )
