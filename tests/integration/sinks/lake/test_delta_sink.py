"""A table of Delta Lake that is kept equal to a table of MySQL, by one statement."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from datasources.errors import SqlError
from datasources.sinks.lake.delta_sink import DELTA_SETTINGS
from datasources.sql import TableEnvironment
from tests.support.forms import full, long
from tests.support.mysql.mysql_changing_tables import ChangingShop
from tests.support.mysql.mysql_killed_copies import run_with_kills
from tests.support.spark.delta_spark import committed_batches, delta_spark
from tests.support.spark.recording import QueryDirectory

pytestmark = [pytest.mark.spark, pytest.mark.mysql, pytest.mark.slow]

COLUMNS = "id INT, name STRING, city STRING, credit DECIMAL(12,2), PRIMARY KEY (id) NOT ENFORCED"


def text_of(value: Any) -> str | None:
    return None if value is None else str(value)


@pytest.mark.parametrize("kills", [*long(1), *full(20)])
@pytest.mark.timeout(1_500)
def test_the_table_is_exact_though_the_driver_is_killed(mysql, tmp_path: Path, kills):
    shop = ChangingShop(mysql, random.Random(20_262))
    shop.create()
    installed, lake = delta_spark(), tmp_path / "lake"
    recording = QueryDirectory(tmp_path / "query").create()
    options = f"'connector' = 'delta', 'path' = '{lake}', 'checkpointLocation' = '{recording.checkpoint}'"
    script = [
        shop.declaration("customers", scan__max_rows_per_batch="20"),
        f"CREATE TABLE lake ({COLUMNS}) WITH ({options})",
        "INSERT INTO lake SELECT * FROM customers",
    ]
    run_with_kills(shop, recording, script, kills=kills, settings=installed.settings, environment=installed.environment)
    batches = committed_batches(lake)
    assert len({query for query, _ in batches}) == 1
    assert [number for _, number in batches] == sorted({number for _, number in batches})
    wanted = [tuple(map(text_of, row)) for row in shop.execute_rows("SELECT * FROM customers")]
    assert Counter(installed.rows(lake, tmp_path)) == Counter(wanted)


def test_a_session_without_delta_lake_is_given_the_settings(spark, registered, tmp_path):
    t = TableEnvironment(spark)
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    t.sql(f"CREATE TABLE lake ({COLUMNS}) WITH ('connector' = 'delta', 'path' = '{tmp_path}')")
    with pytest.raises(SqlError, match=r"line 1, column 13: table 'lake': this Spark session has no Delta") as raised:
        t.sql("INSERT INTO lake SELECT 1, 'a', 'b', 2")
    assert all(key in raised.value.message for key in DELTA_SETTINGS)
