"""INSERT INTO: a streaming query into a sink, or a batch write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.durations import parse_duration_ms
from datasources.errors import OptionError
from datasources.grammar.literals import quoted
from datasources.grammar.source_text import SqlText
from datasources.near_matches import near_matches
from datasources.options import lower_keys
from datasources.sql.definitions.option_secrets import expand
from datasources.sql.execute.queries import known_relations, run_query
from datasources.sql.execute.result import StatementResult
from datasources.sql.planner.connectors import Connector
from datasources.sql.settings import RuntimeMode
from datasources.sql.statements.catalog_objects import PhysicalColumn, TableDefinition
from datasources.sql.types.assignability import is_assignable
from datasources.sql.types.spark_names import sql_name_of
from datasources.sql.types.type_names import sql_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from datasources.sql.execute.session_state import SessionState
    from datasources.sql.resolve.resolved_table import ResolvedTable
    from datasources.sql.statements.statements import Insert

__all__ = ["insert"]

_NEEDS_NO_CHECKPOINT = frozenset({"console", "noop", "memory"})
_OUR_KEYS = frozenset({"connector", "checkpointlocation", "outputmode"})


def insert(state: SessionState, statement: Insert) -> StatementResult:
    """Write a query's rows into a table of the catalog.

    Raises:
        SqlError: the target is no sink, or the columns do not fit in number or type.
        OptionError: a stream has nowhere to keep its checkpoint.
    """
    table = state.catalog.find(statement.target)
    if not isinstance(table, TableDefinition):
        near = near_matches(statement.target, known_relations(state)) if table is None else ""
        raise statement.source.error(
            statement.target_span,
            f"'{statement.target}' is no table of this catalog, so it cannot be written by INSERT",
            f"{near} Declare the sink: CREATE TABLE ... WITH ('connector' = 'parquet', 'path' = '...'), or print, "
            "blackhole, memory.".lstrip(),
        )
    connector = state.planner.connector(table)
    if connector.is_ours:
        raise statement.source.error(
            statement.target_span,
            f"'{statement.target}' has the connector '{connector.name}', which reads and does not write",
            "Write through a format of Spark's, for example 'connector' = 'spark-kafka'.",
        )
    connector.require_path(table.name, table.options)
    frame = run_query(state, query_text(statement))
    fitted = _fitted(frame, state.planner.resolved(table), statement)
    if state.settings.typed.runtime_mode is RuntimeMode.BATCH or not fitted.isStreaming:
        fitted.write.format(connector.format_name).options(**_sink_options(table)).mode("append").save()
        return StatementResult(kind="INSERT", hints=statement.hints)
    query = _writer(state, fitted, table, connector).start()
    state.queries.append(query)
    return StatementResult(
        kind="INSERT",
        columns=("query", "name", "target"),
        rows=((query.id, query.name, table.name),),
        query=query,
        hints=statement.hints,
    )


def query_text(statement: Insert) -> SqlText:
    """Return the query of an INSERT, with its spans in the whole statement."""
    return statement.source.part(statement.query_span)


def _fitted(frame: DataFrame, table: ResolvedTable, statement: Insert) -> DataFrame:
    """Return the query's columns under the sink's names and types, matched by position as in standard SQL."""
    stored = {c.name.lower(): c for c in table.columns if c.is_physical}
    wanted = [name.lower() for name in statement.columns] or list(stored)
    for name in wanted:
        if name not in stored:
            raise statement.source.error(
                statement.target_span,
                f"table '{table.name}' has no stored column '{name}'",
                f"It has {', '.join(c.name for c in stored.values())}.",
            )
    if len(frame.columns) != len(wanted):
        raise statement.source.error(
            statement.query_span,
            f"the query has {len(frame.columns)} columns ({', '.join(frame.columns)}) and table '{table.name}' takes "
            f"{len(wanted)} ({', '.join(wanted)})",
        )
    given = frame.toDF(*(f"__column_{i}" for i in range(len(wanted))))
    values = {name: F.col(f"__column_{i}").cast(stored[name].spark_type) for i, name in enumerate(wanted)}
    fitted = given.select(
        *(values.get(name, F.lit(None).cast(column.spark_type)).alias(column.name) for name, column in stored.items())
    )
    _check_types(frame, fitted, [stored[name].name for name in wanted], table, statement)
    return fitted


def _check_types(
    frame: DataFrame, fitted: DataFrame, columns: list[str], table: ResolvedTable, statement: Insert
) -> None:
    """Refuse a query whose column's type is not one that its column of the sink takes."""
    declared = {c.name: c.declared for c in table.columns}
    for given, name in zip(frame.schema.fields, columns, strict=True):
        wanted = fitted.schema[name].dataType
        if is_assignable(given.dataType, wanted):
            continue
        column = declared[name]
        kind = sql_text(column.type).removesuffix(" NOT NULL") if isinstance(column, PhysicalColumn) else str(wanted)
        raise statement.source.error(
            statement.query_span,
            f"column '{name}' of table '{table.name}' is {kind}, and the query gives '{given.name}', which is "
            f"{sql_name_of(given.dataType.simpleString())}",
            f"Write CAST({quoted(given.name)} AS {kind}) in the query if that is meant.",
        )


def _writer(state: SessionState, frame: DataFrame, table: TableDefinition, connector: Connector) -> DataStreamWriter:
    options = lower_keys(table.options)
    settings = state.settings.typed
    writer = frame.writeStream.format(connector.format_name).options(**_sink_options(table))
    writer = writer.outputMode(options.get("outputmode", "append"))
    name = table.name if connector.format_name == "memory" else settings.query_name
    if name is not None:
        writer = writer.queryName(name)
    if settings.trigger is not None:
        writer = _triggered(writer, settings.trigger)
    checkpoint = options.get("checkpointlocation") or _checkpoint(state, table.name, settings.checkpoint_directory)
    if checkpoint is not None:
        return writer.option("checkpointLocation", checkpoint)
    if connector.format_name not in _NEEDS_NO_CHECKPOINT:
        raise OptionError(
            f"the stream into table '{table.name}' has nowhere to keep its checkpoint: SET "
            f"'execution.checkpointing.dir' = '/a/directory', or give the table the option 'checkpointLocation'."
        )
    return writer


def _checkpoint(state: SessionState, table: str, directory: str | None) -> str | None:
    """One directory per INSERT: named after the target, numbered from the second one of a session on."""
    if directory is None:
        return None
    state.inserts[table.lower()] += 1
    number = state.inserts[table.lower()]
    return f"{directory.rstrip('/')}/{table if number == 1 else f'{table}-{number}'}"


def _triggered(writer: DataStreamWriter, trigger: str) -> DataStreamWriter:
    if trigger.lower() == "available-now":
        return writer.trigger(availableNow=True)
    return writer.trigger(processingTime=f"{parse_duration_ms(trigger, key='execution.trigger')} milliseconds")


def _sink_options(table: TableDefinition) -> dict[str, str]:
    return expand({key: value for key, value in table.options.items() if key.lower() not in _OUR_KEYS})
