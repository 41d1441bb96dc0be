"""The WATERMARK clauses of a definition: their rowtime columns and types."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from datasources.grammar.literals import quoted
from datasources.grammar.sql_types import SqlType
from datasources.near_matches import near_matches
from datasources.sql.resolve.resolve_columns import Clauses, near
from datasources.sql.resolve.resolve_expressions import (
    Expression,
    Expressions,
    is_proctime,
    is_rowtime,
    is_source_watermark,
)
from datasources.sql.resolve.resolved_table import ResolvedWatermark
from datasources.sql.statements.catalog_objects import Column, ComputedColumn, TableDefinition, WatermarkSpec
from datasources.sql.text.error_location import Site
from datasources.sql.text.substitute import in_parentheses
from datasources.sql.types.type_names import spark_ddl, sql_text

__all__ = ["PendingWatermark", "SourceTime", "pending_watermarks"]

_TIMESTAMPS: Final = {"TIMESTAMP": "TIMESTAMP_LTZ (a moment)", "TIMESTAMP_NTZ": "TIMESTAMP (a wall clock)"}
_MILLISECONDS: Final = "BIGINT"

SourceTime = tuple[str, str]
"""What SYSTEM_ROWTIME() and SYSTEM_WATERMARK() are in a source, as Spark SQL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingWatermark:
    """A watermark whose names are checked and whose types are not known yet.

    Attributes:
        path: the names that lead to the attribute, as they are declared.
        rowtime: the attribute over physical and metadata columns.
        rowtime_type: its type as Spark DDL; None = it is computed, and has to be asked for.
        expression: the watermark over the same; SYSTEM_WATERMARK() is the source's.
        written: the expression as the user wrote it.
        named: the same as Spark reads it, over all columns by their names.
        is_source_watermark: whether that is SYSTEM_WATERMARK().
        rowtime_site, expression_site: for errors.
    """

    path: tuple[str, ...]
    rowtime: str
    rowtime_type: str | None
    expression: str
    written: str
    named: str
    is_source_watermark: bool
    rowtime_site: Site
    expression_site: Site

    def resolved(self, rowtime_type: str, expression_type: str) -> ResolvedWatermark:
        """Return the watermark, its types checked.

        Raises:
            SqlError: the attribute is no timestamp, or the expression is neither of its type nor BIGINT.
        """
        attribute = rowtime_type.upper()
        check_is_timestamp(".".join(self.path), attribute, self.rowtime_site)
        kind = attribute if self.is_source_watermark else expression_type.upper()
        if kind not in {attribute, _MILLISECONDS}:
            name = ".".join(self.path)
            is_length = kind == "STRING" or kind.startswith("INTERVAL")
            raise self.expression_site.error(
                f"the expression is {_TIMESTAMPS.get(kind, kind)}, and '{name}' is {_TIMESTAMPS[attribute]}",
                "A watermark has the type of its column, or is BIGINT: milliseconds since 1970 in UTC."
                + (f" Five seconds behind is `{name} - INTERVAL '5' SECOND`." if is_length else ""),
            )
        return ResolvedWatermark(
            path=self.path,
            spark_type=attribute,
            rowtime=self.rowtime,
            expression=self.expression,
            written=self.written,
            named=self.named,
            is_source_watermark=self.is_source_watermark,
            datatype=kind,
        )


def pending_watermarks(
    table: TableDefinition, clauses: Clauses, expressions: Expressions, source_time: SourceTime | None
) -> tuple[PendingWatermark, ...]:
    """Return the watermarks of a definition whose computed columns are sound.

    Raises:
        SqlError: the rowtime cannot have a watermark, or its expression cannot be used.
    """
    taken = {column.name.lower() for column in table.columns}
    found: list[PendingWatermark] = []
    for spec in table.watermarks:
        clause = f"WATERMARK FOR {'.'.join(spec.rowtime)}"
        pending = _pending(table, spec, clauses, clauses.site(clause, spec.rowtime_span or spec.span), expressions)
        _check_unused(pending, found, taken)
        found.append(_with_source(pending, expressions, source_time) if pending.is_source_watermark else pending)
    return tuple(found)


def check_is_timestamp(name: str, spark_type: str, site: Site) -> None:
    """Refuse an attribute that is no timestamp.

    Raises:
        SqlError: saying how to make one of it.
    """
    if spark_type.upper() in _TIMESTAMPS:
        return
    hint = {
        "STRING": f"Add a column `rowtime AS TO_TIMESTAMP({name})` and declare the watermark for it.",
        "BIGINT": f"Add a column `rowtime AS TO_TIMESTAMP_LTZ({name}, 3)` and declare the watermark for it.",
        "DATE": f"Add a column `rowtime AS CAST({name} AS TIMESTAMP)` and declare the watermark for it.",
    }
    raise site.error(
        f"'{name}' is {spark_type.upper()}: a time attribute is TIMESTAMP or TIMESTAMP_LTZ",
        hint.get(spark_type.upper(), "Add a computed column of that type and declare the watermark for it."),
    )


