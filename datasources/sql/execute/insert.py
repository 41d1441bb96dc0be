"""INSERT INTO: a streaming query into a sink, or a batch write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from datasources.changelog.result import ROW_KIND_COLUMN
from datasources.near_matches import near_matches
from datasources.sinks.registry import APPEND_SINKS
from datasources.sql.execute.file_sink import FileSink
from datasources.sql.execute.fitted_columns import fitted
from datasources.sql.execute.insert_changes import insert_changes, shows_changes, takes_changes, write_into_sink
from datasources.sql.execute.queries import QueryResult, known_relations, query_result, run_of_spark
from datasources.sql.execute.result import StatementResult
from datasources.sql.execute.stream_writer import (
    NEEDS_NO_CHECKPOINT,
    is_batch,
    partitioned,
    prepared,
    sink_options,
    started,
)
from datasources.sql.statements.catalog_objects import TableDefinition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from datasources.sql.execute.session_state import SessionState
    from datasources.sql.planner.connectors import Connector
    from datasources.sql.resolve.resolved_table import ResolvedTable
    from datasources.sql.statements.statements import Insert


def insert(state: SessionState, statement: Insert) -> StatementResult:
    """Write a query's rows into a table of the catalog.

    Raises:
        SqlError: the target is no sink, or the columns do not fit in number or type.
        OptionError: a stream has nowhere to keep its checkpoint.
    """
    table = state.catalog.find(statement.target)
    if table is None and (statement.is_overwrite or statement.partition):
        return _insert_of_spark(state, statement)
    if not isinstance(table, TableDefinition):
        near = near_matches(statement.target, known_relations(state)) if table is None else ""
        raise statement.source.error(
            statement.target_span,
            f"'{statement.target}' is no table of this catalog, so it cannot be written by INSERT",
            f"{near} Declare the sink: CREATE TABLE ... WITH ('connector' = 'parquet', 'path' = '...'), or print, "
            "blackhole, memory.".lstrip(),
        )
    connector = state.planner.connector(table)
    _require_files(connector, statement)
    if takes_changes(connector, table):
        return insert_changes(state, statement, table, connector)
    if connector.name in APPEND_SINKS:
        result = query_result(state, statement.query, takes_changes=False)
        rows = _fitted_result(result, state.planner.resolved(table), connector, statement)
        return write_into_sink(state, statement, table, rows, key=())
    if connector.is_ours:
        raise statement.source.error(
            statement.target_span,
            f"'{statement.target}' has the connector '{connector.name}', which reads and does not write",
            "Write through a format of Spark's, for example 'connector' = 'spark-kafka'.",
        )
    connector.require_path(table.name, table.options)
    resolved = state.planner.resolved(table)
    files = FileSink(state, table, resolved) if connector.is_filesystem else None
    result = query_result(state, statement.query, takes_changes=shows_changes(connector, table) or files is not None)
    rows = _fitted_result(result, resolved, connector, statement)
    if files is not None:
        return files.write(rows, statement)
    if is_batch(state, rows):
        batch = rows.write.format(connector.format_name).options(**sink_options(table))
        partitioned(batch, resolved.partition_keys).mode("append").save()
        return StatementResult(kind="INSERT", hints=statement.hints)
    writer = rows.writeStream.format(connector.format_name).options(**sink_options(table))
    writer = partitioned(writer, resolved.partition_keys)
    return started(state, prepared(state, writer, table, format_name=connector.format_name), table, statement.hints)


def _insert_of_spark(state: SessionState, statement: Insert) -> StatementResult:
    """Run an INSERT into a table of Spark's, as it was written."""
    run_of_spark(state, statement.source)
    return StatementResult(kind="INSERT")


def _require_files(connector: Connector, statement: Insert) -> None:
    """Refuse to replace rows that Spark can only add to."""
    if statement.is_overwrite and not connector.is_filesystem:
        raise statement.source.error(
            statement.target_span,
            f"'{statement.target}' has the connector '{connector.name}', and INSERT OVERWRITE is for 'filesystem'",
            "Write INSERT INTO.",
        )


def _fitted_result(result: QueryResult, table: ResolvedTable, connector: Connector, statement: Insert) -> DataFrame:
    """Return the query's columns under the sink's names and types, with the row kind in front if rows change.

    Raises:
        SqlError: rows change, and the sink takes rows that are only added; or the columns do not fit.
    """
    if result.changes is None or not result.changes.has_row_kind:
        return fitted(result.frame, table, statement)
    if connector.format_name not in NEEDS_NO_CHECKPOINT:
        raise statement.source.error(
            statement.target_span,
            f"the rows of this query change, and '{table.name}' ({connector.name}) takes rows that are only added",
            "print, blackhole and memory show the changes. A table with a PRIMARY KEY and the connector 'jdbc' "
            "(MySQL), 'delta', 'iceberg' or 'upsert-kafka' applies them; for other targets run the query by sql(), and "
            "write what row_kind says in writeStream.foreachBatch(...).",
        )
    declares_kind = any(column.name.lower() == ROW_KIND_COLUMN for column in table.columns)
    return fitted(result.frame, table, statement, carried=() if declares_kind else (ROW_KIND_COLUMN,))
