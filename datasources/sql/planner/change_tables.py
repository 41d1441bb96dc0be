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
from datasources.options import lower_keys
from datasources.source.watermarks.row_watermark import HIDDEN_COLUMNS
from datasources.spark.attach.attach import AttachedColumn, attach
from datasources.spark.operators.buckets.row_batches import ROW_WATERMARK_COLUMN, ROWTIME_COLUMN
from datasources.spark.operators.buckets.rowtime_micros import micros_of
from datasources.sql.planner.frame import attached_columns, plain_column
from datasources.sql.planner.table_plan import EMIT_STRATEGY
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TableTtl:
    """The TTL of states with the rows of a table, in a statement in which a state has one.

    Attributes:
        ttl_ms: the TTL; None: they are kept for ever.
    """

    ttl_ms: int | None

    @property
    def ttl_us(self) -> int | None:
        """The TTL in µs."""
        return None if self.ttl_ms is None else self.ttl_ms * 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """The rows of a scan.

    Attributes:
        frame: as the source gives them.
        columns: the columns of the table over them.
        time_us: the event time of each, if states have a TTL.
    """

    frame: DataFrame
    columns: list[AttachedColumn]
    time_us: Column | None = None


def changes_of(
    planner: TablePlanner, table: TableDefinition, use: TableUse, statement: str, ttl: TableTtl | None = None
) -> PlannedChanges:
    """Return a table as a stream of changes.

    Args:
        planner: plans tables.
        table: which one.
        use: how the statement uses it.
        statement: what the result depends on besides the table.
        ttl: of states with its rows; None: no state of the statement has one.

    Raises:
        SqlError, OptionError, ExpressionError, SchemaError: saying what to do.
    """
    identity = _identity(statement, table)
    if use.events is not None:
        return _changes_of_events(planner, table, use, identity, ttl)
    resolved, connector = planner.resolved_for(table, use), planner.connector(table)
    if not is_table_that_changes(resolved, connector, use.hints):
        planned = planner.plan(table, _with_rowtime(use, resolved, ttl))
        rows = _rows(planner, planned, use, identity, ttl)
        changes = insertions(rows.frame, list(map(plain_column, rows.columns)), rows.time_us)
        return PlannedChanges(
            planned=planned,
            table=TableChanges(name=table.name, changes=changes, is_insert_only=True, ttl_us=_ttl_us(ttl)),
        )
    planned = _planned(planner, table, _with_rowtime(use, resolved, ttl), resolved)
    by_key = _keeps_rows(planner, planned, use, resolved)
    if by_key:
        planned = _planned(planner, table, replace(planned.use, filter=None), resolved)
    rows = _rows(planner, planned, use, identity, ttl)
    changes = _changes(_events(rows, resolved), by_key=by_key, ttl_us=_ttl_us(ttl))
    return PlannedChanges(
        planned=planned,
        table=TableChanges(
            name=table.name,
            changes=changes,
            is_insert_only=False,
            key=_delivered(resolved.primary_key, rows.columns),
            ttl_us=_ttl_us(ttl),
        ),
    )


def current_rows_of(planner: TablePlanner, table: TableDefinition, use: TableUse) -> tuple[PlannedTable, DataFrame]:
    """Return a table that changes as it is after all events that a batch reads.

    A connector without history, such as mysql-cdc, gives the rows and no events in a batch.
    """
    if use.events is not None:
        planned, events = _given_events(planner, table, use)
        return planned, current_rows(events)
    resolved, connector = planner.resolved_for(table, use), planner.connector(table)
    if not connector.has_history:
        planned = planner.plan(table, use)
        return planned, planner.frame(planned)
    planned = _planned(planner, table, replace(use, filter=None), resolved)
    return planned, current_rows(_events(_rows(planner, planned, use), resolved))


def _changes_of_events(
    planner: TablePlanner, table: TableDefinition, use: TableUse, identity: str, ttl: TableTtl | None
) -> PlannedChanges:
    """Return the table whose changes are the rows of this one."""
    planned, events = _given_events(planner, table, use, identity, ttl)
    changes = _changes(events, by_key=bool(events.key), ttl_us=_ttl_us(ttl))
    return PlannedChanges(
        planned=planned,
        table=TableChanges(
            name=table.name, changes=changes, is_insert_only=False, key=tuple(events.key), ttl_us=_ttl_us(ttl)
        ),
    )


def _ttl_us(ttl: TableTtl | None) -> int | None:
    return None if ttl is None else ttl.ttl_us


def _changes(events: TableEvents, *, by_key: bool, ttl_us: int | None) -> DataFrame:
    """Return events as changes: by the key, or by the rows before them that they have."""
    return upserts(events, ttl_us=ttl_us) if by_key else retractions(events)