def _pending(
    table: TableDefinition, spec: WatermarkSpec, clauses: Clauses, site: Site, expressions: Expressions
) -> PendingWatermark:
    column = next((c for c in table.columns if c.name.lower() == spec.rowtime[0].lower()), None)
    if column is None:
        raise site.error(f"there is no column '{spec.rowtime[0]}'", near(spec.rowtime[0], table.columns).strip())
    path, kind = _declared_path(column, spec.rowtime, site)
    computed = expressions.computed(column.name)
    if computed is not None:
        _check_carries(column.name, computed, expressions, site)
    clause = f"WATERMARK FOR {'.'.join(spec.rowtime)}"
    written = expressions.watermark(spec.expression, clauses.site(clause, spec.expression_span))
    return PendingWatermark(
        path=path,
        rowtime=_rowtime(path, computed, expressions),
        rowtime_type=kind,
        expression=expressions.inline(written),
        written=spec.expression,
        named=expressions.named(written),
        is_source_watermark=is_source_watermark(written),
        rowtime_site=site,
        expression_site=written.site,
    )


def _rowtime(path: tuple[str, ...], computed: Expression | None, expressions: Expressions) -> str:
    if computed is None:
        return ".".join(map(quoted, path))
    inlined = expressions.column(path[0])
    return ".".join((in_parentheses(inlined), *map(quoted, path[1:]))) if path[1:] else inlined


def _check_carries(name: str, computed: Expression, expressions: Expressions, site: Site) -> None:
    if is_proctime(computed):
        raise site.error(
            f"'{name}' is a processing time: it has no watermark", "Remove the WATERMARK clause; windows over it work."
        )
    differing = expressions.differing(name)
    if differing is not None:
        raise site.error(
            f"'{name}' is computed with {differing}, which differs when a record is read again",
            "Declare the watermark for a time that the records hold.",
        )


def _declared_path(column: Column, path: tuple[str, ...], site: Site) -> tuple[tuple[str, ...], str | None]:
    """Return a path in the names that are declared, and the type there; of a computed column's fields Spark knows."""
    if isinstance(column, ComputedColumn):
        return (column.name, *path[1:]), None
    kind: SqlType = column.type
    names = [column.name]
    for name in path[1:]:
        if kind.root != "ROW":
            raise site.error(f"'{'.'.join(names)}' is {sql_text(kind)}, not a ROW: it has no field '{name}'")
        field = next((f for f in kind.fields if f.name.lower() == name.lower()), None)
        if field is None:
            fields = [f.name for f in kind.fields]
            raise site.error(
                f"'{'.'.join(names)}' has no field '{name}'",
                (near_matches(name, fields) or f"Its fields: {', '.join(fields)}.").strip(),
            )
        names.append(field.name)
        kind = field.type
    check_is_timestamp(".".join(names), spark_ddl(kind), site)
    return tuple(names), spark_ddl(kind)


def _check_unused(pending: PendingWatermark, found: list[PendingWatermark], taken: set[str]) -> None:
    folded = tuple(name.lower() for name in pending.path)
    if any(tuple(name.lower() for name in other.path) == folded for other in found):
        raise pending.rowtime_site.error(f"'{'.'.join(pending.path)}' has a watermark already", "Remove one of them.")
    joined = "_".join(folded)
    if len(folded) > 1 and joined in taken:
        raise pending.rowtime_site.error(
            f"the nested attribute '{'.'.join(pending.path)}' becomes the column '{joined}', which is there already",
            "Rename that one.",
        )
    taken.add(joined)


def _with_source(
    pending: PendingWatermark, expressions: Expressions, source_time: SourceTime | None
) -> PendingWatermark:
    """Return the watermark with the source's expression; SYSTEM_WATERMARK() belongs to a column SYSTEM_ROWTIME()."""
    shown = pending.written.strip().upper()
    computed = expressions.computed(pending.path[0])
    if computed is None or not is_rowtime(computed):
        raise pending.expression_site.error(
            f"{shown} needs a column that is SYSTEM_ROWTIME(), and '{'.'.join(pending.path)}' is not",
            f"Write `rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS {shown}`.",
        )
    if source_time is None:
        raise pending.expression_site.error(
            "this connector makes no watermarks of its own", "Write an expression such as rt - INTERVAL '5' SECOND."
        )
    return replace(pending, expression=source_time[1])
