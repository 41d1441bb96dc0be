"""The arguments of windows, parsed and checked: time column, size, slide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from datasources.durations import UNITS_US
from datasources.grammar.source_text import Span
from datasources.near_matches import near_matches
from datasources.spark.pushdown.aggregates.time_window import WINDOW_COLUMNS
from datasources.sql.query.block.block_context import BlockContext, find_column
from datasources.sql.query.block.relation import Relation, RelationColumn
from datasources.sql.query.scan.intervals import interval_us
from datasources.sql.query.windows.windows import WindowSpec
from datasources.sql.text.calls import column_path
from datasources.sql.text.query_tree import Region, Tvf

_PARAMETERS: Final = {
    "TUMBLE": ("TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("TIMECOL", "STEP", "SIZE", "OFFSET"),
    "SESSION": ("TIMECOL", "GAP"),
}
_OPTIONAL: Final = frozenset({"OFFSET"})
_SHAPES: Final = {
    "TUMBLE": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND[, offset])",
    "HOP": "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND[, offset]): slide, size",
    "CUMULATE": "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '9' SECOND[, offset]): step, size",
    "SESSION": "SESSION(TABLE t[ PARTITION BY k], DESCRIPTOR(ts), INTERVAL '5' SECOND)",
}
_GROUP_PARAMETERS: Final = {
    "TUMBLE": ("SIZE", "OFFSET"),
    "HOP": ("SLIDE", "SIZE", "OFFSET"),
    "SESSION": ("GAP",),
}
_MEANINGS: Final = {
    "SIZE": "the size of the window",
    "SLIDE": "the slide",
    "STEP": "the step",
    "GAP": "the gap",
    "OFFSET": "the offset",
}
_TIMES: Final = ("timestamp", "timestamp_ntz")
_US_PER_MS: Final = 1_000


def table_function_window(context: BlockContext, tvf: Tvf, relation: Relation, shown: str) -> WindowSpec:
    """Read the arguments of a window table function.

    Raises:
        SqlError: an argument is missing, malformed or out of range, or the column is no time attribute.
    """
    given = _named(context, tvf)
    column = time_column(context, _described(context, given["TIMECOL"]), relation, given["TIMECOL"])
    if tvf.partition and tvf.name != "SESSION":
        span = context.words.span(Region(tvf.partition[0].first, tvf.partition[-1].last))
        raise context.error(span, f"{tvf.name} takes no PARTITION BY", "Group by the columns in the query around it.")
    keys = tuple(_key(context, region, relation) for region in tvf.partition)
    _refuse_window_columns(context, tvf.name_span, relation)
    lengths = {name: region for name, region in given.items() if name != "TIMECOL"}
    return replace(_checked(context, tvf.name, column, lengths), keys=keys, shown=shown)


def group_window(
    context: BlockContext, name: str, span: Span, parts: tuple[Region, ...], relation: Relation
) -> WindowSpec:
    """Read the arguments of a window in GROUP BY: `TUMBLE(ts, INTERVAL '10' SECOND)`.

    Raises:
        SqlError: as `table_function_window`.
    """
    parameters = _GROUP_PARAMETERS[name]
    minimum = len(parameters) + 1 - ("OFFSET" in parameters)
    if not minimum <= len(parts) <= len(parameters) + 1:
        expected = ", ".join(["ts", *(f"{each.lower()}" for each in parameters if each not in _OPTIONAL)])
        raise context.error(span, f"{name} has {len(parts)} arguments", f"Write {name}({expected}).")
    path = column_path(context.words, parts[0])
    if path is None:
        raise context.error(
            context.words.span(parts[0]),
            f"{name} takes the name of a column, and this is an expression",
            "An expression over a time attribute is an ordinary timestamp.",
        )
    column = time_column(context, _unqualified(context, path), relation, parts[0])
    _refuse_window_columns(context, span, relation)
    lengths = dict(zip(parameters, parts[1:], strict=False))
    return replace(_checked(context, name, column, lengths), shown=context.words.source.of(span))


def _checked(context: BlockContext, kind: str, column: RelationColumn, lengths: Mapping[str, Region]) -> WindowSpec:
    """Read the lengths of a window and check them against each other."""
    values = {name: interval_us(context.words, region, _MEANINGS[name]) for name, region in lengths.items()}
    for name, us in values.items():
        if us <= 0 and name != "OFFSET":
            raise context.error(context.words.span(lengths[name]), f"{_MEANINGS[name]} must be more than 0")
        if us % _US_PER_MS:
            raise context.error(context.words.span(lengths[name]), f"{_MEANINGS[name]} must be whole milliseconds")
    size = values["GAP"] if kind == "SESSION" else values["SIZE"]
    step = values.get("SLIDE", values.get("STEP", size))
    if kind == "HOP" and step > size:
        raise context.error(
            context.words.span(lengths["SLIDE"]),
            "the slide is longer than the window, so rows between windows would be lost",
            "The slide comes first, then the size.",
        )
    if kind == "CUMULATE" and (step > size or size % step):
        raise context.error(
            context.words.span(lengths["SIZE"]),
            "the largest size is no multiple of the step",
            "The step comes first, then the largest size.",
        )
    if column.lag_unit is not None and context.planning.is_streaming:
        _check_lag(context, column, column.lag_unit, {**values, "STEP": step}, lengths)
    return WindowSpec(
        kind=kind,
        attribute=column,
        size_us=size,
        step_us=step,
        offset_us=values.get("OFFSET", 0),
    )


def _check_lag(
    context: BlockContext, column: RelationColumn, unit: str, values: dict[str, int], lengths: Mapping[str, Region]
) -> None:
    """Refuse windows that may end before the rows of a rounded time come.

    A row of FLOOR(ts TO unit) comes up to one unit after its time. Windows whose ends are ends of units are not over
    by then; ends of units are multiples of the unit for times without a zone up to a day, with one up to a minute.
    """
    fixed = ("MILLISECOND", "SECOND", "MINUTE", *(("HOUR", "DAY") if column.type_name == "timestamp_ntz" else ()))
    if unit in fixed and not any(us % UNITS_US[unit] for us in values.values()):
        return
    span = context.words.span(next(iter(lengths.values())))
    raise context.error(
        span,
        f"'{column.name}' is rounded down to {unit}, and this window may end before its rows come",
        f"Use a window of whole {unit}s without a part of one as offset, or round up with CEIL."
        if unit in fixed
        else "Round up with CEIL.",
    )


def time_column(context: BlockContext, path: tuple[str, ...], relation: Relation, region: Region) -> RelationColumn:
    """Return the time attribute of a path; of a batch any timestamp.

    Raises:
        SqlError: there is no such column, or it is none; the message names where it was lost.
    """
    span = context.words.span(region)
    column = find_column(relation, path)
    name = ".".join(path)
    if column is None:
        raise context.error(span, f"there is no column '{name}'", _columns_like(context, name, relation))
    if column.type_name not in _TIMES:
        raise context.error(
            span, f"'{name}' is {column.type_name}, and windows are made of timestamps", _attributes_of(relation)
        )
    if context.planning.is_streaming and column.time is None:
        reason = f": {column.lost_reason}" if column.lost_reason else ""
        hint = "Use the attribute before that." if column.lost_reason else _attributes_of(relation)
        raise context.error(span, f"'{name}' is no time attribute{reason}", hint)
    return column


def _columns_like(context: BlockContext, name: str, relation: Relation) -> str:
    """Return near matches, else all columns: also those that the statement does not name, which are not read."""
    own = [each.name for each in relation.columns]
    tables = (columns for columns in context.planning.relations.known_columns() if set(own) <= set(columns))
    known = list(next(tables, own))
    return near_matches(name, known).strip() or f"Columns: {', '.join(known)}."


def _attributes_of(relation: Relation) -> str:
    names = [column.name for column in relation.columns if column.time is not None]
    if names:
        return f"Time attributes here: {', '.join(names)}."
    return "Declare one with WATERMARK FOR in CREATE TABLE."


def _named(context: BlockContext, tvf: Tvf) -> dict[str, Region]:
    parameters = _PARAMETERS[tvf.name]
    given: dict[str, Region] = {}
    for number, (name, region) in enumerate(tvf.arguments):
        if not name and number < len(parameters):
            name = parameters[number]  # noqa: PLW2901 - the name of the positional argument
        if name not in parameters:
            span = context.words.span(region)
            what = f"{tvf.name} has no argument {name}" if name else f"{tvf.name} has too many arguments"
            raise context.error(span, what, f"Write {_SHAPES[tvf.name]}.")
        if name in given:
            raise context.error(context.words.span(region), f"{name} is given twice", f"Write {_SHAPES[tvf.name]}.")
        given[name] = region
    missing = [name for name in parameters if name not in given and name not in _OPTIONAL]
    if missing:
        raise context.error(tvf.name_span, f"{tvf.name} lacks {', '.join(missing)}", f"Write {_SHAPES[tvf.name]}.")
    return given


def _described(context: BlockContext, region: Region) -> tuple[str, ...]:
    """The path inside `DESCRIPTOR(ts)`."""
    words = context.words
    inside = words.inside(region.first + 1) if words.symbol(region.first + 1) == "(" else Region(0, 0)
    path = column_path(words, inside)
    if words.word(region.first) != "DESCRIPTOR" or path is None or words.after(region.first + 1) != region.last:
        raise context.error(words.span(region), "expected DESCRIPTOR(column)", "Name one column: DESCRIPTOR(ts).")
    return path


def _unqualified(context: BlockContext, path: tuple[str, ...]) -> tuple[str, ...]:
    aliases = {item.alias.lower() for item in context.block.sources}
    return path[1:] if len(path) > 1 and path[0].lower() in aliases else path


def _key(context: BlockContext, region: Region, relation: Relation) -> str:
    path = column_path(context.words, region)
    column = None if path is None else find_column(relation, path)
    if column is None:
        columns = ", ".join(each.name for each in relation.columns)
        raise context.error(context.words.span(region), "PARTITION BY takes columns", f"Columns: {columns}.")
    return column.name


def _refuse_window_columns(context: BlockContext, span: Span, relation: Relation) -> None:
    taken = [column.name for column in relation.columns if column.name.lower() in WINDOW_COLUMNS]
    if taken:
        raise context.error(
            span,
            f"the input has the columns {', '.join(taken)} already, which the window adds",
            "Give them other names in a sub-query: SELECT window_time AS ts, ...",
        )