def _given_events(
    planner: TablePlanner, table: TableDefinition, use: TableUse, identity: str = "", ttl: TableTtl | None = None
) -> tuple[PlannedTable, TableEvents]:
    request = use.events
    assert request is not None  # the use is of events
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
    scanned = _with_rowtime(replace(use, filter=None) if key else use, resolved, ttl)
    planned = _planned(planner, table, scanned, resolved)
    rows = _rows(planner, planned, use, identity, ttl)
    of_operation = next(column for column in rows.columns if column.name == operation)
    kinds = rows.frame.withColumn(ROW_KIND, _row_kind(plain_column(of_operation), request))
    others = [column for column in rows.columns if column.name != operation]
    events = _events(replace(rows, frame=kinds, columns=others), resolved)
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


def _keeps_rows(planner: TablePlanner, planned: PlannedTable, use: TableUse, table: ResolvedTable) -> bool:
    """Return whether the state has to hold the rows of a table: an event then does not give the row that it removes.

    A filter of the statement would hide the event that takes a row out of it, so it is not applied to the events.
    """
    if is_upsert(table, scan_of(planned.tree).connector, planned.use.hints):
        return True
    of_events = _metadata_of_events(planned, use)
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


def _metadata_of_events(planned: PlannedTable, use: TableUse) -> list[str]:
    """Return the metadata columns in use that differ from one event of a row to the next."""
    scan = scan_of(planned.tree)
    delivered = {*(scan.names if scan.delivered is None else scan.delivered)} - _HELPERS
    return [
        each.name
        for each in scan.metadata
        if each.name in delivered and each.key not in _OF_THE_TABLE and _is_used(each.name, use)
    ]


def _is_used(column: str, use: TableUse) -> bool:
    """Whether a statement may name a column, and not only a TTL needs it."""
    return use.columns is None or column.lower() in use.columns


def _events(rows: _Rows, table: ResolvedTable) -> TableEvents:
    order = [F.col(quoted(name)) for name in (SEQUENCE, OFFSET, PARTITION) if name in rows.frame.columns]
    return TableEvents(
        rows=rows.frame,
        columns=list(map(plain_column, rows.columns)),
        time_us=rows.time_us,
        kind=ROW_KIND,
        key=table.primary_key,
        order=order,
        table=table.name,
    )


def _with_rowtime(use: TableUse, table: ResolvedTable, ttl: TableTtl | None) -> TableUse:
    """Return the use of a table with the columns of its event time, if states have a TTL.

    A removed row may have an old time: then the watermark before it counts, and with on-event emission, the default
    here, that does not depend on batches.
    """
    if ttl is None or ttl.ttl_ms is None or not table.watermarks:
        return use
    if EMIT_STRATEGY not in {**lower_keys(table.options), **lower_keys(use.hints)}:
        use = replace(use, hints={**use.hints, EMIT_STRATEGY: "on-event"})
    if use.columns is None:
        return use
    return replace(use, columns=use.columns | {name.lower() for each in table.watermarks for name in each.path[:1]})


def _rows(
    planner: TablePlanner, planned: PlannedTable, use: TableUse, identity: str = "", ttl: TableTtl | None = None
) -> _Rows:
    """Return the rows of a scan for a use of its table."""
    columns = [column for column in attached_columns(planned.tree) if column.name not in _HELPERS]
    clock = next((column.name for column in columns if column.time == "proctime"), None)
    if clock is not None:
        raise SqlError(
            f"table '{scan_of(planned.tree).table}' has the column '{clock}', which is PROCTIME(), in a query over "
            f"tables that change: the time would be another one when a row is removed. Name the other columns instead "
            f"of *, or read the changes as rows: TO_CHANGELOG(input => TABLE t)."
        )
    scan = scan_of(planned.tree)
    loaded = planner.frames.loaded(replace(scan, statement=identity))
    if ttl is None:
        return _Rows(frame=loaded, columns=columns)
    rowtime = next((column for column in columns if column.is_event_time), None)
    columns = [column for column in columns if column is not rowtime or _is_used(column.name, use)]
    if ttl.ttl_ms is None:
        return _Rows(frame=loaded, columns=columns, time_us=F.lit(None).cast("bigint"))
    if not scan.attributes or rowtime is None:
        raise SqlError(
            f"a TTL of states ('table.exec.state.ttl' or STATE_TTL) is measured in event time, and table "
            f"'{scan.table}' has no watermark that its source makes: declare WATERMARK FOR ts AS ts, of a CDC table "
            f"for the metadata column 'op_ts', or keep the states with its rows, "
            f"SELECT /*+ STATE_TTL('{scan.table}' = '0') */ ..."
        )
    given = [AttachedColumn(name=name) for name in loaded.columns if name not in HIDDEN_COLUMNS]
    frame = attach(
        loaded,
        [*given, AttachedColumn(name=ROWTIME_COLUMN, expression=rowtime.expression or quoted(rowtime.name))],
        row_watermark_as=ROW_WATERMARK_COLUMN,
    )
    times = [micros_of(frame.schema[name]) for name in (ROWTIME_COLUMN, ROW_WATERMARK_COLUMN)]
    return _Rows(frame=frame, columns=columns, time_us=F.greatest(*times))


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
