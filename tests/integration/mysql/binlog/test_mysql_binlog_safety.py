"""Broken connections, damaged events, servers without checksums, rows that no column list shows."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from datasources.errors import RecordError, SourceUnavailable
from datasources.mysql.binlog import (
    BinlogPosition,
    BinlogRows,
    Capture,
    ChangeReader,
    DumpRequest,
    XaChange,
    XaOutcome,
    open_dump,
)
from datasources.mysql.binlog.dump.dump_stream import DumpStream
from datasources.mysql.binlog.events.blocks import EventBlock
from datasources.mysql.binlog.events.checksums import check_events
from datasources.mysql.binlog.events.event_types import EventType
from tests.support.mysql.mysql_binlog import everything, images, position, read_changes, reader_at, rows_of
from tests.support.mysql.mysql_server import MySqlServer, every_mysql, every_server

pytestmark = pytest.mark.mysql


@every_mysql
def test_a_killed_dump_by_gtid_fails_and_resumes_where_it_stopped(mysql: MySqlServer):
    database = mysql.create_database("killed")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)")
    read_already = mysql.execute("SELECT @@GLOBAL.gtid_executed")[0][0]
    mysql.execute(f"INSERT INTO {database}.t VALUES (1)")
    mysql.execute(f"INSERT INTO {database}.t VALUES (2)")
    with closing(reader_at(mysql, read_already, everything(database), is_bounded=False)) as reader:
        changes = iter(reader)
        found: list[int] = []
        while len(found) < 2:
            found += [row["id"] for _, row in images([next(changes)])]
        assert found == [1, 2]
        mine = mysql.execute(
            "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%' ORDER BY ID DESC LIMIT 1"
        )[0][0]
        mysql.execute(f"KILL {mine}")
        with pytest.raises(SourceUnavailable, match="goes on where it stopped"):
            list(changes)
        stopped = reader.position
    mysql.execute(f"INSERT INTO {database}.t VALUES (3)")
    assert [row["id"] for _, row in images(read_changes(mysql, stopped, everything(database)))] == [3]


def test_a_silent_server_is_reported(mysql: MySqlServer):
    start = position(mysql)
    request = DumpRequest(
        start=start, server_id=77_002, replica_uuid="2" * 8 + "-2222-2222-2222-" + "2" * 12, heartbeat_s=60
    )
    dump = open_dump(mysql.connect(mysql.reader, read_timeout=1), request)
    with closing(dump), pytest.raises(SourceUnavailable, match="not even a heartbeat"):
        list(dump.blocks())


@every_server
def test_a_damaged_event_is_found_by_its_checksum(mysql: MySqlServer):
    database = mysql.create_database("damaged")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)")
    start = position(mysql)
    mysql.execute(f"INSERT INTO {database}.t VALUES (1)")
    request = DumpRequest(
        start=start, server_id=77_001, replica_uuid="1" * 8 + "-1111-1111-1111-" + "1" * 12, is_bounded=True
    )
    with closing(open_dump(mysql.connect(mysql.reader), request)) as dump:
        block = next(block for block in dump.blocks() if EventType.TABLE_MAP in block.types)
        check_events(block, start)
        (rows,) = np.flatnonzero(np.isin(block.types, [EventType.WRITE_ROWS, EventType.WRITE_ROWS_V1]))
        data = block.data.copy()
        data[block.ends[rows] - 5] ^= 1
        with pytest.raises(RecordError, match=f"behind {start} does not match its checksum"):
            check_events(EventBlock(data=data, starts=block.starts, ends=block.ends), start)


class _Damaged:
    """A dump in which the way from the server flips a bit in some row events."""

    def __init__(self, dump: DumpStream, *numbers: int) -> None:
        self._packets = dump
        self._numbers = numbers
        self._seen = 0
        self.close = dump.close

    def blocks(self) -> Iterator[EventBlock]:
        for block in self._packets.blocks():
            data = block.data.copy()
            for index in np.flatnonzero(np.isin(block.types, [EventType.WRITE_ROWS, EventType.WRITE_ROWS_V1])):
                data[block.ends[index] - 6] ^= 64 if self._seen in self._numbers else 0
                self._seen += 1
            yield EventBlock(data=data, starts=block.starts, ends=block.ends)


@every_server
def test_a_damaged_transaction_is_named_and_can_be_skipped(mysql: MySqlServer):
    database = mysql.create_database("flipped")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)")
    begins = []
    for number in range(4):
        begins.append(position(mysql))
        mysql.execute(f"INSERT INTO {database}.t VALUES ({number})")

    def read(*skip: BinlogPosition) -> Iterator[int]:
        request = DumpRequest(start=begins[0], server_id=77_003, replica_uuid=str(uuid.uuid4()), is_bounded=True)
        dump: Any = _Damaged(open_dump(mysql.connect(mysql.reader), request), 1, 3)
        reader = ChangeReader(dump, start=begins[0], capture=everything(database), skip=frozenset(skip))
        with closing(reader):
            for change in reader:
                yield from (row["id"] for _, row in images([change]))

    found = read()
    assert next(found) == 0
    with pytest.raises(RecordError, match=f"does not match its checksum.*'scan.skip-transactions' = '{begins[1]}'"):
        next(found)
    found = read(begins[1])
    assert [next(found), next(found)] == [0, 2]
    with pytest.raises(RecordError, match=f"begins at {begins[3]};"):
        next(found)
    assert list(read(begins[1], begins[3])) == [0, 2]


@every_server
def test_checksums_may_be_off_and_may_change_in_the_log(mysql: MySqlServer):
    database = mysql.create_database("unchecked")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY, v VARCHAR(9))")
    before = position(mysql)
    mysql.execute(f"INSERT INTO {database}.t VALUES (1, 'with')")
    with mysql.settings(binlog_checksum="NONE"):
        inside = position(mysql)
        mysql.execute(f"INSERT INTO {database}.t VALUES (2, 'without')")
    mysql.execute(f"INSERT INTO {database}.t VALUES (3, 'with')")
    end = position(mysql)
    for start, expected in ((before, [1, 2, 3]), (inside, [2, 3])):
        with closing(reader_at(mysql, start, everything(database))) as reader:
            assert [row["id"] for _, row in images(list(reader))] == expected
            assert reader.position >= end  # MariaDB notes its checkpoints behind it, on a thread of its own


@every_mysql
def test_compressed_xa_transactions_are_buffered_too(mysql: MySqlServer):
    database = mysql.create_database("xa")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY)")
    start = position(mysql)
    name = f"'{database}'"
    mysql.execute(
        "SET binlog_transaction_compression = ON",
        f"XA START {name}",
        f"INSERT INTO {database}.t VALUES (1)",
        f"XA END {name}",
        f"XA PREPARE {name}",
        f"XA ROLLBACK {name}",
        f"INSERT INTO {database}.t VALUES (2)",
    )
    end = position(mysql)
    with closing(reader_at(mysql, start, everything(database))) as reader:
        changes = list(reader)
        assert reader.position == end
    outcomes = [change.outcome for change in changes if isinstance(change, XaChange)]
    assert outcomes == [XaOutcome.PREPARED, XaOutcome.ROLLED_BACK]
    assert [row["id"] for _, row in images(changes)] == [2]


@every_server
def test_only_requested_columns_are_decoded(mysql: MySqlServer):
    database = mysql.create_database("some")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY, secret VARCHAR(9), g INT AS (id + 1), n INT)")
    start = position(mysql)
    mysql.execute(f"INSERT INTO {database}.t (id, secret, n) VALUES (1, 'x', NULL), (2, NULL, 5)")

    def capture(name: str, _table: str) -> Capture | None:
        return Capture(columns=frozenset({"g", "n", "not_there"})) if name == database else None

    (batch,) = rows_of(read_changes(mysql, start, capture))
    assert isinstance(batch, BinlogRows)
    assert batch.images.to_pylist() == [{"g": 2, "n": None}, {"g": 3, "n": 5}]
    assert batch.table.names == ("id", "secret", "g", "n")
