"""A table of Iceberg that is kept equal to a table of MySQL, by one statement."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from datasources.errors import SqlError
from datasources.sql import TableEnvironment
from tests.support.forms import full, long
from tests.support.mysql.mysql_changing_tables import ChangingShop
from tests.support.mysql.mysql_killed_copies import run_with_kills
from tests.support.spark.iceberg_spark import ICEBERG_PACKAGE, iceberg_options, iceberg_settings, run_iceberg_job
from tests.support.spark.recording import QueryDirectory

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(1_500)]

COLUMNS = "id INT, name STRING, city STRING, credit DECIMAL(12,2), PRIMARY KEY (id) NOT ENFORCED"


def iceberg_table(warehouse: Path, **changes: str) -> str:
    options = {"connector": "iceberg", **iceberg_options(warehouse), **changes}
    return f"CREATE TABLE lake ({COLUMNS}) WITH ({', '.join(f'{k!r} = {v!r}' for k, v in options.items())})"


@pytest.mark.mysql
@pytest.mark.parametrize("kills", [*long(1), *full(20)])
def test_the_table_is_exact_though_the_driver_is_killed(mysql, tmp_path: Path, kills):
    shop = ChangingShop(mysql, random.Random(20_263))
    shop.create()
    warehouse, recording = tmp_path / "warehouse", QueryDirectory(tmp_path / "query").create()
    script = [
        shop.declaration("customers", scan__max_rows_per_batch="20"),
        iceberg_table(warehouse, checkpointLocation=str(recording.checkpoint)),
        "INSERT INTO lake SELECT * FROM customers",
    ]
    run_with_kills(shop, recording, script, kills=kills, settings=iceberg_settings())
    found = run_iceberg_job("rows", warehouse, tmp_path)
    assert len({query for query, _ in found["batches"]}) == 1
    numbers = [int(number) for _, number in found["batches"]]
    assert numbers == sorted(set(numbers), reverse=True)
    wanted = [tuple(None if v is None else str(v) for v in row) for row in shop.execute_rows("SELECT * FROM customers")]
    assert Counter(map(tuple, found["rows"])) == Counter(wanted)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory) -> dict[str, Any]:
    """What became of tables in a Spark with Iceberg: one process for all."""
    directory = tmp_path_factory.mktemp("iceberg")
    return run_iceberg_job("scenes", directory / "warehouse", directory)


@pytest.mark.long
def test_a_batch_is_applied_once_whoever_writes_it_again(scenes):
    rows, batches = scenes["again"]
    assert rows == [["2", "b"], ["3", "c"], ["9", "z"]]
    assert batches == [["another", "0"], ["q", "4"], ["q", "0"]]


@pytest.mark.long
def test_a_checkpoint_that_is_older_than_the_table_is_refused(scenes):
    message, rows = scenes["older"]
    assert "[TIDEMARK_DATA_LOSS] the query writes batch 2, and the Iceberg table lake.default.older has" in message
    assert rows == [["1", "a"]]


@pytest.mark.long
def test_a_batch_is_recognised_behind_the_commits_of_others(scenes):
    rows, batches, rows_later, batches_later = scenes["others"]
    assert rows == rows_later == [["1", "A"], ["2", "b"], ["3", "c"], ["7", "x"]]
    assert batches == [["another", "0"], ["q", "1"]]  # those before them are expired
    assert batches_later == [
        ["q", "1"],
        ["another", "0"],
    ]  # its snapshot was expired: it is merged again, with no effect


@pytest.mark.long
@pytest.mark.parametrize("mode", ["races", "races on read"])
def test_a_commit_of_another_writer_in_between_begins_the_batch_again(scenes, mode):
    rows, batches, rows_after_compaction, refused, last_rows = scenes[mode]
    assert rows == [["1", "A"], ["3", "c"], ["8", "x"]]
    assert batches == [["q", "3"], ["another", "0"], ["q", "2"], ["q", "1"], ["q", "0"]]
    assert rows_after_compaction == [["1", "B"], ["3", "c"], ["8", "x"]]
    assert "[TIDEMARK_DATA_LOSS] the query writes batch 5, and the Iceberg table" in refused
    assert last_rows == [["1", "6"], ["3", "c"], ["8", "x"]]


@pytest.mark.long
@pytest.mark.parametrize("layout", ["plain", "bucketed", "cut"])
def test_a_table_may_have_partitions(scenes, layout):
    wanted = {**{str(key): str(key) for key in range(20)}, "2": "20", "30": "x"}
    del wanted["1"]
    assert dict(scenes["layouts"][layout]) == wanted


@pytest.mark.long
def test_a_column_that_is_not_declared_stays_null(scenes):
    assert scenes["wider"] == [["1", "b", None], ["2", "c", None]]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no column", "the Iceberg table has no column 'w'. It has k, v."),
        ("another type", "the Iceberg table's column 'v' is STRING, and 'known' declares INT"),
        ("no such type", "cannot be opened: Not a supported type: interval year"),
        ("small", "the Iceberg table's column 'v' is INT, and 'small' declares SMALLINT"),
        ("catalog", "the Iceberg table lake.default.known cannot be opened: "),
        ("isolation", "'write.merge.isolation-level' = 'snapshot', by which two processes could write one batch"),
    ],
)
def test_what_the_sink_cannot_keep_is_refused(scenes, name, message):
    assert message in scenes["refused"][name]


def test_a_session_without_iceberg_is_given_the_settings(spark, tmp_path):
    t = TableEnvironment(spark)
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    t.sql(iceberg_table(tmp_path))
    with pytest.raises(SqlError, match=r"line 1, column 13: table 'lake': this Spark session has no Iceberg") as raised:
        t.sql("INSERT INTO lake SELECT 1, 'a', 'b', 2")
    assert ICEBERG_PACKAGE in raised.value.message
