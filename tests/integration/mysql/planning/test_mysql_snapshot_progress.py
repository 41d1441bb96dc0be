"""How far the reading of tables is, by the server's estimate."""

from __future__ import annotations

import pytest

from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.config.captured_tables import CapturedTables
from datasources.mysql.connection.connection import ConnectionSettings, connect
from datasources.mysql.planning.snapshot_progress import SnapshotProgress
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.snapshot_scan import SnapshotScan
from datasources.source.api.connector_state import RangeInfo
from datasources.source.api.split import SplitId
from tests.support.mysql.mysql_server import MySqlServer
from watermark.clock import ManualClock

pytestmark = pytest.mark.mysql


def test_chunks_rows_rate_and_time_left_follow_from_what_was_read(mysql: MySqlServer):
    database = mysql.create_database("progress")
    rows = ", ".join(f"({n})" for n in range(100))
    for table in ("a", "b", "c"):
        mysql.execute(
            f"CREATE TABLE {database}.{table} (id INT PRIMARY KEY)",
            f"INSERT INTO {database}.{table} VALUES {rows}",
            f"ANALYZE TABLE {database}.{table}",
        )
    login = mysql.reader
    where = ConnectionSettings(host=login.host, port=login.port, user=login.user, password=login.password)
    clock = ManualClock()
    found = SnapshotProgress(
        lambda doing: connect(where, doing=doing), CapturedTables(database, ".*"), clock, chunk_size=30
    )
    position = BinlogPosition("binlog.000001", 4)
    snapshot = SnapshotScan(table=(database, "b"))
    state = MySqlState(
        reader="r",
        server="s",
        position=position,
        prepared={},
        snapshot=snapshot,
        chunks_per_reader=(2, 1),
        after=snapshot,
    )
    assert found.to_json(state) == {}
    found.resume(snapshot)
    snapshot = found.to_json(state)["snapshot"]
    assert (snapshot["status"], snapshot["table"]) == ("running", f"{database}.b")
    assert (snapshot["chunks"], snapshot["chunks_estimated"]) == (0, 8)  # of the tables b and c, four each
    assert (snapshot["rows"], snapshot["rows_estimated"], snapshot["seconds_left"]) == (0, 200, None)
    clock.advance_us(2_000_000)
    ranges = {SplitId(f"snapshot-{n}"): RangeInfo(position=n, rows=40, note=None) for n in range(2)}
    found.add(state, {**ranges, SplitId("binlog"): RangeInfo(position=9, rows=7, note="")})
    snapshot = found.to_json(state)["snapshot"]
    assert (snapshot["chunks"], snapshot["chunks_estimated"], snapshot["rows"]) == (3, 8, 80)
    assert (snapshot["rows_per_second"], snapshot["seconds_left"]) == (40, 3)
    done = found.to_json(MySqlState(reader="r", server="s", position=position, prepared={}))["snapshot"]
    assert done == {
        "status": "done",
        "table": None,
        "chunks": 3,
        "chunks_estimated": 3,
        "rows": 80,
        "rows_estimated": 80,
        "rows_per_second": 40,
        "seconds_left": 0,
    }
