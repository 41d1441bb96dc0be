"""A table of MySQL that is kept equal to the result of a query whose rows change."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from datasources.changelog.net_actions import DELETE_COLUMN
from datasources.errors import DataLossError, OptionError, RecordError, SqlError
from datasources.sinks.batch_writer import BatchWriter
from datasources.sinks.change_sink import BatchNumber, SinkTable
from datasources.sinks.mysql.mysql_sink import MySqlSink
from datasources.sql import TableEnvironment
from tests.support.forms import full
from tests.support.mysql.mysql_changing_tables import ChangingShop
from tests.support.mysql.mysql_killed_copies import run_with_kills
from tests.support.mysql.mysql_server import newest_first
from tests.support.mysql.mysql_sinks import jdbc_table
from tests.support.spark.applied_result import comparable
from tests.support.spark.recording import QueryDirectory
from tests.support.spark.scripted_stream import DEADLINE_S, Scripts, process_all

pytestmark = [
    pytest.mark.spark,
    pytest.mark.mysql,
    pytest.mark.slow,
    pytest.mark.usefixtures("operator_queries"),
]

COPY = (
    "id INT, customer INT, ref DECIMAL(20,0), price DECIMAL(12,2), weight DOUBLE, city STRING, placed TIMESTAMP(6), "
    "`day` DATE, PRIMARY KEY (id) NOT ENFORCED"
)
TOTALS = "customer INT, orders BIGINT, turnover DECIMAL(22,2), PRIMARY KEY (customer) NOT ENFORCED"
OF_TOTALS = "SELECT customer, count(*), sum(price) FROM orders WHERE customer IS NOT NULL GROUP BY customer"
STATEMENTS = {
    "copy": ("CREATE TABLE {} LIKE orders", COPY, "SELECT * FROM orders"),
    "totals": (
        "CREATE TABLE {} (customer INT PRIMARY KEY, orders BIGINT, turnover DECIMAL(22,2))",
        TOTALS,
        OF_TOTALS,
    ),
}


@pytest.fixture
def shop(mysql) -> ChangingShop:
    shop = ChangingShop(mysql, random.Random(20_261))
    shop.create()
    return shop


@pytest.fixture
def t(spark, tmp_path) -> TableEnvironment:
    environment = TableEnvironment(spark)
    environment.sql(f"SET 'execution.checkpointing.dir' = '{tmp_path / 'checkpoints'}'")
    return environment


@pytest.fixture
def batch(t) -> TableEnvironment:
    """A session whose queries are no streams."""
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    return t


def wait_until(condition: Callable[[], bool]) -> None:
    pause, ends_at = threading.Event(), time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < ends_at
        pause.wait(0.1)


def rows_of(shop: ChangingShop, table: str) -> Counter:
    return shop.answer(f"SELECT * FROM {table}")


@pytest.mark.long
@newest_first
def test_a_table_is_kept_equal_to_a_query_while_its_tables_change(t, shop, tmp_path):
    t.sql(shop.declaration("orders"))
    queries = {}
    for name, (definition, columns, statement) in STATEMENTS.items():
        shop.execute(definition.format(name))
        t.sql(jdbc_table(shop.server, shop.database, name, columns))
        queries[name] = t.sql(f"INSERT INTO {name} {statement}").query
    with shop.changing():
        wait_until(lambda: all((query.lastProgress or {"batchId": 0})["batchId"] >= 4 for query in queries.values()))
    for name, query in queries.items():
        wanted = shop.answer(STATEMENTS[name][2])
        process_all(query)
        wait_until(lambda name=name, wanted=wanted: rows_of(shop, name) == wanted)
        assert shop.execute_rows(f"SELECT target FROM _tidemark_batches WHERE query = '{query.id}'") == [(name,)]
        query.stop()
    kept = [path.read_bytes() for path in (tmp_path / "checkpoints").rglob("*") if path.is_file()]
    assert len(kept) > len(queries)
    assert not any(shop.server.administrator.password.encode() in each for each in kept)


@pytest.mark.long
def test_groups_of_a_stream_that_only_grows_are_upserts(t, shop, tmp_path):
    scripts = Scripts(tmp_path / "scripts", schema="k STRING, v INT")
    scripts.append("0", {"k": "a", "v": 1}, {"k": "b", "v": 2})
    t.sql(f"CREATE TABLE events (k STRING, v INT) WITH ('connector' = 'scripted', 'path' = '{scripts.directory}')")
    shop.execute("CREATE TABLE sums (k VARCHAR(9) COLLATE utf8mb4_bin PRIMARY KEY, n BIGINT)")
    t.sql(jdbc_table(shop.server, shop.database, "sums", "k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED"))
    query = t.sql("INSERT INTO sums SELECT k, sum(v) FROM events GROUP BY k").query
    process_all(query)
    assert rows_of(shop, "sums") == Counter([("a", 1), ("b", 2)])
    scripts.append("0", {"k": "a", "v": 10})
    process_all(query)
    assert rows_of(shop, "sums") == Counter([("a", 11), ("b", 2)])
    query.stop()


TYPES = {
    "flag": ("BOOLEAN", "TINYINT(1)", "true"),
    "bit_": ("BOOLEAN", "BIT(1)", "false"),
    "tiny": ("TINYINT", "TINYINT", "CAST(-128 AS TINYINT)"),
    "tiny_u": ("SMALLINT", "TINYINT UNSIGNED", "CAST(255 AS SMALLINT)"),
    "medium": ("INT", "MEDIUMINT", "8388607"),
    "big_u": ("DECIMAL(20,0)", "BIGINT UNSIGNED", "18446744073709551615BD"),
    "long_": ("BIGINT", "DECIMAL(19,0)", "-9223372036854775808"),
    "small_d": ("DECIMAL(38,30)", "DECIMAL(38,30)", "CAST('-0.000000000000000000000000000123' AS DECIMAL(38,30))"),
    "single": ("FLOAT", "FLOAT", "CAST(0.1 AS FLOAT)"),
    "single_d": ("FLOAT", "DOUBLE", "CAST(0.1 AS FLOAT)"),
    "double_": ("DOUBLE", "DOUBLE", "1.7976931348623157E308D"),
    "text_": ("STRING", "VARCHAR(60)", r"concat('it''s \\ \" ', chr(0), ' åß 😀')"),
    "long_text": ("STRING", "LONGTEXT", "repeat('ab''', 20000)"),
    "json_": ("STRING", "JSON", "'{\"a\": \"it''s\"}'"),
    "bytes_": ("BYTES", "VARBINARY(9)", "X'00FF27'"),
    "no_bytes": ("BYTES", "BLOB", "X''"),
    "day_": ("DATE", "DATE", "DATE '0044-03-15'"),
    "at": ("TIMESTAMP(6)", "DATETIME(6)", "TIMESTAMP_NTZ '2026-10-25 02:30:00.123456'"),
    "at_s": ("TIMESTAMP(0)", "DATETIME", "TIMESTAMP_NTZ '1969-12-31 23:59:59'"),
    "instant_": ("TIMESTAMP_LTZ(6)", "TIMESTAMP(6)", "TIMESTAMP_LTZ '2026-10-25 02:30:00.123456 Europe/Oslo'"),
}


@newest_first
def test_each_type_is_stored_as_it_is(batch, shop):
    columns = ", ".join(f"{name} {kind} NULL" for name, (_, kind, _) in TYPES.items())
    shop.execute(f"CREATE TABLE types_ (id INT PRIMARY KEY AUTO_INCREMENT, {columns}) CHARACTER SET utf8mb4")
    declared = ", ".join(f"{name} {kind}" for name, (kind, _, _) in TYPES.items())
    batch.sql(jdbc_table(shop.server, shop.database, "types_", f"id INT, {declared}, PRIMARY KEY (id) NOT ENFORCED"))
    given, nothing = ", ".join(value for _, _, value in TYPES.values()), ", ".join(["NULL"] * len(TYPES))
    batch.sql(f"INSERT INTO types_ SELECT 0, {given} UNION ALL SELECT 1, {nothing}")
    read = dict.fromkeys(TYPES, "{}") | {
        "bit_": "{} + 0",
        "double_": "{} = 1.7976931348623157E308",
        "single": "CAST({} AS DOUBLE) = CAST(CAST(0.1 AS FLOAT) AS DOUBLE)",
        "single_d": "{} = 0.10000000149011612",
        "text_": "HEX({})",
        "long_text": "{} = REPEAT('ab''', 20000)",
        "json_": "JSON_UNQUOTE(JSON_EXTRACT({}, '$.a'))",
        "bytes_": "HEX({})",
        "no_bytes": "HEX({})",
        "small_d": "CAST({} AS CHAR)",
        "day_": "CAST({} AS CHAR)",
        "at": "CAST({} AS CHAR)",
        "at_s": "CAST({} AS CHAR)",
        "instant_": "CAST(UNIX_TIMESTAMP({}) AS CHAR)",
    }
    chosen = ", ".join(text.format(name) for name, text in read.items())
    (zero, *values), (one, *nulls) = shop.execute_rows(f"SELECT id, {chosen} FROM types_ ORDER BY id")
    assert (zero, one, set(nulls)) == (0, 1, {None})
    assert dict(zip(read, values, strict=True)) == {
        "flag": 1,
        "bit_": 0,
        "tiny": -128,
        "tiny_u": 255,
        "medium": 8388607,
        "big_u": 2**64 - 1,
        "long_": -(2**63),
        "small_d": "-0.000000000000000000000000000123",
        "single": 1,
        "single_d": 1,
        "double_": 1,
        "text_": "it's \\ \" \0 åß 😀".encode().hex().upper(),
        "long_text": 1,
        "json_": "it's",
        "bytes_": "00FF27",
        "no_bytes": "",
        "day_": "0044-03-15",
        "at": "2026-10-25 02:30:00.123456",
        "at_s": "1969-12-31 23:59:59",
        "instant_": "1792888200.123456",
    }


KEYS = {
    "whole": ("INT, b BIGINT UNSIGNED", "1, CAST(2 AS DECIMAL(20,0))", "a + 1, b"),
    "text": ("VARCHAR(9) COLLATE utf8mb4_bin, b CHAR(3) COLLATE utf8mb4_bin", "'it''s', 'A'", "UPPER(a), b"),
    "time": (
        "DATETIME(6), b DATE",
        "TIMESTAMP_NTZ '2026-01-01 00:00:00.5', DATE '2026-01-01'",
        "a, b + INTERVAL 1 DAY",
    ),
    "bytes": ("VARBINARY(9), b DECIMAL(30,20)", "X'00', CAST('0.00000000000000000001' AS DECIMAL(30,20))", "a, b + 1"),
    "float": ("DOUBLE, b TIMESTAMP(6)", "0.1D, TIMESTAMP_LTZ '2026-01-01 00:00:00.000001Z'", "a + 1, b"),
}
"""Columns of a key, its values, and another key that differs in one of them."""


@pytest.mark.parametrize("kind", KEYS)
def test_a_delete_finds_the_row_of_its_key_alone(spark, shop, kind):
    columns, values, another = KEYS[kind]
    shop.execute(f"CREATE TABLE target (a {columns}, v INT, PRIMARY KEY (a, b))")
    rows = spark.sql(f"SELECT false AS {DELETE_COLUMN}, a, b, 1 AS v FROM VALUES ({values}) AS t(a, b)")
    sink = sink_of(shop, rows, "target", ["a", "b"])
    sink.apply(rows, BatchNumber(query="q", number=0))
    shop.execute(f"INSERT INTO target SELECT {another}, 2 FROM target")
    gone = rows.selectExpr(f"true AS {DELETE_COLUMN}", "a", "b", "CAST(NULL AS INT) AS v")
    sink.apply(gone, BatchNumber(query="q", number=1))
    assert shop.execute_rows("SELECT v FROM target") == [(2,)]


def sink_of(shop: ChangingShop, rows, table: str, key: list[str]) -> MySqlSink:
    login = shop.server.administrator
    options = {
        "url": f"jdbc:mysql://{login.host}:{login.port}/{shop.database}",
        "table-name": table,
        "username": login.user,
        "password": login.password,
    }
    sink = MySqlSink(SinkTable(name=table, schema=rows.drop(DELETE_COLUMN).schema, key=key, options=options))
    sink.check()
    return sink


def test_a_batch_is_applied_once_whoever_writes_it_again(spark, shop):
    shop.execute("CREATE TABLE target (k INT PRIMARY KEY, v INT)")
    rows = spark.sql(f"SELECT false AS {DELETE_COLUMN}, 1 AS k, 10 AS v")
    first, second = (sink_of(shop, rows, "target", ["k"]) for _ in range(2))
    other = rows.selectExpr(DELETE_COLUMN, "k", "v + 1 AS v")
    first.apply(rows, BatchNumber(query="q", number=3))
    second.apply(other, BatchNumber(query="q", number=3))
    with pytest.raises(DataLossError, match=r"batch 2, and table .*target.* has its batches up to 3.*older"):
        second.apply(other, BatchNumber(query="q", number=2))
    assert shop.execute_rows("SELECT v FROM target") == [(10,)]
    second.apply(other, BatchNumber(query="q", number=4))
    assert shop.execute_rows("SELECT v FROM target") == [(11,)]
    first.apply(rows, BatchNumber(query="another", number=0))
    assert shop.execute_rows("SELECT v FROM target") == [(10,)]


def test_a_batch_with_a_row_that_is_refused_is_not_written_in_part(spark, shop):
    shop.execute("CREATE TABLE target (k INT PRIMARY KEY, v INT CHECK (v < 5))")
    rows = spark.sql(f"SELECT false AS {DELETE_COLUMN}, CAST(id AS INT) AS k, CAST(id AS INT) AS v FROM range(6)")
    sink = sink_of(shop, rows, "target", ["k"])
    with pytest.raises(RecordError, match=r"refused a row while writing batch 0 into .*target at .*violated"):
        sink.apply(rows, BatchNumber(query="q", number=0))
    assert shop.execute_rows("SELECT k FROM target") == []
    shop.execute("ALTER TABLE target DROP CHECK target_chk_1")
    sink.apply(rows, BatchNumber(query="q", number=0))
    assert len(shop.execute_rows("SELECT k FROM target")) == 6


def test_a_batch_larger_than_the_driver_takes_at_once_is_written(spark, shop, monkeypatch):
    monkeypatch.setattr("datasources.sinks.driver_rows._DRIVER_CHARACTERS", 1_000)
    shop.execute("CREATE TABLE target (k INT PRIMARY KEY, v VARCHAR(40))")
    rows = spark.sql(f"SELECT false AS {DELETE_COLUMN}, CAST(id AS INT) AS k, repeat('x', 40) AS v FROM range(20000)")
    sink_of(shop, rows, "target", ["k"]).apply(rows, BatchNumber(query="q", number=0))
    assert shop.execute_rows("SELECT count(*), sum(length(v)) FROM target") == [(20_000, 800_000)]


def test_a_lock_that_another_transaction_has_is_waited_for(spark, shop):
    shop.execute("CREATE TABLE target (k INT PRIMARY KEY, v INT)", "INSERT INTO target VALUES (1, 0)")
    rows = spark.sql(f"SELECT false AS {DELETE_COLUMN}, 1 AS k, 10 AS v")
    sink = sink_of(shop, rows, "target", ["k"])
    with shop.server.settings(innodb_lock_wait_timeout=1):
        blocking = shop.server.connect(database=shop.database, autocommit=False)
        with blocking.cursor() as cursor:
            cursor.execute("UPDATE target SET v = 5")
        threading.Timer(3, blocking.close).start()  # rolls back
        sink.apply(rows, BatchNumber(query="q", number=0))
    assert shop.execute_rows("SELECT v FROM target") == [(10,)]


REFUSED_TARGETS = {
    "no table": ("CREATE TABLE targets (k INT PRIMARY KEY)", "k INT", r"has no table 'target'.* Did you mean 'targets'"),
    "a view": ("CREATE VIEW target AS SELECT 1 AS k", "k INT", r"no table but a VIEW"),
    "no transactions": ("CREATE TABLE target (k INT PRIMARY KEY) ENGINE = MyISAM", "k INT", r"ENGINE = InnoDB"),
    "no column": ("CREATE TABLE target (k INT PRIMARY KEY)", "k INT, v INT", r"has no column 'v'.*It has k"),
    "a column too many": ("CREATE TABLE target (k INT PRIMARY KEY, v INT NOT NULL)", "k INT", r"'v' is NOT NULL without a"),
    "no key": ("CREATE TABLE target (k INT, j INT, PRIMARY KEY (k, j))", "k INT, j INT", r"no unique key of exactly"),
    "another key": ("CREATE TABLE target (k INT PRIMARY KEY, v INT UNIQUE)", "k INT, v INT", r"another unique key, 'v'"),
    "part of a text": ("CREATE TABLE target (k VARCHAR(9) NOT NULL, UNIQUE (k(3)))", "k STRING", r"no unique key of exactly"),
    "case": ("CREATE TABLE target (k VARCHAR(9) PRIMARY KEY) COLLATE utf8mb4_general_ci", "k STRING", r"COLLATE utf8mb4_0900_bin"),
    "generated": ("CREATE TABLE target (k INT PRIMARY KEY, v INT AS (k + 1))", "k INT, v INT", r"generated by the server"),
    "INT of BIGINT": ("CREATE TABLE target (k INT PRIMARY KEY)", "k BIGINT", r"BIGINT.*is INT, which does not take"),
    "DECIMAL": ("CREATE TABLE target (k INT PRIMARY KEY, v DECIMAL(9,2))", "k INT, v DECIMAL(9,3)", r"DECIMAL\(9,2\)"),
    "rounded": ("CREATE TABLE target (k INT PRIMARY KEY, v DOUBLE(9,2))", "k INT, v DOUBLE", r"DOUBLE, without digits"),
    "instant": ("CREATE TABLE target (k INT PRIMARY KEY, v DATETIME)", "k INT, v TIMESTAMP_LTZ(3)", r"It goes into TIMESTAMP\(6\)"),
    "list": ("CREATE TABLE target (k INT PRIMARY KEY, v JSON)", "k INT, v ARRAY<INT>", r"to_json\(\)"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED_TARGETS)
def test_a_target_that_would_not_hold_the_rows_is_refused_when_planned(batch, shop, name):
    definition, columns, message = REFUSED_TARGETS[name]
    shop.execute(definition)
    batch.sql(jdbc_table(shop.server, shop.database, "target", f"{columns}, PRIMARY KEY (k) NOT ENFORCED"))
    nothing = ", ".join(["NULL"] * len(columns.replace("(9,3)", "").split(",")))
    with pytest.raises(SqlError, match=rf"line 1, column 13: table 'target': .*{message}") as raised:
        batch.sql(f"INSERT INTO target SELECT {nothing}")
    assert shop.server.administrator.password not in str(raised.value)


def test_another_unique_key_may_be_a_number_that_the_server_gives(batch, shop):
    shop.execute("CREATE TABLE target (n INT PRIMARY KEY AUTO_INCREMENT, k INT NOT NULL UNIQUE, v INT)")
    batch.sql(jdbc_table(shop.server, shop.database, "target", "k INT, v INT, PRIMARY KEY (k) NOT ENFORCED"))
    batch.sql("INSERT INTO target VALUES (5, 1), (6, 2)")
    batch.sql("INSERT INTO target VALUES (5, 7)")
    assert rows_of(shop, "target") == Counter([(1, 5, 7), (2, 6, 2)])


REFUSED_VALUES = {
    "NaN": ("1, 'a', DOUBLE('NaN'), NULL", r"'d' is NaN or infinite"),
    "long": ("1, 'abcd', 1D, NULL", r"'s' is longer than 3 characters"),
    "digits": ("1, 'a', 1D, TIMESTAMP_NTZ '2026-01-01 00:00:00.1234'", r"'at' has more than the 3 digits of a second"),
    "no key": ("CAST(NULL AS INT), 'a', 1D, NULL", r"the column 'k' is NULL in a row for table 'target'.*coalesce"),
    "two rows": ("1, explode(array('a', 'b')), 1D, NULL", r'two different rows of table .* the key \{"k":1\}'),
    "not null": ("1, NULL, 1D, NULL", r"refused a row while writing .*'s' cannot be null"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED_VALUES)
def test_a_value_that_would_be_stored_as_another_is_refused(batch, shop, name):
    values, message = REFUSED_VALUES[name]
    shop.execute("CREATE TABLE target (k INT PRIMARY KEY, s VARCHAR(3) NOT NULL, d DOUBLE, at DATETIME(3))")
    columns = "k INT, s STRING, d DOUBLE, at TIMESTAMP(6), PRIMARY KEY (k) NOT ENFORCED"
    batch.sql(jdbc_table(shop.server, shop.database, "target", columns))
    with pytest.raises(Exception, match=rf"(?s)TIDEMARK_RECORD\].*{message}"):
        batch.sql(f"INSERT INTO target SELECT {values}")
    assert rows_of(shop, "target") == Counter()


def test_rows_of_one_key_that_are_equal_are_one(batch, shop):
    shop.execute("CREATE TABLE target (k INT PRIMARY KEY, d DOUBLE)")
    batch.sql(jdbc_table(shop.server, shop.database, "target", "k INT, d DOUBLE, PRIMARY KEY (k) NOT ENFORCED"))
    batch.sql("INSERT INTO target SELECT 1, explode(array(0D, -0D)) UNION ALL SELECT 2, NULL UNION ALL SELECT 2, NULL")
    assert rows_of(shop, "target") == Counter([(1, 0.0), (2, None)])


def test_the_table_of_batches_may_be_created_by_another_login(spark, shop):
    shop.execute("CREATE TABLE target (k INT PRIMARY KEY, v INT)")
    login = shop.server.create_login(f"SELECT, INSERT, UPDATE, DELETE ON {shop.database}.*")
    rows = spark.sql(f"SELECT false AS {DELETE_COLUMN}, 1 AS k, 10 AS v")
    options = {
        "url": f"jdbc:mysql://{login.host}:{login.port}/{shop.database}?useSSL=false&allowPublicKeyRetrieval=true",
        "table-name": "target",
        "username": login.user,
        "password": login.password,
    }
    sink = MySqlSink(SinkTable(name="t", schema=rows.drop(DELETE_COLUMN).schema, key=["k"], options=options))
    with pytest.raises(OptionError, match=r"GRANT CREATE ON .* CREATE TABLE IF NOT EXISTS") as raised:
        sink.check()
    shop.execute(raised.value.message.partition("for it: ")[2])
    sink.check()
    BatchWriter(sink=sink, table=SinkTable(name="t", schema=rows.schema, key=["k"], options={})).write_rows(
        rows.drop(DELETE_COLUMN)
    )
    assert rows_of(shop, "target") == Counter([(1, 10)])


@newest_first
@pytest.mark.timeout(1_500)
@pytest.mark.parametrize("kills", full(1, 20))
@pytest.mark.parametrize("name", ["copy", pytest.param("totals", marks=pytest.mark.full)])
def test_the_target_is_exact_though_the_driver_is_killed(shop, tmp_path: Path, name, kills):
    definition, columns, statement = STATEMENTS[name]
    shop.execute(definition.format(name))
    recording = QueryDirectory(tmp_path / "query").create()
    script = [
        shop.declaration("orders", scan__max_rows_per_batch="20"),
        jdbc_table(shop.server, shop.database, name, columns, checkpointLocation=str(recording.checkpoint)),
        f"INSERT INTO {name} {statement}",
    ]
    run_with_kills(shop, recording, script, kills=kills)
    assert Counter(map(comparable, shop.execute_rows(f"SELECT * FROM {name}"))) == shop.answer(statement)
