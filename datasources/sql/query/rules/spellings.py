"""Types and literals as Flink spells them, where Spark would not read them or would read another type.

CAST(x AS TIMESTAMP(3))     a TIMESTAMP_NTZ cut to milliseconds
CAST(x AS TIMESTAMP)        CAST(x AS TIMESTAMP_NTZ)           only in queries that use our tables
CAST(x AS BYTES)            CAST(x AS BINARY)
TIMESTAMP '2024-01-01'      TIMESTAMP_NTZ '2024-01-01'         only in queries that use our tables
ts - '5' SECOND             ts - INTERVAL '5' SECOND
TO_TIMESTAMP_LTZ(x, 3)      timestamp_millis(x)
"""

from __future__ import annotations

import re
from typing import Final

from datasources.errors import SqlError
from datasources.sql.query.calls import Call, expression_regions
from datasources.sql.query.context import BlockContext
from datasources.sql.query.tree import Region
from datasources.sql.source_text import Span, SqlText
from datasources.sql.tokens import TokenKind
from datasources.sql.type_names import spark_ddl
from datasources.sql.types import SqlType

__all__ = ["rewrite_spellings"]

_MICROSECONDS: Final = 6
_OURS: Final = frozenset({"VARCHAR", "CHAR", "BYTES", "VARBINARY", "ROW", "MULTISET"})
_TIMES: Final = frozenset({"TIMESTAMP", "TIMESTAMP_LTZ"})
_UNITS: Final = frozenset(
    unit + ending for unit in ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR") for ending in ("", "S")
)
_EPOCH_SCALES: Final = {"0": "timestamp_seconds", "3": "timestamp_millis", "6": "timestamp_micros"}
_ZONE: Final = re.compile(r"(?:Z|[+-]\d{1,2}:?\d{2}|[A-Za-z]+/[A-Za-z_/]+|UTC|GMT)\s*$")


def rewrite_spellings(context: BlockContext) -> None:
    """Spell anew what Spark would not read as it is meant."""
    for call in context.calls("CAST", "TRY_CAST"):
        _rewrite_cast(context, call)
    for call in context.calls("TO_TIMESTAMP_LTZ"):
        _rewrite_epoch(context, call)
    for region in expression_regions(context.block):
        for at in region:
            _rewrite_literal(context, at)


def _rewrite_cast(context: BlockContext, call: Call) -> None:
    words = context.words
    cut = next((at for at in words.top_level(call.inside) if words.word(at) == "AS"), None)
    if cut is None or cut == call.inside.first or cut + 1 >= call.inside.last:
        return
    target = Region(cut + 1, call.inside.last)
    sql_type = _type(context, target)
    if sql_type is None or not _is_respelled(context, sql_type):
        return
    place = words.place(target)
    name = spark_ddl(sql_type)
    precision = sql_type.parameters[0] if sql_type.parameters else _MICROSECONDS
    context.edits.replace(place, name)
    if sql_type.root in _TIMES and precision < _MICROSECONDS:
        fraction = "1" if precision == 0 else f"0.{'0' * (precision - 1)}1"
        whole = words.place(call.region)
        context.edits.insert(whole.start, "transform(array(")
        cut_text = f"), t -> t - make_dt_interval(0, 0, 0, extract(SECOND FROM t) % {fraction}))[0]"
        is_unnamed = any(each.expression == call.region and each.alias is None for each in context.block.items)
        name_of_item = f" AS `{' '.join(context.text(call.region).split())}`" if is_unnamed else ""
        context.edits.insert(whole.end, cut_text + name_of_item)


def _type(context: BlockContext, region: Region) -> SqlType | None:
    """The type that is written, None if it is one of Spark's own."""
    from datasources.sql.parse import parse_type

    try:
        return parse_type(SqlText(context.text(region)))
    except SqlError:
        return None  # Spark has types of its own, such as VARIANT; whether this is one is for Spark to say


def _is_respelled(context: BlockContext, sql_type: SqlType) -> bool:
    inner = [*sql_type.arguments, *(each.type for each in sql_type.fields)]
    if sql_type.root in _TIMES:
        return (
            bool(sql_type.parameters)
            or (context.planning.touches_ours and sql_type.root == "TIMESTAMP")
            or (sql_type.root == "TIMESTAMP_LTZ")
        )
    if sql_type.root in {"VARCHAR", "CHAR"} and sql_type.parameters:
        return False
    return sql_type.root in _OURS or any(_is_respelled(context, each) for each in inner)


def _rewrite_epoch(context: BlockContext, call: Call) -> None:
    words = context.words
    parts = words.split(call.inside)
    if len(parts) != 2 or words[parts[1].first].kind is not TokenKind.NUMBER:  # noqa: PLR2004 - value and precision
        return
    scale = words.text(parts[1])
    function = _EPOCH_SCALES.get(scale)
    if function is None:
        raise context.error(words.place(parts[1]), f"TO_TIMESTAMP_LTZ counts in 0, 3 or 6 digits, not {scale}")
    context.edits.replace(words[call.region.first].place, function)
    context.edits.replace(Span(words.place(parts[0]).end, words.place(parts[1]).end), "")


def _rewrite_literal(context: BlockContext, at: int) -> None:
    words = context.words
    token = words[at]
    if token.kind is not TokenKind.STRING:
        return
    before = words.word(at - 1)
    if before == "TIMESTAMP" and context.planning.touches_ours and not _ZONE.search(token.value.strip()):
        context.edits.replace(words[at - 1].place, "TIMESTAMP_NTZ")
    if words.symbol(at - 1) in {"-", "+"} and words.word(at + 1) in _UNITS:
        context.edits.insert(token.start, "INTERVAL ")
        hint = "An interval was written without INTERVAL; it is read as one."
        if hint not in context.planning.hints:
            context.planning.hints.append(hint)
