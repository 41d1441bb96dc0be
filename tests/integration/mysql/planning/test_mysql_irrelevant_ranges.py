"""Batches without captured changes, of a table beside which others change."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.support.mysql.mysql_server import MySqlServer, newest_first
from tests.support.mysql_consistency.local_query import LocalQuery, read_batch
from tests.support.mysql_consistency.recording import Recording
from tests.support.source.loopback import wait_until

pytestmark = pytest.mark.mysql


@newest_first
def test_a_query_goes_on_after_a_last_batch_without_captured_changes(mysql: MySqlServer, tmp_path: Path):
    database = mysql.create_database("irrelevant")
    mysql.execute(
        f"CREATE TABLE {database}.t (id INT PRIMARY KEY)",
        f"CREATE TABLE {database}.other (id INT PRIMARY KEY)",
        f"INSERT INTO {database}.t VALUES (1), (2)",
    )
    login = mysql.reader
    options = {
        "hostname": login.host,
        "port": str(login.port),
        "username": login.user,
        "password": login.password,
        "database-name": database,
        "table-name": "t",
        "server-id": "7200-7260",
    }
    recording = Recording(tmp_path).create()
    with LocalQuery(options, recording) as query:
        wait_until(query.step)  # planning looks at the server at intervals
        mysql.execute(f"INSERT INTO {database}.other VALUES (1)")
        wait_until(query.step)
    mysql.execute(f"INSERT INTO {database}.other VALUES (2)")
    with LocalQuery(options, recording) as query:  # which was killed before it committed the batch: it is read again
        assert _last_batch(query, recording).num_rows == 0
        wait_until(query.step)
    mysql.execute(f"INSERT INTO {database}.other VALUES (3)")
    with LocalQuery(options, recording) as query:
        query.step()
        mysql.execute(f"INSERT INTO {database}.t VALUES (3)")
        wait_until(lambda: query.step() and _last_batch(query, recording).num_rows == 1)


def _last_batch(query: LocalQuery, recording: Recording) -> pa.Table:
    return read_batch(query.reader, {}, recording.offset(recording.planned() - 1))
