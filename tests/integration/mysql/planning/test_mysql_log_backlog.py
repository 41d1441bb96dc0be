"""The age of the oldest unread change and the server's retention, beside the commit times of the rows that are read next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyarrow import feather

from datasources.mysql.planning import log_backlog, mysql_enumerator
from tests.support.mysql.mysql_server import MySqlServer, OpenMySql, every_server
from tests.support.mysql_consistency.local_query import LocalQuery
from tests.support.mysql_consistency.recording import Recording

pytestmark = pytest.mark.mysql


def _options(server: MySqlServer, database: str, **more: str) -> dict[str, str]:
    login = server.reader
    return {
        "hostname": login.host,
        "port": str(login.port),
        "username": login.user,
        "password": login.password,
        "database-name": database,
        "table-name": "t",
        "scan.startup.mode": "latest-offset",
        **more,
    }


def _commit_ms(recording: Recording, batch: int) -> list[float]:
    (file,) = recording.batches.glob(f"{batch}.*")
    return [row["op_ts"].timestamp() * 1_000 for row in feather.read_table(str(file)).to_pylist()]


@every_server
def test_what_is_unread_is_never_shown_as_younger_than_the_next_row(
    mysql: MySqlServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    database = mysql.create_database("backlog")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY, v VARCHAR(2000))")
    measured: list[tuple[int, dict[str, Any]]] = []  # the server's clock, ms, and what was shown then

    class Seen(log_backlog.LogBacklog):
        def measure(self, position: int, end: int, clock_us: int) -> None:
            super().measure(position, end, clock_us)
            measured.append((clock_us // 1_000, dict(self.to_json()["log"])))

    monkeypatch.setattr(mysql_enumerator, "LogBacklog", Seen)
    recording = Recording(tmp_path).create()
    shown = {}
    options = _options(mysql, database, **{"scan.max-bytes-per-batch": "5000"})
    with LocalQuery(options, recording, lambda batch: shown.update({batch: measured[-1]})) as query:
        query.step()
        for number in range(12):
            mysql.execute(f"INSERT INTO {database}.t VALUES ({number}, REPEAT('x', 2000))", "DO SLEEP(0.06)")
            if number % 6 == 0:
                query.step()
        while query.step():
            continue
        query.reader.latestOffset(recording.offset(recording.planned() - 1), query._limit())
    ages = {
        batch: (clock, log["unread_age_ms"]) for batch, (clock, log) in shown.items() if _commit_ms(recording, batch)
    }
    known = {batch: each for batch, each in ages.items() if each[1] is not None}
    assert len(known) >= 3
    second = 1_000 if mysql.is_mariadb else 1  # MariaDB's log has whole seconds
    for batch, (clock, age) in known.items():
        assert age >= clock - min(_commit_ms(recording, batch)) - second, batch
        read = [at for earlier in range(batch) for at in _commit_ms(recording, earlier)]
        assert age <= clock - max(read, default=measured[0][0]) + second, batch
    assert measured[-1][1]["unread_age_ms"] == 0
    seconds = mysql.execute(
        "SELECT @@GLOBAL.expire_logs_days * 86400" if mysql.is_mariadb else "SELECT @@GLOBAL.binlog_expire_logs_seconds"
    )
    assert (measured[-1][1]["retention_ms"] or 0) == int(seconds[0][0]) * 1_000


def test_a_retention_that_was_changed_is_shown(own_mysql: OpenMySql, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    server = own_mysql(**{"binlog-expire-logs-seconds": "7200"})
    server.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
    made: list[log_backlog.LogBacklog] = []

    class Seen(log_backlog.LogBacklog):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr(mysql_enumerator, "LogBacklog", Seen)
    monkeypatch.setattr(log_backlog, "_REFRESH_S", 0)
    with LocalQuery(_options(server, "d"), Recording(tmp_path).create()) as query:
        query.step()
        server.execute("INSERT INTO d.t VALUES (1)", "DO SLEEP(0.06)")
        query.step()
        assert made[-1].to_json()["log"]["retention_ms"] == 7_200_000
        server.execute("SET GLOBAL binlog_expire_logs_auto_purge = OFF", "INSERT INTO d.t VALUES (2)", "DO SLEEP(0.06)")
        query.step()
        assert made[-1].to_json()["log"]["retention_ms"] is None
