"""What tests on servers and on Spark set before they run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.mysql.mysql_pair import Pair, mysql_pair
from tests.support.mysql.mysql_server import OpenMySql
from tests.support.spark.scripted_stream import ROCKSDB, TINY_QUERIES, settings


@pytest.fixture
def tiny_queries(spark: Any) -> Iterator[None]:
    """Settings for queries over a handful of rows."""
    with settings(spark, TINY_QUERIES):
        yield


@pytest.fixture
def registered(spark: Any) -> None:
    """Tidemark is registered in the session."""
    from datasources import register

    register(spark)


@pytest.fixture
def operator_queries(spark: Any, tiny_queries: None, registered: None) -> Iterator[None]:
    """What operators with a state of their own need."""
    with settings(spark, ROCKSDB):
        yield


@pytest.fixture
def pair(own_mysql: OpenMySql) -> Iterator[Pair]:
    """A primary of MySQL and its replica."""
    with mysql_pair(own_mysql) as found:
        yield found
