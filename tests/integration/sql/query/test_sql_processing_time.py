"""Windows of processing time: PROCTIME() of a table, of a view and of a sub-query, beside a declared watermark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from datasources.sql import TableEnvironment
from tests.support.spark.scripted_stream import running
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("registered", "tiny_queries")]

_COLUMNS = "k STRING, kind INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '4' SECOND"
_COUNT = "SELECT k, COUNT(*) AS n, window_end FROM TABLE(TUMBLE({}, DESCRIPTOR({}), INTERVAL '1' SECOND)) "
_GROUPED = "GROUP BY k, window_start, window_end"


@pytest.mark.parametrize(
    "query",
    [
        _COUNT.format("TABLE t", "pt") + _GROUPED,
        _COUNT.format("TABLE clocked", "p_time") + _GROUPED,
        _COUNT.format("(SELECT *, PROCTIME() AS now FROM kinds)", "now") + _GROUPED,
        (
            "SELECT k, COUNT(*) AS n, TUMBLE_END(p_time, INTERVAL '1' SECOND) AS e FROM clocked "
            "GROUP BY k, TUMBLE(p_time, INTERVAL '1' SECOND)"
        ),
    ],
)
def test_the_clock_closes_windows_of_processing_time(spark: Any, tmp_path: Path, query: str) -> None:
    """The rows are of 1970: their watermark would close nothing."""
    write_records(tmp_path / "t", "s-0", [{"k": "a", "kind": 2, "ts": f"1970-01-01 00:00:0{n}"} for n in range(5)])
    environment = TableEnvironment(spark)
    environment.execute(scripted_table("t", _COLUMNS, tmp_path / "t"))
    environment.execute("CREATE VIEW kinds AS SELECT k, ts FROM t WHERE kind = 2")
    environment.execute("CREATE VIEW clocked AS SELECT *, PROCTIME() AS p_time FROM kinds")
    frame = environment.query(query)
    assert len(frame.columns) == 3
    with running(frame) as stream:
        stream.wait_for(lambda run: len(run.rows()) > 0)
        (row,) = stream.rows()
    assert tuple(row)[:2] == ("a", 5)
    assert row[2] > 1_500_000_000


def test_the_columns_of_a_table_stay_those_that_it_declares(spark: Any, tmp_path: Path) -> None:
    environment = TableEnvironment(spark)
    environment.execute(scripted_table("t", _COLUMNS, tmp_path / "t"))
    (tmp_path / "t").mkdir()
    frame = environment.query("SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(pt), INTERVAL '1' SECOND))")
    assert frame.columns == ["k", "kind", "ts", "pt", "window_start", "window_end", "window_time"]
