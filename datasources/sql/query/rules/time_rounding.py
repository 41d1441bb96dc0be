"""FLOOR(ts TO unit) and CEIL(ts TO unit) of times.

    CEIL(l TO DAY)   CASE WHEN date_trunc('DAY', l) = l THEN l ELSE date_trunc('DAY', l) + INTERVAL '1' DAY END

In the GROUP BY of a stream the rounded time attribute is computed in a step, where it becomes event time. A group of
CEIL is the interval that ends at it, so it is complete when the watermark reaches it. A group of FLOOR is the interval
that begins at it: it is grouped by its end as well, and the end is the event time. Rows of FLOOR are up to a unit
behind the watermark, and windows over them allow for that (`window_arguments`).
"""

from __future__ import annotations

from typing import Final

from datasources.grammar.source_text import Span
from datasources.sql.query.block.block_context import BlockContext, output_name
from datasources.sql.query.block.relation import ROW_WATERMARK_COLUMN, Relation, RelationColumn
from datasources.sql.query.block.statement_planning import TimeProperties
from datasources.sql.query.windows.rounding import ceiling, floor, is_unit, one_unit
from datasources.sql.text.calls import Call, column_path, split_unit
from datasources.sql.text.query_tree import Clause, FromItem, Region, SourceKind

_WITH_ZONE: Final = frozenset({"TIMESTAMP_LTZ", "CURRENT_TIMESTAMP", "NOW", "PROCTIME", "TO_TIMESTAMP_LTZ"})
_TIMES: Final = ("timestamp", "timestamp_ntz")


def rewrite_time_rounding(context: BlockContext) -> None:
    """Round in place, or in a step where a stream is grouped by the result."""
    done: dict[tuple[str, str, str], str] = {}
    for call in reversed(list(context.calls("FLOOR", "CEIL", "CEILING"))):  # inner ones first
        parts = split_unit(context.words, call)
        if parts is None:
            continue
        operand, unit, span = parts
        if not is_unit(unit):
            raise context.error(span, f"'{unit}' is no unit to round a time to", "Use SECOND, MINUTE, HOUR, DAY, ...")
        _Rounding(context, call, operand, unit, done).rewrite()


