"""Options that run code are refused in a session, however they come in and whatever its user SETs."""

from __future__ import annotations

import pytest

from datasources import read_stream, register
from datasources.errors import OptionError
from datasources.spark.options.code_options import ALLOW_CODE
from datasources.sql import TableEnvironment

pytestmark = pytest.mark.spark

OPTIONS = {"kafka.bootstrap.servers": "127.0.0.1:1", "subscribe": "orders", "kafka.plugin.library.paths": "evil"}
TABLE = (
    "CREATE TABLE orders (id INT) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = '127.0.0.1:1', "
    "'topic' = 'orders', 'format' = 'json', 'properties.plugin.library.paths' = 'evil')"
)


@pytest.fixture
def with_set(spark):
    spark.conf.set(ALLOW_CODE, "true")
    yield
    spark.conf.unset(ALLOW_CODE)


@pytest.mark.usefixtures("with_set")
def test_a_user_of_the_session_cannot_allow_them(spark):
    refused = rf"kafka\.plugin\.library\.paths' loads libraries.*--conf {ALLOW_CODE}=true"
    register(spark)
    with pytest.raises(OptionError, match=refused):
        read_stream(spark, "tidemark-kafka", OPTIONS)
    for reader in (spark.read, spark.readStream):
        with pytest.raises(Exception, match=refused):
            reader.format("tidemark-kafka").options(**OPTIONS).load()
    t = TableEnvironment(spark)
    t.sql(f"SET '{ALLOW_CODE}' = 'true'")
    t.sql(TABLE)
    with pytest.raises(OptionError, match=refused):
        t.sql("SELECT * FROM orders")
