"""Row changes out of the binlog: Tidemark's decoder beside mysql-replication's row events, in one run on one server.

Two loads on a table of six columns: bulk transactions (5,000 rows a statement) and one row per statement and
transaction. Each reader takes the same range, alternating, several rounds; the server runs on the same machine.
mysql-replication reads with freeze_schema, without which it asks information_schema for every table map. Then mixed
small transactions (inserts, updates and deletes over six tables of different columns), plain and compressed, as the
rows of a scan, by Tidemark alone: also how many Arrow batches they come in. The last line
is JSON, also in results/binlog_decode.json: row changes a second (wall clock, median of the rounds), and CPU of the
reading process in microseconds per row change.

    python -m benchmarks.decoding.binlog [--quick]
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pymysql
from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent

from benchmarks.measure import load_average
from benchmarks.mysql.tables import login_options
from datasources.embedded import EmbeddedMySql, MySqlAddress, MySqlVersion
from datasources.mysql.binlog import (
    BinlogPosition,
    BinlogRows,
    Capture,
    ChangeReader,
    DumpRequest,
    StopRule,
    open_dump,
)
from datasources.mysql.reader.reader_factory import MySqlReaderFactory
from datasources.mysql.scan.scan_settings import BINLOG
from datasources.mysql.server.server_view import ServerView
from datasources.mysql.source import MySqlSource
from datasources.mysql.state.mysql_state import MySqlState
from datasources.source.api.connector import SessionInfo

__all__ = ["main"]

RESULT: Final = Path(__file__).parents[1] / "results" / "binlog_decode.json"
_TABLE: Final = (
    "CREATE TABLE bench.t (id INT PRIMARY KEY AUTO_INCREMENT, k INT NOT NULL, v VARCHAR(60), n DECIMAL(12,2), "
    "d DATETIME(3), f DOUBLE)"
)
_SINGLE: Final = (
    "CREATE PROCEDURE bench.single(rows_wanted INT) BEGIN DECLARE i INT DEFAULT 0; WHILE i < rows_wanted DO "
    "INSERT INTO bench.t (k, v, n, d, f) VALUES (i, CONCAT('single value ', i), i, '2021-01-01 00:00:00.5', i); "
    "SET i = i + 1; END WHILE; END"
)
_SHAPES: Final = (
    *("", ", a INT", ", b VARCHAR(40)", ", a INT, d DECIMAL(10,2), e DATETIME(3)", ", j JSON"),
    ", z BLOB, y DOUBLE, a BIGINT",
)
_INSERTED: Final = 0.5
_UPDATED: Final = 0.8
_STATEMENT_ROWS: Final = 5_000
_Range = tuple[BinlogPosition, BinlogPosition]
_Measured = tuple[int, float, float]


def main(arguments: Sequence[str]) -> None:
    """Measure, print, and write the result file."""
    quick = "--quick" in arguments
    bulk_rows, single_rows, mixed_transactions, rounds = (
        (50_000, 10_000, 1_000, 1) if quick else (90_000, 40_000, 4_000, 3)
    )
    load = load_average()
    with EmbeddedMySql(MySqlVersion.NEWEST) as server, closing(_connect(server.administrator)) as connection:
        cursor = connection.cursor()
        cursor.execute("SET GLOBAL sync_binlog = 0, GLOBAL innodb_flush_log_at_trx_commit = 0")
        for statement in ("CREATE DATABASE bench", _TABLE, _SINGLE):
            cursor.execute(statement)
        ranges = {"bulk": _bulk(cursor, bulk_rows), "single": _single(cursor, single_rows)}
        result: dict[str, object] = {"server": server.title, "bulk_rows": bulk_rows, "single_rows": single_rows}
        for name, where in ranges.items():
            result |= _compare(name, where, server.administrator, rounds)
        for name, is_compressed in (("mixed", False), ("mixed_compressed", True)):
            where = _mixed(cursor, mixed_transactions, is_compressed=is_compressed)
            result |= _mixed_figures(name, where, server.administrator, rounds)
    result |= {"load": load, "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)}
    if not quick:
        RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result))


def _compare(name: str, where: _Range, login: MySqlAddress, rounds: int) -> dict[str, object]:
    readers: dict[str, Callable[[_Range, MySqlAddress], _Measured]] = {"ours": _ours, "mysql_replication": _peer}
    measured: dict[str, list[_Measured]] = {reader: [] for reader in readers}
    for _ in range(rounds):
        for reader, read in readers.items():
            measured[reader].append(read(where, login))
            changes, wall_s, cpu_s = measured[reader][-1]
            print(f"{name} {reader}: {changes / wall_s:,.0f} changes/s, {cpu_s / changes * 1e6:.2f} µs CPU each")
    counts = {changes for rows in measured.values() for changes, _, _ in rows}
    if len(counts) != 1:
        raise SystemExit(f"the readers saw different numbers of row changes: {sorted(counts)}")
    figures: dict[str, object] = {f"{name}_changes": counts.pop()}
    for reader, rows in measured.items():
        figures[f"{name}_{reader}_rows_s"] = round(statistics.median(n / wall for n, wall, _ in rows))
        figures[f"{name}_{reader}_cpu_us"] = round(statistics.median(cpu / n * 1e6 for n, _, cpu in rows), 2)
    return figures


def _ours(where: _Range, login: MySqlAddress) -> _Measured:
    begin, cpu = time.perf_counter(), time.process_time()
    request = DumpRequest(start=where[0], server_id=70_001, replica_uuid=str(uuid.uuid4()), is_bounded=True)
    reader = ChangeReader(
        open_dump(_connect(login), request),
        start=where[0],
        capture=lambda database, _table: Capture() if database == "bench" else None,
        stop=StopRule(to=where[1]),
    )
    with closing(reader):
        changes = sum(change.changes for change in reader if isinstance(change, BinlogRows))
    return changes, time.perf_counter() - begin, time.process_time() - cpu


def _peer(where: _Range, login: MySqlAddress) -> _Measured:
    begin, cpu = time.perf_counter(), time.process_time()
    stream = BinLogStreamReader(
        connection_settings=_settings(login),
        server_id=70_002,
        log_file=where[0].file,
        log_pos=where[0].pos,
        resume_stream=True,
        blocking=False,
        only_events=[WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent],
        only_schemas=["bench"],
        freeze_schema=True,
    )
    changes = 0
    with closing(stream):
        for event in stream:
            if BinlogPosition(stream.log_file, stream.log_pos) > where[1]:
                break
            changes += len(event.rows)
    return changes, time.perf_counter() - begin, time.process_time() - cpu


def _mixed_figures(name: str, where: _Range, login: MySqlAddress, rounds: int) -> dict[str, object]:
    settings = _source(login).settings
    with closing(ServerView(settings.connection)) as view:
        state = MySqlState(
            reader="0" * 32,
            server=view.server(),
            position=where[0],
            gtid=None,
            to=where[1],
            end_clock_us=0,
            prepared={},
        )
    measured = []
    for _ in range(rounds):
        begin, cpu = time.perf_counter(), time.process_time()
        with closing(MySqlReaderFactory(settings.for_batch(state.to_json())).open()) as reader:
            sizes = [chunk.columns.num_rows for chunk in reader.read(BINLOG, 0, 1 << 60)]
        measured.append((sum(sizes), time.perf_counter() - begin, time.process_time() - cpu))
        print(f"{name}: {sum(sizes)} rows in {len(sizes)} Arrow batches, {measured[-1][2]:.3f} s CPU")
    return {
        f"{name}_rows": sum(sizes),
        f"{name}_arrow_batches": len(sizes),
        f"{name}_rows_s": round(statistics.median(n / wall for n, wall, _ in measured)),
        f"{name}_cpu_us": round(statistics.median(cpu / n * 1e6 for n, _, cpu in measured), 2),
    }


def _source(login: MySqlAddress) -> MySqlSource:
    options = {
        **login_options(login),
        "database-name": "bench",
        "table-name": "mixed.*",
        "schema": "id INT, v STRING, k INT",
    }
    return MySqlSource.create(options, SessionInfo(time_zone="UTC", ansi=True))


def _mixed(cursor: Any, transactions: int, *, is_compressed: bool) -> _Range:
    chance, top = random.Random(7), [0] * len(_SHAPES)
    for number, more in enumerate(_SHAPES):
        cursor.execute(f"DROP TABLE IF EXISTS bench.mixed{number}")
        cursor.execute(
            f"CREATE TABLE bench.mixed{number} (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(50), k INT{more})"
        )
    cursor.execute(f"SET binlog_transaction_compression = {'ON' if is_compressed else 'OFF'}")
    start = _position(cursor)
    for _ in range(transactions):
        cursor.execute("BEGIN")
        for _ in range(chance.randint(1, 4)):
            table, kind = chance.randrange(len(_SHAPES)), chance.random()
            row = f"WHERE id = {chance.randint(1, 1 + top[table])}"
            if kind < _INSERTED:
                cursor.execute(f"INSERT INTO bench.mixed{table} (v, k) VALUES ('one value', 1), ('another', 2)")
                top[table] += 2
            elif kind < _UPDATED:
                cursor.execute(f"UPDATE bench.mixed{table} SET k = k + 1 {row}")
            else:
                cursor.execute(f"DELETE FROM bench.mixed{table} {row}")
        cursor.execute("COMMIT")
    return start, _position(cursor)


def _bulk(cursor: Any, rows: int) -> _Range:
    start = _position(cursor)
    for first in range(0, rows, _STATEMENT_ROWS):
        values = (f"({n}, 'value number {n}', {n}.25, '2020-01-02 03:04:05.678', {n}.5)" for n in _numbers(first))
        cursor.execute(f"INSERT INTO bench.t (k, v, n, d, f) VALUES {', '.join(values)}")
    cursor.execute(f"UPDATE bench.t SET n = n + 1 WHERE k < {rows // 3}")
    cursor.execute(f"DELETE FROM bench.t WHERE k >= {rows - rows // 6}")
    return start, _position(cursor)


def _numbers(first: int) -> range:
    return range(first, first + _STATEMENT_ROWS)


def _single(cursor: Any, rows: int) -> _Range:
    start = _position(cursor)
    cursor.execute(f"CALL bench.single({rows})")
    return start, _position(cursor)


def _position(cursor: Any) -> BinlogPosition:
    cursor.execute("SHOW BINARY LOG STATUS")
    file, pos = cursor.fetchone()[:2]
    return BinlogPosition(file, int(pos))


def _connect(login: MySqlAddress) -> Any:
    return pymysql.connect(**_settings(login), autocommit=True)


def _settings(login: MySqlAddress) -> dict[str, Any]:
    # Without TLS for both readers: on one machine its cost would hide theirs.
    return {
        "host": login.host,
        "port": login.port,
        "user": login.user,
        "password": login.password,
        "ssl_disabled": True,
        "read_timeout": 60,
    }


if __name__ == "__main__":
    main(sys.argv[1:])