class _Rounding:
    """One call."""

    def __init__(
        self, context: BlockContext, call: Call, operand: Region, unit: str, done: dict[tuple[str, str, str], str]
    ) -> None:
        self._context = context
        self._call = call
        self._operand = operand
        self._unit = unit
        self._done = done
        self._is_floor = call.name == "FLOOR"

    def rewrite(self) -> None:
        """Replace the call by its value."""
        context = self._context
        found = context.column(self._operand)
        is_attribute = found is not None and found[1].time is not None and context.planning.is_streaming
        if found is not None and is_attribute and self._is_grouped():
            self._mark_preserved()
            context.replace_call(self._call, self._grouped_column(*found))
            return
        column = None if found is None else found[1]
        if column is not None and is_attribute and not context.is_aggregated:
            self._mark_preserved(column)
        type_name = _operand_type(context, self._operand) if column is None else column.type_name
        context.replace_call(self._call, self._in_place(context.words.span(self._operand), type_name))

    def _in_place(self, operand: Span, type_name: str) -> str:
        context = self._context
        value = context.edits.render(context.words.source.text, operand)
        return (floor if self._is_floor else ceiling)(value, self._unit, type_name)

    def _is_grouped(self) -> bool:
        """Whether the block groups by this call, by the alias of it, or by its number in the select list."""
        context = self._context
        same = {index for index, item in enumerate(context.block.items) if self._is_same(item.expression)}
        for region in context.words.split(context.block.clause(Clause.GROUP_BY)):
            text = context.text(region)
            if self._is_same(region) or (text.isdigit() and int(text) - 1 in same):
                return True
            if any(context.block.items[index].alias == text for index in same):
                return True
        return False

    def _is_same(self, region: Region) -> bool:
        context = self._context
        return _normal(context.text(region)) == _normal(context.text(self._call.region))

    def _mark_preserved(self, column: RelationColumn | None = None) -> None:
        """Note that the select item that is this call is a time attribute."""
        context = self._context
        for item in context.block.items:
            if item.expression != self._call.region:
                continue
            context.preserved.append(item.expression)
            name = output_name(context.words, item)
            if column is not None and column.time is not None and name is not None:
                context.attributes[name] = column.time
                if self._is_floor:
                    context.lag_unit[name] = self._unit
                else:
                    context.event_times.append(name)

    def _grouped_column(self, item: FromItem, column: RelationColumn) -> str:
        """Return the column of a step that holds the rounded time; make the step if it is not there yet."""
        context = self._context
        key = (column.name, self._unit, "FLOOR" if self._is_floor else "CEIL")
        if key not in self._done:
            self._done[key] = self._run(item, context.relations[item], column)
        return self._done[key]

    def _run(self, item: FromItem, relation: Relation, column: RelationColumn) -> str:
        context = self._context
        assert column.time is not None
        if context.only_source() is None:
            raise context.error(
                context.words.span(self._call.region),
                f"a stream can be grouped by {self._call.name} of one table, view or sub-query only",
                "Put the join into a sub-query.",
            )
        name = context.planning.new_column("floor" if self._is_floor else "ceil")
        down = floor(column.name, self._unit, column.type_name)
        up = ceiling(column.name, self._unit, column.type_name)
        if self._is_floor:
            end = f"{name}_end"
            columns = f"{down} AS {name}, {down} + {one_unit(self._unit)} AS {end}"
            context.edits.insert(self._group_end(), f", {end}")
        else:
            end = name
            columns = f"{up} AS {name}"
        text = f"SELECT *, {columns} FROM {relation.view}"
        if context.planning.drops_late_rows and relation.has_row_watermark:
            text = f"SELECT * FROM ({text}) WHERE {ROW_WATERMARK_COLUMN} IS NULL OR {end} > {ROW_WATERMARK_COLUMN}"
        time_properties = TimeProperties(
            event_times=(end,),
            attributes={name: column.time},
            lag_unit={name: self._unit} if self._is_floor else {},
        )
        context.relations[item] = context.planning.run(text, time_properties, context.text(self._call.region))
        return name

    def _group_end(self) -> int:
        return self._context.words.span(self._context.block.clause(Clause.GROUP_BY)).end


def _normal(text: str) -> str:
    return "".join(text.split()).lower()


def _operand_type(context: BlockContext, region: Region) -> str:
    """Return `timestamp` or `timestamp_ntz`.

    The type of a cast, of a column, or of the first time column of an expression. Columns of a table of Spark's are
    looked up.
    """
    words = context.words
    if words.word(region.first) in {"CAST", "TRY_CAST"} and words.symbol(region.first + 1) == "(":
        inside = words.inside(region.first + 1)
        target = next((at + 1 for at in words.top_level(inside) if words.word(at) == "AS"), region.first)
        is_zoned = words.word(target) in _WITH_ZONE or (
            words.word(target) == "TIMESTAMP" and not context.planning.touches_ours and words.symbol(target + 1) != "("
        )
        return "timestamp" if is_zoned else "timestamp_ntz"
    if column_path(words, region) is not None:
        _ask_spark(context)
    for at in region:
        if words.word(at) in _WITH_ZONE:
            return "timestamp"
        found = context.column(Region(at, at + 1)) if words.is_name(at) else None
        if found is not None and found[1].type_name in _TIMES:
            return found[1].type_name
    return "timestamp_ntz"


def _ask_spark(context: BlockContext) -> None:
    """Make known what the block reads of Spark's."""
    for item in context.block.sources:
        if item.kind is SourceKind.TABLE and item not in context.relations and context.scope.find(item.name) is None:
            context.relations[item] = context.rewriter.relation(item, context.scope)
