"""INSERT INTO a table that takes changes: the sink keeps it equal to the query's result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from datasources.changelog.net_actions import KIND_COLUMN
from datasources.errors import OptionError, QueryError
from datasources.options import lower_keys
from datasources.sinks.batch_writer import BatchWriter
from datasources.sinks.change_sink import SinkTable
from datasources.sinks.registry import APPEND_SINKS, CHANGE_SINKS
from datasources.spark.boundary.connect import is_connect
from datasources.sql.execute.fitted_columns import fitted, written_columns
from datasources.sql.execute.queries import QueryResult, query_result
from datasources.sql.execute.result import StatementResult
from datasources.sql.execute.stream_writer import NEEDS_NO_CHECKPOINT, prepared, sink_options, started
from datasources.sql.settings import RuntimeMode
from datasources.sql.statements.catalog_objects import TableDefinition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from datasources.sql.execute.session_state import SessionState
    from datasources.sql.planner.connectors import Connector
    from datasources.sql.resolve.resolved_table import ResolvedTable
    from datasources.sql.statements.statements import Insert

_FLINKS_OPTIONS = frozenset({"table-name", "catalog-name"})
"""Flink's options of the target, of `jdbc` and of `iceberg`; Spark's own sinks of these names have others."""
_ONE_ROW = (
    "one row per key comes from GROUP BY the key, or from row_number() OVER (PARTITION BY key ORDER BY ... DESC) = 1 "
    "around the query"
)


def takes_changes(connector: Connector, table: TableDefinition) -> bool:
    """Return whether INSERT applies changes to a table; others of the connector's name are written by Spark."""
    if connector.name.lower() not in CHANGE_SINKS:
        return False
    is_flinks = not _FLINKS_OPTIONS.isdisjoint(lower_keys(table.options))
    return connector.is_ours or table.primary_key is not None or is_flinks


def insert_changes(
    state: SessionState, statement: Insert, table: TableDefinition, connector: Connector
) -> StatementResult:
    """Apply the changes of a query's result to a table, or write the rows of a query that is no stream.

    Raises:
        SqlError: the table has no PRIMARY KEY or another one than the result, the columns do not fit, or the target
            does not take them.
        OptionError: an option is wrong, or a stream has nowhere to keep its checkpoint.
        SourceUnavailable: the server cannot be reached.
    """
    resolved = state.planner.resolved(table)
    _require_key(resolved, connector, statement)
    result = query_result(state, statement.query, takes_changes=True)
    rows = _fitted_result(result, resolved, statement)
    return write_into_sink(state, statement, table, rows, key=resolved.primary_key)


def write_into_sink(
    state: SessionState, statement: Insert, table: TableDefinition, rows: DataFrame, *, key: Sequence[str]
) -> StatementResult:
    """Write rows, under the names and types of a table, into the sink of its connector.

    Raises:
        SqlError: the target does not take the table's columns, or an option is wrong.
        QueryError: the session is a client of Spark Connect, whose batches are written in another process.
        OptionError: a stream has nowhere to keep its checkpoint.
        SourceUnavailable: the server cannot be reached.
    """
    connector = state.planner.connector(table)
    if is_connect(state.spark):
        raise QueryError(
            f"INSERT INTO '{table.name}' ({connector.name}) writes its batches in the driver's process, which a Spark "
            f"Connect client is not: run the job there (spark-submit, or a session without .remote(...)), or write "
            f"into a format of Spark's."
        )
    writer = _checked_writer(rows, key, table, connector, statement)
    if state.settings.typed.runtime_mode is RuntimeMode.BATCH or not rows.isStreaming:
        writer.write_rows(rows)
        return StatementResult(kind="INSERT", hints=statement.hints)
    stream = prepared(state, rows.writeStream.foreachBatch(writer), table, format_name=connector.name)
    return started(state, stream, table, statement.hints)


def shows_changes(connector: Connector, table: TableDefinition) -> bool:
    """Return whether a table shows the changes of a result; with an output mode it shows rows as Spark does."""
    return connector.format_name in NEEDS_NO_CHECKPOINT and "outputmode" not in lower_keys(table.options)


