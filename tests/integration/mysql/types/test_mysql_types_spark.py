"""Types in Spark: what a query has of a table's columns, from the snapshot and from the binlog."""

from __future__ import annotations

import pytest

from tests.support.mysql.mysql_server import MySqlServer, newest_first
from tests.support.mysql.mysql_shop import Rows, Shop

pytestmark = [pytest.mark.mysql, pytest.mark.spark, pytest.mark.timeout(300)]


@pytest.mark.long
@newest_first
def test_unsigned_columns_behind_a_year_keep_their_values(mysql: MySqlServer, spark, tmp_path):
    shop, rows = Shop(mysql, mysql.create_database("shop")), Rows()
    shop.execute(
        "CREATE TABLE cars (id INT PRIMARY KEY, built YEAR, b INT UNSIGNED, s INT, t YEAR, c BIGINT UNSIGNED, u TINYINT)",
        "INSERT INTO cars VALUES (1, 2001, 4294967295, -1, 1999, 18446744073709551615, -128)",
    )
    options = {"server-id": "7700-7760", "table-name": "cars"}
    shop.drain(spark, tmp_path, rows, **options)
    shop.execute("INSERT INTO cars VALUES (2, 2002, 4294967295, -1, 2000, 18446744073709551615, -128)")
    shop.drain(spark, tmp_path, rows, **options)
    found = [(r["snapshot"], r["id"], r["b"], r["s"], int(r["c"]), r["u"]) for r in rows.all]
    values = (4294967295, -1, 18446744073709551615, -128)
    assert found == [(True, 1, *values), (False, 2, *values)]
