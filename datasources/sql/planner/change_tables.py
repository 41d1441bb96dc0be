"""Tables that change, as streams of changes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources.changelog.table_changes import TableEvents, current_rows, insertions, retractions, upserts
from datasources.changelog.translator import TableChanges
from datasources.errors import SqlError
from datasources.grammar.literals import quoted
from datasources.spark.attach.attach import AttachedColumn
from datasources.sql.planner.frame import attached_columns, plain_column
from datasources.sql.planner.temporal_tables import (
    CHANGELOG_METADATA,
    OFFSET,
    PARTITION,
    ROW_KIND,
    SEQUENCE,
    UPSERT_METADATA,
    is_table_that_changes,
    is_upsert,
)
from datasources.sql.planner.tree import scan_of
from datasources.sql.statements.catalog_objects import MetadataColumn, PhysicalColumn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

    from datasources.sql.planner.table_planner import PlannedTable, TablePlanner
    from datasources.sql.query.block.relation import TableUse
    from datasources.sql.query.scan.changelog_calls import EventsRequest
    from datasources.sql.resolve.resolved_table import ResolvedTable
    from datasources.sql.statements.catalog_objects import TableDefinition

_HELPERS: Final = frozenset({*CHANGELOG_METADATA, *UPSERT_METADATA})
_OF_THE_TABLE: Final = frozenset({"database_name", "schema_name", "table_name", "topic"})
"""Metadata that all events of a row have in common; others belong to the event, not to the row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChanges:
    """A table of a query over tables that change.

    Attributes:
        planned: what EXPLAIN shows.
        table: its changes.
    """

    planned: PlannedTable
    table: TableChanges


def changes_of(planner: TablePlanner, table: TableDefinition, use: TableUse, statement: str) -> PlannedChanges:
    """Return a table as a stream of changes.

    Args:
        planner: plans tables.
        table: which one.
        use: how the statement uses it.
        statement: what the result depends on besides the table.

    Raises:
        SqlError, OptionError, ExpressionError, SchemaError: saying what to do.
    """
    identity = _identity(statement, table)
    if use.events is not None:
        return _changes_of_events(planner, table, use, use.events, identity)
    resolved, connector = planner.resolved_for(table, use), planner.connector(table)
    if not is_table_that_changes(resolved, connector, use.hints):
        planned = planner.plan(table, use)
        rows, columns = _rows(planner, planned, identity)
        return PlannedChanges(
            planned=planned,
            table=TableChanges(
                name=table.name, changes=insertions(rows, list(map(plain_column, columns))), is_insert_only=True
            ),
        )
    planned = _planned(planner, table, use, resolved)
    by_key = _keeps_rows(planner, planned, resolved)
    if by_key:
        planned = _planned(planner, table, replace(use, filter=None), resolved)
    rows, columns = _rows(planner, planned, identity)
    changes = _changes(_events(rows, columns, resolved), by_key=by_key)
    return PlannedChanges(
        planned=planned,
        table=TableChanges(
            name=table.name, changes=changes, is_insert_only=False, key=_delivered(resolved.primary_key, columns)
        ),
    )


def current_rows_of(planner: TablePlanner, table: TableDefinition, use: TableUse) -> tuple[PlannedTable, DataFrame]:
    """Return a table that changes as it is after all events that a batch reads.

    A connector without history, such as mysql-cdc, gives the rows and no events in a batch.
    """
    if use.events is not None:
        planned, events = _given_events(planner, table, use, use.events)
        return planned, current_rows(events)
    resolved, connector = planner.resolved_for(table, use), planner.connector(table)
    if not connector.has_history:
        planned = planner.plan(table, use)
        return planned, planner.frame(planned)
    planned = _planned(planner, table, replace(use, filter=None), resolved)
    return planned, current_rows(_events(*_rows(planner, planned), resolved))


def _changes_of_events(
    planner: TablePlanner, table: TableDefinition, use: TableUse, request: EventsRequest, identity: str
) -> PlannedChanges:
    """Return the table whose changes are the rows of this one."""
    planned, events = _given_events(planner, table, use, request, identity)
    changes = _changes(events, by_key=bool(events.key))
    return PlannedChanges(
        planned=planned,
        table=TableChanges(name=table.name, changes=changes, is_insert_only=False, key=tuple(events.key)),
    )


def _changes(events: TableEvents, *, by_key: bool) -> DataFrame:
    """Return events as changes: by the key, or by the rows before them that they have."""
    return upserts(events) if by_key else retractions(events.rows, events.columns, kind=events.kind, table=events.table)


