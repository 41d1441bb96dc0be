"""Events that are damaged in any way end in the one error for it, whatever their bytes lead to."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from datasources.errors import DataLossError, OffsetError, RecordError, SchemaError
from datasources.mysql.binlog import DumpRequest, open_dump
from tests.support.mysql.mysql_binlog import position
from tests.support.mysql.mysql_server import MySqlServer, newest_first
from tests.support.mysql_values.mysql_mutants import Recording, mutated, record

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(1800)]

_RECORDINGS: dict[str, Recording] = {}
_DOCUMENT = '{"a": [1, -2, 3.5, "text", null, true, {"b": {"c": [18446744073709551615]}}], "d": "x"}'
_TABLE = """
CREATE TABLE t (
  id INT PRIMARY KEY, y YEAR, u BIGINT UNSIGNED, n DECIMAL(20,5), w DECIMAL(50,10), f FLOAT, b BIT(9), d DATE,
  t TIME(3), dt DATETIME(6), ts TIMESTAMP(2) NULL, c CHAR(5) CHARACTER SET latin1, v VARCHAR(300), x TEXT,
  r BINARY(4), l BLOB, e ENUM('one', 'two'), s SET('a', 'b', 'c'), j JSON, k JSON, g GEOMETRY)"""
_ROW = (
    f"2026, 18446744073709551615, -1.5, 12345678901234567890.5, 1.5, b'101', '2026-02-03', '-01:02:03.5', "
    f"'2026-02-03 04:05:06.7', '2026-02-03 04:05:06', 'é', 'text', REPEAT('x', 50), 'ab', x'00ff', 'two', 'a,c', "
    f"'{_DOCUMENT}', '{_DOCUMENT}', ST_GeomFromText('POINT(1 2)')"
)


def _changes(mysql: MySqlServer) -> Iterator[str]:
    if not mysql.is_mariadb:
        yield "SET binlog_row_value_options = PARTIAL_JSON"
    yield f"INSERT INTO t VALUES (1, {_ROW}), (2, {_ROW})"
    yield "INSERT INTO t (id) VALUES (3)"
    yield "UPDATE t SET j = JSON_SET(j, '$.a[1]', 'other', '$.d', 7), k = JSON_REMOVE(k, '$.a[0]') WHERE id = 1"
    yield "UPDATE t SET v = NULL, n = 2"
    yield "DELETE FROM t WHERE id = 2"
    if mysql.is_mariadb:
        yield "SET GLOBAL log_bin_compress = 1"
        yield "SET GLOBAL log_bin_compress_min_len = 10"
    else:
        yield "SET binlog_transaction_compression = ON"
    yield f"INSERT INTO t VALUES (4, {_ROW}), (5, {_ROW})"
    if mysql.is_mariadb:
        yield "SET GLOBAL log_bin_compress = 0"
        yield "SET GLOBAL log_bin_compress_min_len = 256"
    yield "XA START 'x'"
    yield "UPDATE t SET y = 2000 WHERE id = 1"
    yield "XA END 'x'"
    yield "XA PREPARE 'x'"
    yield "XA COMMIT 'x'"
    yield "ALTER TABLE t ADD COLUMN more INT"


def _recording(mysql: MySqlServer) -> Recording:
    if mysql.version.value not in _RECORDINGS:
        database = mysql.create_database("damaged")
        start = position(mysql)
        with closing(mysql.connect(charset="utf8mb4", database=database)) as connection:
            cursor: Any = connection.cursor()
            cursor.execute(_TABLE)
            for statement in _changes(mysql):
                cursor.execute(statement)
        request = DumpRequest(start=start, server_id=77_009, replica_uuid=str(uuid.uuid4()), is_bounded=True)
        with closing(open_dump(mysql.connect(mysql.reader, read_timeout=30), request)) as packets:
            _RECORDINGS[mysql.version.value] = record(packets, start, database)
    return _RECORDINGS[mysql.version.value]


def _read_all(recording: Recording, seeds: range) -> tuple[int, int]:
    """Return how many damaged recordings were read to their ends, and how many were refused."""
    read = refused = 0
    for seed in seeds:
        try:
            for _ in mutated(recording, seed).reader():
                pass
        except (RecordError, SchemaError, OffsetError, DataLossError):
            refused += 1
        except Exception as error:
            raise AssertionError(f"mutation {seed} ended in {type(error).__name__}") from error
        else:
            read += 1
    return read, refused


@newest_first
def test_a_damaged_event_is_a_record_error(mysql: MySqlServer):
    recording = _recording(mysql)
    assert len(list(recording.reader())) > 5
    read, refused = _read_all(recording, range(400))
    assert read > 0
    assert refused > 80


@pytest.mark.full
@newest_first
def test_every_kind_of_damage_to_an_event_is_a_tidemark_error(mysql: MySqlServer):
    _, refused = _read_all(_recording(mysql), range(10_000, 14_000))
    assert refused > 800
