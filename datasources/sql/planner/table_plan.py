"""Plans one use of one table: options by precedence, the tree, the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from datasources.errors import OptionError
from datasources.options import lower_keys
from datasources.sql.planner.build import build_tree
from datasources.sql.planner.connectors import SINKS, Connector
from datasources.sql.planner.context import PlanningContext
from datasources.sql.planner.rules import rewrite
from datasources.sql.planner.scan_options import files_of, without_reader_options
from datasources.sql.planner.tree import Node, TableScan, assigner_of, scan_of
from datasources.sql.query.block.relation import TableUse
from datasources.sql.resolve.resolved_table import ResolvedTable
from datasources.sql.settings import LateRowsMode, RuntimeMode, Settings

_IN_DDL = {
    "schema": "the list of columns",
    "watermark.for": "WATERMARK FOR column AS expression among the columns",
    "watermark.as": "WATERMARK FOR column AS expression among the columns",
    "watermark.rowtime": "a computed column with a watermark",
    "scan.columns": "the SELECT list",
    "scan.filter": "the WHERE clause",
    "scan.metadata": "a METADATA column",
}
_HEADERS = "includeheaders"
EMIT_STRATEGY = "scan.watermark.emit.strategy"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRequest:
    """What is planned."""

    table: ResolvedTable
    connector: Connector
    use: TableUse
    settings: Settings


def plan_table(request: TableRequest, context: PlanningContext) -> Node:
    """Return the tree after all rules.

    Raises:
        OptionError, ExpressionError, SchemaError: saying what to do.
    """
    tree = rewrite(first_tree(request, context), context)
    typed = request.settings.typed
    if typed.runtime_mode is RuntimeMode.STREAMING and typed.late_rows is LateRowsMode.EXACT:
        _require_exact(tree)
    return tree


def first_tree(request: TableRequest, context: PlanningContext) -> Node:
    """Return the tree before all rules; the connector has taken its own options.

    Raises:
        OptionError, SchemaError: an option that is not about the watermark is wrong, or the table is a sink.
    """
    if request.connector.name.lower() in SINKS:
        raise OptionError(
            f"table '{request.table.name}' is a sink: its connector '{request.connector.name}' cannot be read."
        )
    options = merged_options(request.table, request.use, request.settings)
    if request.connector.source is not None and options.get(_HEADERS, "").lower() == "true":
        raise OptionError(
            f"table '{request.table.name}' has the option 'includeHeaders': in SQL that is a column METADATA FROM "
            f"'headers' (a MAP), or 'header-list' as Spark's own source has them."
        )
    is_streaming = request.settings.typed.runtime_mode is RuntimeMode.STREAMING and not is_looked_up(request)
    tree = build_tree(request.table, request.connector, options, is_streaming=is_streaming)
    context.try_scan(_without_reader_options(scan_of(tree)))
    if request.connector.is_filesystem:
        files_of(scan_of(tree))
    return tree


def is_looked_up(request: TableRequest) -> bool:
    """Return whether a table's rows are read as they are now, for each batch: Spark's own, without a watermark."""
    return request.use.is_versioned and not request.connector.is_ours and not request.table.watermarks


def merged_options(table: ResolvedTable, use: TableUse, settings: Settings) -> Mapping[str, str]:
    """Return hint over table over session; `connector` is not among them.

    With exact late rows on-event emission is the default of a table that names no strategy.
    """
    own = lower_keys(table.options)
    _refuse_ddl_options(table.name, own)
    hints = lower_keys(use.hints)
    merged = {**settings.scan_options(), **own, **hints}
    merged.pop("connector", None)
    typed = settings.typed
    is_exact = typed.late_rows is LateRowsMode.EXACT and typed.runtime_mode is RuntimeMode.STREAMING
    if is_exact and table.watermarks and EMIT_STRATEGY not in merged:
        merged[EMIT_STRATEGY] = "on-event"
    return merged


def _refuse_ddl_options(name: str, options: Mapping[str, str]) -> None:
    """In SQL the columns replace some options of a DataFrame's source."""
    for key, instead in _IN_DDL.items():
        if key in options:
            raise OptionError(f"table '{name}' has the option '{key}': in SQL that is {instead}.")


def _require_exact(tree: Node) -> None:
    scan, assigner = scan_of(tree), assigner_of(tree)
    if assigner is not None:
        raise OptionError(
            f"'table.exec.late-rows' = 'exact' needs a watermark that is made in the source's reader, and that of "
            f"table '{scan.table}' is not: {assigner.reason}."
        )
    if scan.attributes and scan.options.get(EMIT_STRATEGY) == "on-periodic":
        raise OptionError(
            f"'table.exec.late-rows' = 'exact' needs on-event emission, and table '{scan.table}' has "
            f"'{EMIT_STRATEGY}' = 'on-periodic': leave the option out."
        )


def _without_reader_options(scan: TableScan) -> TableScan:
    """The scan alone, to find wrong options of the connector before any of the watermark."""
    return replace(scan, options=without_reader_options(scan.options))