def _given_events(
    planner: TablePlanner, table: TableDefinition, use: TableUse, request: EventsRequest, identity: str = ""
) -> tuple[PlannedTable, TableEvents]:
    resolved = planner.resolved_for(table, use)
    if is_table_that_changes(resolved, planner.connector(table), use.hints):
        raise SqlError(
            f"FROM_CHANGELOG reads rows that are only added, and '{table.name}' is a table that changes: read it as it "
            f"is, FROM {table.name}."
        )
    names = {column.name.lower(): column.name for column in resolved.columns}
    operation, *key = (_column(table, names, each) for each in (request.operation, *request.key))
    if use.columns is not None:
        use = replace(use, columns=use.columns | {operation.lower(), *(each.lower() for each in key)})
    planned = _planned(planner, table, replace(use, filter=None) if key else use, resolved)
    rows, columns = _rows(planner, planned, identity)
    of_operation = next(column for column in columns if column.name == operation)
    rows = rows.withColumn(ROW_KIND, _row_kind(plain_column(of_operation), request))
    events = _events(rows, [column for column in columns if column.name != operation], resolved)
    if key and not events.order:
        raise SqlError(
            f"the rows of '{table.name}' have no position in a log, so which one of a key is the last is not known: "
            f"FROM_CHANGELOG with PARTITION BY reads tables of the connector 'kafka'. Without it the rows must have "
            f"before-images (UPDATE_BEFORE)."
        )
    return planned, replace(events, key=key)


def _column(table: TableDefinition, names: Mapping[str, str], wanted: str) -> str:
    if wanted.lower() not in names:
        raise SqlError(
            f"FROM_CHANGELOG: table '{table.name}' has no column '{wanted}'. It has {', '.join(names.values())}."
        )
    return names[wanted.lower()]


def _row_kind(operation: Column, request: EventsRequest) -> Column:
    """Return the kind of a change; for an operation that is not mapped a text that is none, which is an error."""
    kind = F.concat(F.lit("the operation "), F.coalesce(operation.cast("string"), F.lit("NULL")))
    for code, of_code in request.kinds:
        kind = F.when(operation == code, F.lit(of_code)).otherwise(kind)
    return kind


def _planned(planner: TablePlanner, table: TableDefinition, use: TableUse, resolved: ResolvedTable) -> PlannedTable:
    if use.columns is not None:
        use = replace(use, columns=use.columns | _HELPERS | {name.lower() for name in resolved.primary_key})
    has_sequence = CHANGELOG_METADATA[SEQUENCE] in planner.connector(table).metadata_types
    return planner.plan(table, use, metadata=CHANGELOG_METADATA if has_sequence else UPSERT_METADATA)


def _keeps_rows(planner: TablePlanner, planned: PlannedTable, table: ResolvedTable) -> bool:
    """Return whether the state has to hold the rows of a table: an event then does not give the row that it removes.

    A filter of the statement would hide the event that takes a row out of it, so it is not applied to the events.
    """
    if is_upsert(table, scan_of(planned.tree).connector, planned.use.hints):
        return True
    of_events = _metadata_of_events(planned)
    reason = (
        "SET 'table.exec.source.cdc-events-duplicate' = 'true' needs it"
        if planner.settings.typed.cdc_events_duplicate
        else f"the column '{of_events[0]}' belongs to the event and not to the row"
        if of_events
        else ""
    )
    if reason and not table.primary_key:
        raise SqlError(
            f"table '{table.name}' has no PRIMARY KEY, by which an event finds the row that it replaces: {reason}. "
            f"Declare PRIMARY KEY (...) NOT ENFORCED, or read the changes as rows: TO_CHANGELOG(input => TABLE "
            f"{table.name})."
        )
    return bool(reason)


def _metadata_of_events(planned: PlannedTable) -> list[str]:
    """Return the metadata columns in use that differ from one event of a row to the next."""
    scan = scan_of(planned.tree)
    delivered = {*(scan.names if scan.delivered is None else scan.delivered)} - _HELPERS
    return [each.name for each in scan.metadata if each.name in delivered and each.key not in _OF_THE_TABLE]


def _events(rows: DataFrame, columns: list[AttachedColumn], table: ResolvedTable) -> TableEvents:
    order = [F.col(quoted(name)) for name in (SEQUENCE, OFFSET, PARTITION) if name in rows.columns]
    return TableEvents(
        rows=rows,
        columns=list(map(plain_column, columns)),
        kind=ROW_KIND,
        key=table.primary_key,
        order=order,
        table=table.name,
    )


def _rows(planner: TablePlanner, planned: PlannedTable, identity: str = "") -> tuple[DataFrame, list[AttachedColumn]]:
    """Return the rows as the source gives them, and the columns of the table over them."""
    columns = [column for column in attached_columns(planned.tree) if column.name not in _HELPERS]
    clock = next((column.name for column in columns if column.time == "proctime"), None)
    if clock is not None:
        raise SqlError(
            f"table '{scan_of(planned.tree).table}' has the column '{clock}', which is PROCTIME(), in a query over "
            f"tables that change: the time would be another one when a row is removed. Name the other columns instead "
            f"of *, or read the changes as rows: TO_CHANGELOG(input => TABLE t)."
        )
    return planner.frames.loaded(replace(scan_of(planned.tree), statement=identity)), columns


def _identity(statement: str, table: TableDefinition) -> str:
    """Return a hash: a statement may hold what nobody else is to read."""
    made = [
        f"{each.name} {each.key}" if isinstance(each, MetadataColumn) else f"{each.name} AS {each.expression}"
        for each in table.columns
        if not isinstance(each, PhysicalColumn)
    ]
    return hashlib.sha256("\n".join((statement, *made)).encode()).hexdigest()[:16]


def _delivered(key: tuple[str, ...], columns: list[AttachedColumn]) -> tuple[str, ...]:
    names = {column.name.lower() for column in columns}
    return key if all(name.lower() in names for name in key) else ()
