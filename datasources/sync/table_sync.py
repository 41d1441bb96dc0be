"""The query that keeps the copy of one table.

The columns of a query are those of the table when it starts, and a column that the table gets stops it
(`schema.change.behavior`), as do one that is dropped and one with a type that no longer fits. Then the query is started
again with the columns of that moment, and reads the batch that stopped it once more. Whether this gives the table's
rows is decided by the source: it knows each statement in between, and stops where one changed rows without row events.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Final

from datasources.errors import QueryError, SchemaError
from datasources.formats.schema_text.ddl import schema_ddl
from datasources.mysql.connection.connection import connect
from datasources.mysql.preflight.readiness import common_columns
from datasources.mysql.tables.chunk_key import KeyKind
from datasources.mysql.tables.table_schema import TableSchema, read_schema
from datasources.session import read_stream
from datasources.sinks.batch_writer import batch_number
from datasources.sinks.lake.delta_copy import KIND_COLUMN, SEQUENCE_COLUMN, DeltaCopy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery
    from pyspark.sql.types import StructType

    from datasources.sync.sync_request import SyncRequest

_METADATA: Final = f"{KIND_COLUMN} FROM row_kind, {SEQUENCE_COLUMN} FROM _seq"
_OURS: Final = re.compile(r"\[TIDEMARK_[A-Z_]+\] ([^\n]*)")
_REREAD: Final = "'on-rewrite-ddl' = 'reread'"
_HINT: Final = (
    "This command reads such a table again with --reread-after-ddl; 'scan.skip-transactions' is given with -o."
)
_KEYS: Final = (KeyKind.PRIMARY, KeyKind.UNIQUE)


class TableSync:
    """The copy of one table, and its query.

    Args:
        spark: a session with Delta Lake.
        request: what was asked for.
        table: name of the table.
        report: takes a line for the user.
    """

    def __init__(self, spark: SparkSession, request: SyncRequest, table: str, report: Callable[[str], None]) -> None:
        self.name = f"{request.database}.{table}"
        self._spark = spark
        self._request = request
        self._table = table
        self._report = report
        self._columns: Mapping[str, str] = {}
        self._query: StreamingQuery | None = None

    def start(self) -> None:
        """Start the query, with the columns that the table has now.

        Raises:
            SchemaError: the table has no key, or a column that cannot be read.
            OptionError: the session has no Delta Lake, or an option is wrong.
            SourceUnavailable: the server cannot be reached, or is not ready.
        """
        schema = self._schema()
        stream = self._stream(schema)
        columns = _table_columns(stream)
        copy = DeltaCopy(self._spark, self._request.copy_of(self._table), columns, _key(schema))
        copy.create()
        writer = stream.writeStream.foreachBatch(_writer(copy)).queryName(f"sync {self.name}")
        writer = writer.option("checkpointLocation", self._request.checkpoint_of(self._table))
        writer = writer.trigger(**self._request.trigger)
        self._columns = _types(columns)
        self._query = writer.start()

    def step(self) -> bool:
        """Return whether the query runs; start it again if columns stopped it.

        Raises:
            TidemarkError: it ended for another reason.
        """
        query = self._query
        assert query is not None
        if query.isActive:
            return True
        problem = query.exception()
        if problem is None:
            return False
        self._go_on(str(problem))
        return True

    def stop(self) -> None:
        """Stop the query, if it runs."""
        if self._query is not None:
            self._query.stop()

    # -- columns --

    def _go_on(self, message: str) -> None:
        """Start the query again if the table has other columns now."""
        error = _error_of(message, self.name)
        before = self._columns
        if f"[{SchemaError.code}]" not in message or _types(_table_columns(self._stream(self._schema()))) == before:
            raise error
        self.start()
        self._report(f"{self.name}: {_difference(before, self._columns)}")

    def _stream(self, schema: TableSchema) -> DataFrame:
        return read_stream(self._spark, "tidemark-mysql", self._options(schema))

    def _schema(self) -> TableSchema:
        connection = connect(self._request.connection, doing=f"looking at the columns of {self.name}")
        with closing(connection):
            return read_schema(connection, self._request.database, self._table)

    def _options(self, schema: TableSchema) -> dict[str, str]:
        captured = self._request.captured(self._table)
        return {
            **self._request.source_options,
            "database-name": captured.databases,
            "table-name": captured.tables,
            "schema": schema_ddl(common_columns([schema], captured, str(self._request.connection))),
            "scan.metadata": _METADATA,
            "schema.change.behavior": "exception",
            "on-rewrite-ddl": "reread" if self._request.rereads else "fail",
            "watermark.on-change": "continue",
        }


def _table_columns(stream: DataFrame) -> StructType:
    return stream.drop(KIND_COLUMN, SEQUENCE_COLUMN).schema


def _types(columns: StructType) -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in columns}


def _writer(copy: DeltaCopy) -> Callable[[DataFrame, int], None]:
    def write(changes: DataFrame, number: int) -> None:
        copy.write(changes, batch_number(changes, number))

    return write


def _key(schema: TableSchema) -> list[str]:
    if schema.key.kind not in _KEYS:
        raise SchemaError(
            f"table {schema.name} has {schema.key}, by which no row of a copy can be found: give it one (ALTER TABLE "
            f"{schema.name} ADD PRIMARY KEY ...), or leave it out (--exclude '{re.escape(schema.table)}')."
        )
    return [column.name for column in schema.key.columns]


def _error_of(message: str, table: str) -> QueryError:
    """Return the error of a copy whose query ended, with the sentence of ours that Spark's message quotes."""
    found = _OURS.search(message)
    reason = found[1] if found is not None else next(iter(message.strip().splitlines()), "no reason is given")
    hint = f" {_HINT}" if _REREAD in reason else ""
    return QueryError(f"the copy of {table} stopped: {reason}{hint}")


def _difference(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    added = [f"{name} {kind} is new" for name, kind in now.items() if name not in before]
    dropped = [f"{name} is gone" for name in before if name not in now]
    changed = [f"{name} is {now[name]}, was {kind}" for name, kind in before.items() if now.get(name, kind) != kind]
    return "; ".join([*added, *dropped, *changed]) or "the order of the columns changed"