def sink_line(state: SessionState, statement: Insert) -> str | None:
    """Return the target of an INSERT as EXPLAIN shows it; None = it takes rows that are only added."""
    table = state.catalog.find(statement.target)
    if not isinstance(table, TableDefinition):
        return None
    connector = state.planner.connector(table)
    if shows_changes(connector, table):
        return f"{table.name} ({connector.name}): rows, with row_kind in front if they change"
    if not takes_changes(connector, table):
        return None
    resolved = state.planner.resolved(table)
    return f"{table.name} ({connector.name}): upserts and deletes by ({', '.join(resolved.primary_key)})"


def _checked_writer(
    rows: DataFrame, key: Sequence[str], table: TableDefinition, connector: Connector, statement: Insert
) -> BatchWriter:
    """Return the function that writes batches, once the sink has checked its target."""
    target = SinkTable(
        name=table.name,
        schema=rows.drop(KIND_COLUMN).schema,
        key=key,
        options=lower_keys(sink_options(table)),
    )
    sinks = CHANGE_SINKS if key else APPEND_SINKS
    try:
        sink = sinks[connector.name.lower()](rows.sparkSession, target)
        sink.check()
    except OptionError as problem:
        raise statement.source.error(
            statement.target_span, f"table '{table.name}': {problem.message.rstrip('.')}"
        ) from problem
    return BatchWriter(sink=sink, table=target)


def _require_key(table: ResolvedTable, connector: Connector, statement: Insert) -> None:
    """Refuse a target without a key of columns that the statement writes."""
    stored = {column.name: column for column in table.columns if column.is_physical}
    if not table.primary_key:
        raise statement.source.error(
            statement.target_span,
            f"table '{table.name}' ({connector.name}) has no PRIMARY KEY, by which changes find their rows",
            "Declare it: PRIMARY KEY (column, ...) NOT ENFORCED.",
        )
    written = set(written_columns(table, statement))
    for name in table.primary_key:
        if name not in stored or name.lower() not in written:
            raise statement.source.error(
                statement.target_span,
                f"the statement does not write the column '{name}' of the PRIMARY KEY of '{table.name}'",
                "Name it among the columns, and let the query give it a value.",
            )


def _fitted_result(result: QueryResult, table: ResolvedTable, statement: Insert) -> DataFrame:
    """Return the query's columns under the table's names and types, with KIND_COLUMN in front if rows change.

    Raises:
        SqlError: the columns do not fit, or the result may have several rows of one key of the table.
    """
    if result.changes is None or not result.changes.has_row_kind:
        return fitted(result.frame, table, statement)
    _require_key_of_result(result.changes.key, table, statement)
    return fitted(result.frame, table, statement, carried=(KIND_COLUMN,))


def _require_key_of_result(key: tuple[int, ...] | None, table: ResolvedTable, statement: Insert) -> None:
    shown = ", ".join(table.primary_key)
    if key is None:
        raise statement.source.error(
            statement.query_span,
            f"the rows of this query change, and it has no key that is known, so the changes of a row of "
            f"'{table.name}' (PRIMARY KEY {shown}) would not be those of one row of the query",
            f"Select the key of the tables that it reads (PRIMARY KEY ... NOT ENFORCED), or {_ONE_ROW}.",
        )
    written = written_columns(table, statement)
    wanted = {name.lower() for name in table.primary_key}
    outside = [written[at] for at in key if at < len(written) and written[at] not in wanted]
    if outside or any(at >= len(written) for at in key):
        found = ", ".join(written[at] for at in key if at < len(written))
        raise statement.source.error(
            statement.query_span,
            f"this query has one row per ({found}), and '{table.name}' has the PRIMARY KEY ({shown}): several rows of "
            f"the query would be one row of it",
            f"Let the PRIMARY KEY contain {', '.join(outside)}, or {_ONE_ROW}.",
        )
