"""The query of the demo's MySQL part: a table and its changes, merged batch by batch into a copy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from datasources import read_stream
from datasources.changelog import latest_changes
from datasources.demo.queries.failure_text import first_line
from datasources.demo.results.mysql_outcome import Copied
from datasources.demo.story.mysql_shop import COLUMNS, TABLE, Item, table_options
from datasources.embedded import MySqlAddress
from datasources.errors import QueryError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_TRIGGER: Final = "500 milliseconds"
_CHUNK: Final = "1000"
# For a few thousand rows compiling takes longer than running.
_NO_COMPILING: Final = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
_ROWS_OF_A_BATCH: Final = "4000"

SNIPPET: Final = """\
from datasources import read_stream
from datasources.changelog import latest_changes
stock = read_stream(spark, "tidemark-mysql", {
    "hostname": "db", "port": "3306", "username": "reader", "password": "...",
    "database-name": "shop", "table-name": "stock"})
def merge(batch, batch_id):
    changes = latest_changes(batch, keys=["id"])    # row_kind: upsert, delete or truncate; MERGE them into your table
stock.writeStream.foreachBatch(merge).start()"""
"""What a user copies."""


class TableCopy:
    """The running query and its copy.

    The session is ours alone. The checkpoint goes into ``directory``; the server's login may read the table and its
    changes.
    """

    def __init__(self, spark: SparkSession, server: MySqlAddress, directory: Path) -> None:
        self._rows: dict[int, Item] = {}
        self._copied = Copied()
        self._lock = Lock()
        for key, value in _NO_COMPILING.items():
            spark.conf.set(key, value)
        stock = read_stream(spark, "tidemark-mysql", copy_options(server))
        writer = stock.writeStream.foreachBatch(self._merge).trigger(processingTime=_TRIGGER)
        self._query: StreamingQuery = writer.option("checkpointLocation", str(directory / "stock")).start()

    @property
    def copied(self) -> Copied:
        """The counts so far.

        Raises:
            QueryError: The query failed.
        """
        failure = self._query.exception()
        if failure is not None:
            raise QueryError(f"the demo's query of a MySQL table failed: {first_line(failure)}")
        with self._lock:
            return self._copied

    @property
    def rows(self) -> dict[int, Item]:
        """The copy, by key."""
        with self._lock:
            return dict(self._rows)

    def stop(self) -> None:
        """Stop the query."""
        self._query.stop()

    def _merge(self, batch: DataFrame, _batch_id: int) -> None:
        batch.persist()
        try:
            counts = {row["snapshot"]: row["count"] for row in batch.groupBy("snapshot").count().collect()}
            changes = latest_changes(batch, keys=["id"]).select("row_kind", *COLUMNS).collect()
        finally:
            batch.unpersist()
        with self._lock:
            for kind, *values in sorted(changes, key=lambda row: row["row_kind"] != "truncate"):
                self._apply(kind, tuple(values))
            self._copied = _added(self._copied, counts)

    def _apply(self, kind: str, values: Item) -> None:
        if kind == "truncate":
            self._rows.clear()
        elif kind == "upsert":
            self._rows[values[0]] = values
        else:
            self._rows.pop(values[0], None)


def copy_options(server: MySqlAddress) -> dict[str, str]:
    """Return the options of the query. The chunks are small: 20,000 rows would be one batch otherwise."""
    return {
        **table_options(server, TABLE),
        "scan.incremental.snapshot.chunk.size": _CHUNK,
        "scan.snapshot.parallelism": "2",
        "scan.max-rows-per-batch": _ROWS_OF_A_BATCH,
    }


def _added(copied: Copied, counts: dict[Any, int]) -> Copied:
    snapshot, changes = counts.get(True, 0), counts.get(False, 0)
    if not snapshot and not changes:
        return copied
    total = copied.changes + changes
    more = replace(copied, batches=copied.batches + 1, changes=total)
    if not snapshot:
        return more
    return replace(
        more,
        snapshot_batches=copied.snapshot_batches + 1,
        snapshot_rows=copied.snapshot_rows + snapshot,
        early_changes=total,
    )
