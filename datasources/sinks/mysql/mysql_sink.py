"""Applies the changes of a batch to a table of MySQL in one transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pymysql
from pymysql.constants import CR, ER
from pyspark.sql import DataFrame

from datasources.changelog.net_actions import DELETE_COLUMN
from datasources.errors import OptionError, RecordError, SourceUnavailable, TidemarkError
from datasources.mysql.connection.connection import connect
from datasources.mysql.connection.connection_errors import error_number, explain, is_refused
from datasources.mysql.connection.quoting import quote_name, table_name
from datasources.mysql.connection.server_dialect import parse_version
from datasources.sinks.change_sink import BatchNumber, SinkTable, is_written
from datasources.sinks.driver_rows import DriverRows, driver_rows
from datasources.sinks.mysql.column_checks import ColumnWriter
from datasources.sinks.mysql.jdbc_options import JdbcTarget, jdbc_target
from datasources.sinks.mysql.sql_literals import row_texts, statement_texts
from datasources.sinks.mysql.target_table import TargetTable, target_table
from datasources.spark.boundary.errors import spark_errors
from datasources.spark.boundary.worker_heap import freeze_worker_heap

BATCHES_TABLE: Final = "_tidemark_batches"
_BATCHES: Final = (
    "query CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, "
    "target VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, "
    "batch BIGINT NOT NULL, PRIMARY KEY (query, target)"
)
_MODES: Final = (
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "NO_BACKSLASH_ESCAPES",
    "NO_AUTO_VALUE_ON_ZERO",
)
_SESSION: Final = (
    f"SET SESSION sql_mode = '{','.join(_MODES)}'",
    "SET SESSION time_zone = '+00:00'",
    # Deletes of keys that are not there lock no gaps.
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
)
_ROW_ALIAS_SINCE: Final = (8, 0, 19)
_STATEMENT_CHARACTERS: Final = 1 << 19
_UPSERT_ROWS: Final = 5_000
_DELETE_ROWS: Final = 1_000
"""Of more the optimizer may give up on ranges and read the whole table."""
_ATTEMPTS: Final = 4
_PAUSE_S: Final = 0.5
_TRANSIENT: Final = frozenset(
    {ER.LOCK_DEADLOCK, ER.LOCK_WAIT_TIMEOUT, CR.CR_SERVER_LOST, CR.CR_SERVER_GONE_ERROR, ER.SERVER_SHUTDOWN}
)
_REFUSED_VALUES: Final = frozenset(
    {
        ER.BAD_NULL_ERROR,
        ER.DATA_TOO_LONG,
        ER.WARN_DATA_OUT_OF_RANGE,
        ER.TRUNCATED_WRONG_VALUE,
        ER.TRUNCATED_WRONG_VALUE_FOR_FIELD,
        ER.WARN_DATA_TRUNCATED,
        ER.DUP_ENTRY,
        ER.NO_REFERENCED_ROW_2,
        ER.ROW_IS_REFERENCED_2,
        ER.CONSTRAINT_FAILED,
        1525,  # ER_WRONG_VALUE
        3140,  # ER_INVALID_JSON_TEXT
        3819,  # ER_CHECK_CONSTRAINT_VIOLATED
    }
)
_TEXTS_SCHEMA: Final = "is_delete BOOLEAN, text STRING"


class MySqlSink:
    """A table of MySQL or MariaDB; `check` comes before `apply`."""

    def __init__(self, table: SinkTable) -> None:
        self._table = table
        self._target: JdbcTarget = jdbc_target(table.options)
        self._found: TargetTable | None = None

    def check(self) -> None:
        """Find the target, compare it with the table, and create the table of batches."""
        target = self._target
        with closing(connect(target.connection.for_first_contact(), doing=f"checking the table {target}")) as found:
            try:
                with found.cursor() as cursor:
                    self._found = target_table(cursor, target.database, target.table, self._table)
                    self._create_batches(cursor)
            except pymysql.MySQLError as error:
                raise self._error(error, "checking the target") from error

    def apply(self, actions: DataFrame, batch: BatchNumber | None) -> None:
        """Apply a batch, unless its number, or a later one, was written."""
        assert self._found is not None, "check() comes first"
        texts = actions.mapInArrow(
            StatementTexts(writers=self._found.writers, key_writers=self._found.key_writers), _TEXTS_SCHEMA
        )
        with driver_rows(texts, "text") as rows:
            if not rows.is_empty:
                self._write(rows, batch)

    def _write(self, texts: DriverRows, batch: BatchNumber | None) -> None:
        """Write a batch; begin again if the connection broke, or another transaction was in the way."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with closing(
                    connect(self._target.connection, statements=_SESSION, doing=f"writing {self._target}")
                ) as c:
                    self._transaction(c, texts, batch)
            except pymysql.MySQLError as error:
                if attempt == _ATTEMPTS or error_number(error) not in _TRANSIENT:
                    raise self._error(error, "writing" if batch is None else f"writing batch {batch.number}") from error
            else:
                return
            threading.Event().wait(_PAUSE_S * attempt)

    def _transaction(self, connection: Any, texts: DriverRows, batch: BatchNumber | None) -> None:
        with connection.cursor() as cursor:
            if batch is not None and self._is_written(connection, cursor, batch):
                connection.rollback()
                return
            if batch is None:
                connection.begin()
            upsert, delete = self._statements(connection)
            for row in texts:
                cursor.execute(delete.around(row.text) if row.is_delete else upsert.around(row.text))
            if batch is not None:
                cursor.execute(
                    f"UPDATE {self._batches} SET batch = %s WHERE query = %s AND target = %s",
                    (batch.number, batch.query, self._target.table),
                )
            connection.commit()

    def _is_written(self, connection: Any, cursor: Any, batch: BatchNumber) -> bool:
        """Begin a transaction, and return whether the batch is there already; locks the row of the query.

        A driver that was believed dead cannot write then, and its batch is there when it can.
        """
        key = (batch.query, self._target.table)
        for _ in range(2):
            connection.begin()
            cursor.execute(f"SELECT batch FROM {self._batches} WHERE query = %s AND target = %s FOR UPDATE", key)
            found = cursor.fetchone()
            if found is not None:
                return is_written(batch.number, found[0], f"table {self._target}")
            connection.rollback()
            cursor.execute(f"INSERT IGNORE INTO {self._batches} (query, target, batch) VALUES (%s, %s, -1)", key)
            connection.commit()
        raise SourceUnavailable(
            f"the row of the query in {self._batches} vanished while batch {batch.number} was written: nobody else may "
            f"change that table. The query can be restarted."
        )

    @property
    def _batches(self) -> str:
        return table_name(self._target.database, BATCHES_TABLE)

    def _create_batches(self, cursor: Any) -> None:
        cursor.execute(
            "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s",
            (self._target.database, BATCHES_TABLE),
        )
        if cursor.fetchone() is not None:
            return
        statement = f"CREATE TABLE IF NOT EXISTS {self._batches} ({_BATCHES}) ENGINE = InnoDB"
        try:
            cursor.execute(statement)
        except pymysql.MySQLError as error:
            if not is_refused(error):
                raise
            raise OptionError(
                f"the login may not create the table in which the numbers of written batches are kept: GRANT CREATE ON "
                f"{quote_name(self._target.database)}.* to it, or create the table for it: {statement};"
            ) from error

    def _statements(self, connection: Any) -> tuple[Around, Around]:
        assert self._found is not None
        table = table_name(self._target.database, self._target.table)
        names, key = (list(map(quote_name, each)) for each in (self._found.names, self._found.key))
        version = parse_version(connection.get_server_info())
        has_alias = not version.is_mariadb and version.numbers >= _ROW_ALIAS_SINCE
        others = [name for name in names if name not in key] or key[:1]
        updates = ", ".join(f"{name} = " + (f"new_row.{name}" if has_alias else f"VALUES({name})") for name in others)
        upsert = Around(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ",
            f"{' AS new_row' if has_alias else ''} ON DUPLICATE KEY UPDATE {updates}",
        )
        return upsert, Around(f"DELETE FROM {table} WHERE ({', '.join(key)}) IN (", ")")

    def _error(self, error: pymysql.MySQLError, doing: str) -> TidemarkError:
        number = error_number(error)
        if number in _REFUSED_VALUES:
            return RecordError(
                f"the server refused a row while {doing} into {self._target}: {error.args[-1]} ({number}). Nothing of "
                f"the batch was written. Change the target or the query, and start the query again."
            )
        return explain(error, doing=f"{doing} into {self._target.table}", server=str(self._target.connection))


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around the rows of a statement."""

    head: str
    tail: str

    def around(self, rows: str) -> str:
        """Return the statement."""
        return f"{self.head}{rows}{self.tail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementTexts:
    """A function for mapInArrow: actions as texts for statements.

    Attributes:
        writers: of the columns of an upsert.
        key_writers: of the columns of a delete.
    """

    writers: Sequence[ColumnWriter]
    key_writers: Sequence[ColumnWriter]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield rows of _TEXTS_SCHEMA."""
        with spark_errors():
            for batch in batches:
                is_delete = batch.column(DELETE_COLUMN)
                yield from self._texts(batch.filter(is_delete), is_delete=True)
                yield from self._texts(batch.filter(pc.invert(is_delete)), is_delete=False)
            freeze_worker_heap()

    def _texts(self, rows: pa.RecordBatch, *, is_delete: bool) -> Iterator[pa.RecordBatch]:
        if not rows.num_rows:
            return
        texts = row_texts(rows, self.key_writers if is_delete else self.writers)
        limit = _DELETE_ROWS if is_delete else _UPSERT_ROWS
        for _, text in statement_texts(texts, max_rows=limit, max_characters=_STATEMENT_CHARACTERS):
            yield pa.RecordBatch.from_arrays([pa.array([is_delete]), pa.array([text])], ["is_delete", "text"])
