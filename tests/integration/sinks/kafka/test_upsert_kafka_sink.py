"""A topic of upserts that is kept equal to the result of a query whose rows change."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from datasources.changelog.net_actions import DELETE_COLUMN
from datasources.errors import SqlError
from datasources.sinks.change_sink import SinkTable
from datasources.sinks.kafka.upsert_kafka_sink import UpsertKafkaSink
from datasources.sql import TableEnvironment
from tests.support.forms import full
from tests.support.mysql.mysql_changing_tables import ChangingShop
from tests.support.mysql.mysql_killed_copies import run_with_kills
from tests.support.spark.applied_result import comparable
from tests.support.spark.recording import QueryDirectory

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.usefixtures("operator_queries")]

COLUMNS = (
    "id INT, customer INT, ref DECIMAL(20,0), price DECIMAL(12,2), weight DOUBLE, city STRING, placed TIMESTAMP(6), "
    "`day` DATE, PRIMARY KEY (id) NOT ENFORCED"
)
STATEMENTS = {
    "copy": (COLUMNS, "SELECT * FROM orders"),
    "totals": (
        "customer INT, orders BIGINT, turnover DECIMAL(22,2), PRIMARY KEY (customer) NOT ENFORCED",
        "SELECT customer, count(*), sum(price) FROM orders WHERE customer IS NOT NULL GROUP BY customer",
    ),
}


def upsert_table(server, topic: str, name: str, columns: str, /, **changes: str) -> str:
    given = {
        "connector": "upsert-kafka",
        "properties.bootstrap.servers": server.bootstrap_servers,
        "topic": topic,
        "key.format": "json",
        "value.format": "json",
        **changes,
    }
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    return f"CREATE TABLE {name} ({columns}) WITH ({listed})"


@pytest.fixture
def batch(spark) -> TableEnvironment:
    environment = TableEnvironment(spark)
    environment.sql("SET 'execution.runtime-mode' = 'batch'")
    return environment


TYPES = {
    "flag": ("BOOLEAN", "true"),
    "small": ("SMALLINT", "CAST(-32768 AS SMALLINT)"),
    "long_": ("BIGINT", "9223372036854775807"),
    "exact": ("DECIMAL(38,18)", "CAST('12345678901234567890.000000000000000001' AS DECIMAL(38,18))"),
    "tiny_": ("DECIMAL(20,10)", "CAST('-0.0000000001' AS DECIMAL(20,10))"),
    "real_": ("FLOAT", "CAST(0.1 AS FLOAT)"),
    "double_": ("DOUBLE", "1.7976931348623157E308D"),
    "text_": ("STRING", "concat('it\"s ', chr(10), '😀')"),
    "bytes_": ("BYTES", "X'00FF'"),
    "day_": ("DATE", "DATE '0044-03-15'"),
    "at": ("TIMESTAMP(6)", "TIMESTAMP_NTZ '2026-10-25 02:30:00.123456'"),
    "instant_": ("TIMESTAMP_LTZ(6)", "TIMESTAMP_LTZ '2026-10-25 02:30:00.123456 Europe/Oslo'"),
    "list_": ("ARRAY<STRING>", "array('a', NULL)"),
    "map_": ("MAP<STRING, INT>", "map('a', 1)"),
    "row_": ("ROW<a INT, b TIMESTAMP(3)>", "named_struct('a', 1, 'b', TIMESTAMP_NTZ '2026-01-01 00:00:00.5')"),
    "null_": ("STRING", "CAST(NULL AS STRING)"),
}


@pytest.mark.parametrize("included", ["ALL", pytest.param("EXCEPT_KEY", marks=pytest.mark.long)])
def test_each_type_is_read_back_as_it_was(batch, kafka, included):
    topic = kafka.create_topic(partitions=2)
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in TYPES.items())
    declared = f"id INT, key2 STRING, {columns}, PRIMARY KEY (id, key2) NOT ENFORCED"
    batch.sql(upsert_table(kafka, topic, "target", declared, **{"value.fields-include": included}))
    values = ", ".join(value for _, value in TYPES.values())
    batch.sql(f"INSERT INTO target SELECT 1, 'k', {values}")
    assert batch.sql("SELECT * FROM target").collect() == batch.sql(f"SELECT 1, 'k', {values}").collect()


def test_a_delete_is_a_tombstone_of_the_same_key(spark, batch, kafka):
    topic = kafka.create_topic(partitions=3)
    batch.sql(upsert_table(kafka, topic, "target", "id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED"))
    batch.sql("INSERT INTO target SELECT CAST(id AS INT), 'v' FROM range(20)")
    assert batch.sql("SELECT count(*) FROM target").head()[0] == 20
    gone = spark.sql(f"SELECT true AS {DELETE_COLUMN}, CAST(id AS INT) AS id, CAST(NULL AS STRING) AS v FROM range(5)")
    options = {
        "properties.bootstrap.servers": kafka.bootstrap_servers,
        "topic": topic,
        "key.format": "json",
        "value.format": "json",
    }
    schema = gone.drop(DELETE_COLUMN).schema
    UpsertKafkaSink(spark, SinkTable(name="target", schema=schema, key=["id"], options=options)).apply(gone, None)
    assert batch.sql("SELECT count(*), min(id) FROM target").head() == (15, 5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topic": "absent"}, r"have no topic 'absent'.*Create it first, with cleanup.policy=compact"),
        ({"value.format": "debezium-json"}, r"option 'value.format' = 'debezium-json': the sink writes 'json'"),
        ({"sink.parallelism": "2"}, r"option 'sink.parallelism' has no use here"),
        ({"properties.plugin.library.paths": "/x.so"}, r"option 'kafka.plugin.library.paths' loads libraries"),
    ],
)
def test_what_is_no_topic_of_upserts_is_refused_when_planned(batch, kafka, changes, message):
    columns = "id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED"
    batch.sql(upsert_table(kafka, kafka.create_topic(), "target", columns, **changes))
    with pytest.raises(SqlError, match=rf"line 1, column 13: table 'target': .*{message}"):
        batch.sql("INSERT INTO target SELECT 1, 'a'")


def test_records_that_the_brokers_refuse_are_an_error(batch, kafka):
    topic = kafka.create_topic(config={"max.message.bytes": "1000"})
    batch.sql(upsert_table(kafka, topic, "target", "id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED"))
    with pytest.raises(Exception, match=rf"TIDEMARK_SOURCE_UNAVAILABLE\].*writing to '{topic}'.*MSG_SIZE_TOO_LARGE"):
        batch.sql("INSERT INTO target SELECT 1, repeat('x', 5000)")


@pytest.mark.mysql
@pytest.mark.timeout(1_500)
@pytest.mark.parametrize("kills", full(1, 20))
@pytest.mark.parametrize("name", [pytest.param("copy", marks=pytest.mark.full), "totals"])
def test_the_topic_is_equal_though_the_driver_is_killed(batch, kafka, mysql, tmp_path: Path, *, name, kills):
    shop = ChangingShop(mysql, random.Random(20_263))
    shop.create()
    columns, statement = STATEMENTS[name]
    topic = kafka.create_topic(partitions=3)
    recording = QueryDirectory(tmp_path / "query").create()
    kept = {"checkpointLocation": str(recording.checkpoint)}
    script = [
        shop.declaration("orders", scan__max_rows_per_batch="20"),
        upsert_table(kafka, topic, "target", columns, **kept),
        f"INSERT INTO target {statement}",
    ]
    run_with_kills(shop, recording, script, kills=kills)
    batch.sql(upsert_table(kafka, topic, "target", columns))
    assert Counter(map(comparable, batch.sql("SELECT * FROM target").collect())) == shop.answer(statement)
