"""The two ways of fetching from Kafka, native and through messages, for tests that must see the same on both."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from datasources.errors import DataLossError, SourceUnavailable
from datasources.kafka.client import consumers
from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.client.record_columns import RecordFields, joined
from datasources.kafka.reader.fetcher import FetchSettings, PartitionFetcher
from datasources.kafka.record.raw_columns import RAW_COLUMNS
from datasources.kafka.record.record_metadata import RECORD_METADATA
from watermark import SystemClock

__all__ = ["WAYS", "errors_in_both_ways", "read", "read_in_both_ways", "settings_of", "use"]

WAYS = ("native", "python")
_OF_THE_MOMENT = re.compile(r"(?<=: Local: )(?:Timed out|All broker connections are down)| \((?:[^()]|\([^()]*\))*\)")


def use(monkeypatch, way):
    """From now on consumers are opened in one way; those of the other are closed."""
    consumers._partition_pool._close_all()
    if way == "python":
        monkeypatch.setenv("TIDEMARK_NATIVE", "off")
    else:
        monkeypatch.delenv("TIDEMARK_NATIVE", raising=False)


def settings_of(bootstrap, *, fail_on_data_loss=True, poll_timeout_ms=10_000, **config):
    given = {"bootstrap.servers": bootstrap} | {key.replace("__", "."): value for key, value in config.items()}
    return FetchSettings(
        config=ClientConfig(given, api_timeout_ms=2_000),
        poll_timeout_ms=poll_timeout_ms,
        fail_on_data_loss=fail_on_data_loss,
    )


def read(settings, topic, start, end, fields=RecordFields.ALL):
    """Every column of a range, by name; and how many offsets were lost."""
    lists, lost = [], 0
    with closing(PartitionFetcher(settings, topic, 0, SystemClock(), fields).fetch(start, end)) as ranges:
        for fetched in ranges:
            lost += fetched.lost
            if len(fetched.records):
                lists.append(fetched.records)
    if not lists:
        return {}, lost
    records = joined(lists)
    known = [*RAW_COLUMNS.items(), *((f"fact {key}", column) for key, column in RECORD_METADATA.items())]
    columns = {name: column.read(records) for name, column in known if column.needs in fields}
    for column in columns.values():
        column.validate(full=True)
    return {name: (column.type, column.to_pylist()) for name, column in columns.items()}, lost


def read_in_both_ways(monkeypatch, settings, topic, ranges, fields=RecordFields.ALL):
    """The columns and losses of some ranges, read one after the other in each way; they are asserted to be equal."""
    found = []
    for way in WAYS:
        use(monkeypatch, way)
        found.append([read(settings, topic, *each, fields) for each in ranges])
    assert found[0] == found[1]
    return found[0]


def errors_in_both_ways(monkeypatch, settings, topic, start, end):
    """The error of a range in each way; they are asserted to say the same, but for what depends on the moment.

    Where brokers cannot be reached that is the client's last answer (the time is over, or every connection is down) and
    what stands in brackets: what it reported last of its connections, after how long, and how many of its like came
    before.
    """
    found = []
    for way in WAYS:
        use(monkeypatch, way)
        with pytest.raises((DataLossError, SourceUnavailable)) as caught:
            read(settings, topic, start, end)
        found.append((caught.type, str(caught.value)))
    assert lasting(*found[0]) == lasting(*found[1]), found
    return found[0]


def lasting(kind: type[Exception], text: str) -> tuple[type[Exception], str]:
    return kind, _OF_THE_MOMENT.sub("", text) if kind is SourceUnavailable else text
