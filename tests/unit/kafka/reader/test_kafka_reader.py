"""A reader keeps its decoders for the next task of the same scan in its process."""

from __future__ import annotations

import pytest

from datasources.kafka.reader import kafka_reader as readers
from tests.support.kafka.kafka_records import decoding, source_of
from tests.support.kafka.memory_broker import MemoryBroker

JSON = {"format": "json", "schema": "id BIGINT, name STRING"}


@pytest.fixture
def made(monkeypatch):
    """The formats for which decoders were made."""
    formats = []
    real = readers.ChunkMaker
    monkeypatch.setattr(readers, "ChunkMaker", lambda how: formats.append(how) or real(how))
    readers._makers._resources.clear()
    yield formats
    readers._makers._resources.clear()


def test_the_next_task_of_a_scan_finds_what_the_one_before_learned(made):
    for _ in range(3):
        source_of(**JSON).reader_factory().open().close()
    assert len(made) == 1


def test_each_chunk_format_has_its_own_decoder(made):
    factories = [
        source_of(**JSON).reader_factory(),
        decoding(source_of(**JSON), "id").reader_factory(),
        source_of({"at": "offset"}, **JSON).reader_factory(),
        source_of(**JSON, format__on_error="skip").reader_factory(),
    ]
    for factory in factories * 2:
        factory.open().close()
    factories[0].open(only=frozenset({"name"})).close()
    assert len(made) == len(set(made)) == 5


def test_readers_that_are_open_at_once_share_nothing(made):
    factory = source_of(**JSON).reader_factory()
    one, other = factory.open(), factory.open()
    assert one._maker is not other._maker
    one.close()
    other.close()
    assert len(made) == 2
    assert factory.open()._maker is other._maker


def test_a_reader_gives_the_rows_of_a_range(monkeypatch):
    broker = MemoryBroker()
    broker.use(monkeypatch)
    log = broker.add("orders", 0, range(5))
    log.records = {at: b'{"id": %d}' % at for at in log.records}
    source = source_of({"at": "offset"}, **JSON)
    factory = type(source.factory)(
        schema=source.schema,
        settings=broker.settings(),
        layout=source.factory.layout,
        on_error=source.factory.on_error,
        time_zone="UTC",
        columns=decoding(source, "id", "at").factory.columns,
    )
    reader = factory.open()
    rows = [row for chunk in reader.read("orders-0", 1, 4) for row in chunk.columns.to_pylist()]
    reader.close()
    assert rows == [{"id": at, "name": None, "at": at} for at in (1, 2, 3)]
