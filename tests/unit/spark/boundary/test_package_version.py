"""Workers of another version than the driver's stop before they read what it sent."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from datasources.errors import EnvironmentProblem
from datasources.kafka.source import KafkaSource
from datasources.spark.adapter.batch_reader import TidemarkBatchReader
from datasources.spark.adapter.binding import Binding
from datasources.spark.adapter.stream_reader import TidemarkStreamReader
from datasources.spark.boundary import package_version
from datasources.spark.scan.scan import build_scan

SCAN = build_scan(KafkaSource, {"kafka.bootstrap.servers": "b:1", "subscribe": "orders"}, {})
SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC"))])
READERS = {"stream": TidemarkStreamReader(SCAN, SCHEMA, Binding()), "batch": TidemarkBatchReader(SCAN, SCHEMA)}


def versions(monkeypatch, version):
    monkeypatch.setattr(package_version, "_own_version", lambda: version)


@pytest.mark.parametrize("kind", READERS)
def test_another_version_stops_with_both_and_the_command(kind, monkeypatch):
    versions(monkeypatch, "0.2.0")
    sent = pickle.dumps(READERS[kind])
    versions(monkeypatch, "0.1.0")
    with pytest.raises(
        EnvironmentProblem, match=r"driver has tidemark-spark 0\.2\.0 and this worker 0\.1\.0"
    ) as caught:
        pickle.loads(sent)
    assert "pip install 'tidemark-spark==0.2.0'" in str(caught.value)


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize(("driver", "worker"), [("0.2.0", "0.2.0"), ("unknown", "0.1.0"), ("0.1.0", "unknown")])
def test_the_same_version_and_one_that_nobody_knows_pass(kind, driver, worker, monkeypatch):
    versions(monkeypatch, driver)
    sent = pickle.dumps(READERS[kind])
    versions(monkeypatch, worker)
    assert isinstance(pickle.loads(sent), type(READERS[kind]))


@pytest.mark.parametrize("kind", READERS)
def test_the_version_is_read_before_any_other_field(kind, monkeypatch):
    """What follows may be of a class that the worker does not have."""
    versions(monkeypatch, "0.2.0")
    sent = pickle.dumps(READERS[kind])
    assert sent.index(b"same_version") < sent.index(b"datasources.spark.scan.scan")


def test_the_version_of_a_client_is_read_before_its_settings(monkeypatch):
    """A class that a client of Spark Connect registers is unpickled by the server."""
    versions(monkeypatch, "0.2.0")
    sent = pickle.dumps(Binding())
    assert sent.index(b"same_version") < sent.index(b"CoordinatorSettings")
    versions(monkeypatch, "0.1.0")
    with pytest.raises(EnvironmentProblem, match=r"0\.2\.0 and this worker 0\.1\.0"):
        pickle.loads(sent)
