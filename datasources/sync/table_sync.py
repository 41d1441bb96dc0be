"""The query that keeps the copy of one table.

The columns of a query are those of the table when it starts, and a column that the table gets stops it
(`schema.change.behavior`), as do one that is dropped and one with a type that no longer fits. Then the query is started
again with the columns of that moment, and reads the batch that stopped it once more. Whether this gives the table's
rows is decided by the source: it knows each statement in between, and stops where one changed rows without row events.

A query that failed for a reason that may pass, such as a server that is down, is started again too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from datasources.errors import CoordinatorError, QueryError, SchemaError, SourceUnavailable
from datasources.formats.schema_text.ddl import schema_ddl
from datasources.mysql.connection.connection import connect
from datasources.mysql.preflight.readiness import common_columns
from datasources.mysql.tables.chunk_key import KeyKind
from datasources.mysql.tables.table_schema import TableSchema, read_schema
from datasources.session import read_stream
from datasources.sinks.batch_writer import batch_number
from datasources.sinks.lake.delta_copy import KIND_COLUMN, SEQUENCE_COLUMN, DeltaCopy
from datasources.sync.restarts import Restarts
from watermark import SystemClock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery
    from pyspark.sql.types import StructType

    from datasources.sync.sync_request import SyncRequest

_METADATA: Final = f"{KIND_COLUMN} FROM row_kind, {SEQUENCE_COLUMN} FROM _seq"
_OURS: Final = re.compile(r"\[(TIDEMARK_[A-Z_]+)\] ([^\n]*)")
_MAY_PASS: Final = (None, SourceUnavailable.code, CoordinatorError.code)
"""Codes of errors after which a query is started again; None = an error of Spark, of the lake or of the machine."""
_NO_REASON: Final = ("An error occurred while calling", "An exception was raised by the Python Proxy", "Traceback")
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
        self._restarts = Restarts(request.restarts, SystemClock())

    def step(self) -> bool:
        """Start the query, first or again, if it is due; return whether it runs, or will.

        Raises:
            SchemaError: the table has no key, or a column that cannot be read.
            OptionError: the session has no Delta Lake, or an option is wrong.
            SourceUnavailable: the server is not ready for a first start.
            QueryError: the query ended for a reason that does not pass, or too often.
        """
        if self._query is None:
            if self._restarts.is_due:
                self._try_to_start()
            return True
        if self._query.isActive:
            if self._query.lastProgress is not None:
                self._restarts.succeeded()
            return True
        problem = self._query.exception()
        if problem is None:
            return False
        self._query = None
        self._go_on(str(problem))
        return True

    def stop(self) -> None:
        """Stop the query, if it runs."""
        if self._query is not None:
            self._query.stop()

    # -- starting --

    def _go_on(self, message: str) -> None:
        """Decide whether the query is started again, and when."""
        code, reason = code_and_reason(message)
        try:
            if code == SchemaError.code and self._has_other_columns():
                return
        except SourceUnavailable as error:
            code, reason = error.code, error.message
        pause_s = self._restarts.failed() if code in _MAY_PASS else None
        if pause_s is None:
            raise QueryError(f"the copy of {self.name} stopped: {reason}{_HINT if _REREAD in reason else ''}")
        self._report(f"{self.name}: starts again in {pause_s} s, because: {reason}")

    def _start(self) -> None:
        """Start the query, with the columns that the table has now."""
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

    def _try_to_start(self) -> None:
        before = self._columns
        try:
            self._start()
        except (SourceUnavailable, PySparkException, Py4JError) as error:
            code, reason = code_and_reason(str(error))
            if code == SchemaError.code:  # of Spark, which asked the source for its columns
                raise SchemaError(reason) from error
            if code == SourceUnavailable.code and not before:
                raise SourceUnavailable(reason) from error
            self._go_on(str(error))
        else:
            self._report_columns(before)

    def _report_columns(self, before: Mapping[str, str]) -> None:
        if not before:
            self._report(f"{self.name}: is copied to {self._request.copy_of(self._table)}")
        elif before != self._columns:
            self._report(f"{self.name}: {_difference(before, self._columns)}")

    def _has_other_columns(self) -> bool:
        return _types(_table_columns(self._stream(self._schema()))) != self._columns

    # -- columns --

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


def code_and_reason(message: str) -> tuple[str | None, str]:
    """Return our code and the sentence behind it, which Spark's message quotes; (None, a line) of another error."""
    found = _OURS.search(message)
    if found is not None:
        return found[1], found[2]
    lines = [line for line in message.splitlines() if line[:1].strip() and not any(map(line.__contains__, _NO_REASON))]
    sentences = [line for line in lines if " " in line]  # a class may stand on a line of its own
    return None, next(iter([*sentences, *lines]), "no reason is given").strip(": ")


def _difference(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    added = [f"{name} {kind} is new" for name, kind in now.items() if name not in before]
    dropped = [f"{name} is gone" for name in before if name not in now]
    changed = [f"{name} is {now[name]}, was {kind}" for name, kind in before.items() if now.get(name, kind) != kind]
    return "; ".join([*added, *dropped, *changed]) or "the order of the columns changed"
