"""The loop that keeps the copies of a database, with tables that are none."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JNetworkError

from datasources.errors import EnvironmentProblem
from datasources.sync import database_sync
from datasources.sync.database_sync import DatabaseSync
from datasources.sync.sync_request import SyncRequest


class FakeTable:
    """Counts its steps, and ends Spark in the second one."""

    def __init__(self, spark, *_) -> None:
        self.spark = spark
        self.steps = self.stops = 0
        spark.tables.append(self)

    def step(self):
        self.steps += 1
        self.spark.is_stopped = self.steps == 2
        return True

    def stop(self):
        self.stops += 1


class FakeSpark:
    """A session as far as it is used.

    Attributes:
        has_ended: whether its process has ended.
    """

    def __init__(self, *, has_ended=False) -> None:
        self.is_stopped = False
        self.has_ended = has_ended
        self.tables = []
        self.sparkContext = SimpleNamespace(_jsc=SimpleNamespace(sc=lambda: self))

    def isStopped(self):  # noqa: N802 - Spark's
        if self.has_ended and self.is_stopped:
            raise Py4JNetworkError
        return self.is_stopped


@pytest.fixture(autouse=True)
def tables(monkeypatch):
    monkeypatch.setattr(database_sync, "TableSync", FakeTable)
    monkeypatch.setattr(database_sync, "connect", lambda *_, **__: SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(database_sync, "table_names", lambda *_: [("shop", "orders")])
    monkeypatch.setattr(database_sync, "_POLL_S", 0)


def sync(spark, stopped):
    request = SyncRequest(source_options={"hostname": "db", "username": "u"}, database="shop", directory="/lake")
    DatabaseSync(spark, request, lambda _: None).run(stopped)


@pytest.mark.parametrize("has_ended", [False, True])
def test_the_command_ends_at_once_where_spark_has_stopped(has_ended):
    spark = FakeSpark(has_ended=has_ended)
    with pytest.raises(EnvironmentProblem, match="Spark stopped, and with it the copies of database 'shop'"):
        sync(spark, threading.Event())
    assert [(table.steps, table.stops) for table in spark.tables] == [(2, 0)]


def test_queries_are_stopped_when_the_command_is():
    spark, stopped = FakeSpark(), threading.Event()
    stopped.set()
    sync(spark, stopped)
    assert [(table.steps, table.stops) for table in spark.tables] == [(1, 1)]
