"""XA transactions that were prepared before a query began, of its tables and of others: none ends it needlessly."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import feather

from datasources.embedded import MySqlVersion
from datasources.errors import DataLossError
from datasources.mysql.binlog.reading.committed import MAX_PREPARED
from tests.support.forms import full
from tests.support.mysql.mysql_binlog import position, purge_to_the_last_file
from tests.support.mysql.mysql_changes import read_range, scan_settings_of
from tests.support.mysql.mysql_server import MySqlServer, OpenMySql, every_server
from tests.support.mysql.mysql_xa import decide, prepare
from tests.support.mysql_consistency.local_query import LocalQuery
from tests.support.mysql_consistency.recording import Recording

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(300)]


@pytest.fixture
def databases(mysql: MySqlServer) -> tuple[str, str]:
    """One whose table t is captured, and another one."""
    both = mysql.create_database("xa"), mysql.create_database("other")
    for name in both:
        mysql.execute(f"CREATE TABLE {name}.t (id INT PRIMARY KEY)", f"INSERT INTO {name}.t VALUES (1)")
    return both


def ids(rows: list[dict[str, object]]) -> list[tuple[object, object]]:
    return [(row["row_kind"], row["id"]) for row in rows]


@every_server
def test_a_transaction_prepared_earlier_is_read_at_its_commit(mysql: MySqlServer, databases):
    own, other = databases
    prepare(mysql, own, own, "INSERT INTO t VALUES (8)")
    decide(mysql, "ROLLBACK", own)  # its name is used once more
    prepare(mysql, own, own, "INSERT INTO t VALUES (2), (3)")
    mysql.execute("FLUSH BINARY LOGS")
    prepare(mysql, other, other, "INSERT INTO t VALUES (2)")
    start = position(mysql)
    mysql.execute(f"INSERT INTO {own}.t VALUES (4)")
    for name in databases:
        decide(mysql, "COMMIT", name)
    mysql.execute(f"INSERT INTO {own}.t VALUES (5)")
    found = ids(read_range(mysql, scan_settings_of(mysql, own, "id INT"), start))
    assert found == [("+I", 4), ("+I", 2), ("+I", 3), ("+I", 5)]


@every_server
def test_snapshot_and_log_have_each_prepared_row_once(mysql: MySqlServer, databases, tmp_path: Path):
    own, other = databases
    prepare(mysql, other, other, "INSERT INTO t VALUES (2)")
    prepare(mysql, own, own, "INSERT INTO t VALUES (2), (3)")
    login = mysql.reader
    options = {
        "hostname": login.host, "port": str(login.port), "username": login.user, "password": login.password,
        "ssl.mode": "disabled", "database-name": own, "table-name": "t", "schema": "id INT",
    }  # fmt: skip
    recording = Recording(tmp_path).create()
    with LocalQuery(options, recording) as query:
        query.step()
        for name in databases:
            decide(mysql, "COMMIT", name)
        for _ in range(12):
            query.step()
    files = [file for n in range(recording.planned()) for file in recording.batches.glob(f"{n}.*")]
    rows = [row for file in files for row in feather.read_table(str(file)).to_pylist()]
    assert sorted(ids(rows)) == [("+I", 1), ("+I", 2), ("+I", 3)]


@every_server
def test_many_open_transactions_of_other_tables_are_ignored(mysql: MySqlServer, databases):
    own, other = databases
    start = position(mysql)
    names = [f"{other}_{number}" for number in range(MAX_PREPARED + 2)]
    for number, name in enumerate(names):
        prepare(mysql, other, name, f"INSERT INTO t VALUES (1{number})")
    prepare(mysql, own, own, "INSERT INTO t VALUES (2)")
    for name in (*names, own):
        decide(mysql, "COMMIT", name)
    assert ids(read_range(mysql, scan_settings_of(mysql, own, "id INT"), start)) == [("+I", 2)]


@pytest.mark.parametrize("version", [MySqlVersion.NEWEST, *full(MySqlVersion.MARIADB)])
def test_if_the_log_is_purged_the_error_names_how_to_skip_the_commit(own_mysql: OpenMySql, version: MySqlVersion):
    server = own_mysql(version)
    own, other = server.create_database("xa"), server.create_database("other")
    for name in (own, other):
        server.execute(f"CREATE TABLE {name}.t (id INT PRIMARY KEY)")
    prepare(server, other, "gone", "INSERT INTO t VALUES (2)")
    purge_to_the_last_file(server)
    start = position(server)
    decide(server, "COMMIT", "gone")
    server.execute(f"INSERT INTO {own}.t VALUES (5)")
    begin = f"{start.file}:{start.pos}"
    with pytest.raises(DataLossError, match=f"prepared before.*'scan.skip-transactions' = '{begin}'"):
        read_range(server, scan_settings_of(server, own, "id INT"), start)
    skipping = scan_settings_of(server, own, "id INT", scan__skip_transactions=begin)
    assert ids(read_range(server, skipping, start)) == [("+I", 5)]
