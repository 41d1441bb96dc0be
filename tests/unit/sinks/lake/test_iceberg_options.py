"""Options of an `iceberg` table, and the batch that a table's snapshots have."""

from __future__ import annotations

import pytest
from pyspark.sql.types import StructType

from datasources.errors import OptionError
from datasources.sinks.change_sink import SinkTable
from datasources.sinks.lake.iceberg_options import iceberg_target
from datasources.sinks.lake.iceberg_table import newest_batch

FILES = {"catalog-name": "lake", "catalog-type": "hadoop", "warehouse": "/lake"}


def declared(**options: str) -> SinkTable:
    return SinkTable(name="orders", schema=StructType(), key=["k"], options=options)


def test_the_table_is_that_of_the_statement_unless_it_is_named():
    assert str(iceberg_target(declared(**FILES))) == "lake.default.orders"
    named = iceberg_target(declared(**FILES, **{"catalog-database": "a.b", "catalog-table": "t"}))
    assert str(named) == "lake.a.b.t"
    assert named.properties == {"type": "hadoop", "warehouse": "/lake"}


def test_a_catalog_is_one_of_hive_by_default():
    assert iceberg_target(declared(**{"catalog-name": "c"})).properties == {"type": "hive"}
    own = iceberg_target(declared(**{"catalog-name": "c", "catalog-impl": "x.Y"}))
    assert own.properties == {"catalog-impl": "x.Y"}


def test_properties_of_the_catalog_are_handed_on_and_secrets_not_shown():
    rest = {"catalog-name": "c", "catalog-type": "rest", "uri": "http://c", "credential": "id:pw", "s3.endpoint": "e"}
    target = iceberg_target(declared(**rest))
    assert target.properties == {"type": "rest", "uri": "http://c", "credential": "id:pw", "s3.endpoint": "e"}
    assert "id:pw" not in f"{target} {target!r}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"catalog-type": "hadoop"}, r"option 'catalog-name' is required"),
        ({**FILES, "catalog-tabel": "t"}, r"unknown option 'catalog-tabel' for iceberg. Did you mean 'catalog-table'"),
        ({**FILES, "path": "/lake"}, r"unknown option 'path' for iceberg"),
        ({**FILES, "catalog-table": ""}, r"option 'catalog-table'"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        iceberg_target(declared(**options))


def test_the_newest_batch_of_a_query_is_found_among_those_of_others():
    own = [{"tidemark.query": "q", "tidemark.batch": str(number)} for number in (12, 9)]
    others = [{"operation": "replace"}, {"tidemark.query": "p", "tidemark.batch": "40"}]
    assert newest_batch([*others, *own], "q") == 12
    assert newest_batch(others, "q") is None
