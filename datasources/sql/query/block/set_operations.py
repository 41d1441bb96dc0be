"""Time attributes under UNION ALL and the other set operations."""

from __future__ import annotations

from datasources.grammar.source_text import Span, SqlText
from datasources.sql.query.block.relation import Relation, RelationColumn
from datasources.sql.text.query_tree import Query


def is_union_all(query: Query) -> bool:
    """Whether all terms are put together by UNION ALL."""
    return all(operator.startswith("UNION ALL") for operator in query.operators)


def lost_by_set_operation(source: SqlText, query: Query, relations: list[Relation]) -> dict[str, str]:
    """Return the columns of the result that are no time attributes although the first term's are, and why.

    Raises:
        SqlError: UNION ALL of a time attribute with a column that is none, or with one of the other kind of time.
    """
    if not is_union_all(query):
        operator = next(each for each in query.operators if not each.startswith("UNION ALL"))
        return {
            c.name: c.lost_reason or f"{operator} makes '{c.name}' an ordinary timestamp" for c in _timed(relations[0])
        }
    for span, operator, relation in zip(query.operator_spans, query.operators, relations[1:], strict=True):
        for first, other in _pairs(relations[0], relation, by_name=operator.endswith("BY NAME")):
            _check(source, span, first, other)
    return {c.name: c.lost_reason for c in relations[0].columns if c.lost_reason}


def _timed(relation: Relation) -> list[RelationColumn]:
    return [column for column in relation.columns if column.time is not None or column.lost_reason is not None]


def _pairs(first: Relation, other: Relation, *, by_name: bool) -> list[tuple[RelationColumn, RelationColumn]]:
    if not by_name:
        return list(zip(first.columns, other.columns, strict=False))
    named = {column.name.lower(): column for column in other.columns}
    return [(column, named[column.name.lower()]) for column in first.columns if column.name.lower() in named]


def _check(source: SqlText, span: Span, first: RelationColumn, other: RelationColumn) -> None:
    if first.time is not None and other.time is not None and first.time is not other.time:
        raise source.error(
            span,
            f"'{first.name}' is {first.time.value} and '{other.name}' is {other.time.value}",
            "Use the same kind of time on both sides.",
        )
    if first.time is not other.time:
        timed, plain = (first, other) if first.time is not None else (other, first)
        lost = f" ({plain.lost_reason})" if plain.lost_reason else ""
        raise source.error(
            span,
            f"'{timed.name}' is a time attribute on one side and '{plain.name}' on the other is none{lost}",
            "Use a time attribute on both sides, or cast both to TIMESTAMP(3).",
        )
    if first.time is not None and first.type_name != other.type_name:
        raise source.error(
            span,
            f"'{first.name}' is a time attribute of type {first.type_name}, '{other.name}' one of {other.type_name}",
            "Times with and without a zone have different watermarks; declare both columns with the same type.",
        )
    if first.lag_unit != other.lag_unit:
        raise source.error(
            span,
            f"'{first.name}' and '{other.name}' are rounded down to different units",
            "Round them to the same unit.",
        )
