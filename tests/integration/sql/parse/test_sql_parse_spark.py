"""What the parser takes for granted about Spark: its string literals, its comments, and its names of types."""

from __future__ import annotations

import pytest

from datasources.grammar.source_text import SqlText
from datasources.sql.parse import parse_type
from datasources.sql.types.type_names import spark_ddl
from tests.support.sql.sql_literals import LITERALS

pytestmark = pytest.mark.spark

TYPES = {
    "ROW<a INT NOT NULL, `b c` ROW<d BYTES>>": "struct<a:int,b c:struct<d:binary>>",
    "INTERVAL DAY TO SECOND(3)": "interval day to second",
    "INTERVAL HOUR TO MINUTE": "interval hour to minute",
    "INTERVAL MONTH": "interval month",
    "MULTISET<STRING>": "map<string,int>",
    "MAP<STRING NOT NULL, TIMESTAMP(3)>": "map<string,timestamp_ntz>",
    "DECIMAL": "decimal(10,0)",
    "TIMESTAMP_LTZ(3)": "timestamp",
    "CHAR(3) ARRAY": "array<string>",
}


def test_spark_takes_string_literals_for_the_same(spark):
    columns = ", ".join(f"{literal} AS c{number}" for number, literal in enumerate(LITERALS))
    (row,) = spark.sql(f"SELECT /* a /* b */ */ {columns} -- goes \\\n on\n").collect()
    assert list(row) == list(LITERALS.values())


def test_spark_reads_its_names_of_our_types(spark):
    columns = ", ".join(f"c{number} {spark_ddl(parse_type(SqlText(text)))}" for number, text in enumerate(TYPES))
    schema = spark.createDataFrame([], columns).schema
    assert [field.dataType.simpleString() for field in schema] == list(TYPES.values())
