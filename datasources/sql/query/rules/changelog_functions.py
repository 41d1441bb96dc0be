"""TO_CHANGELOG: the changes of a table as rows that are only added; FROM_CHANGELOG: such rows as the table.

FROM TO_CHANGELOG(input => TABLE t) AS c    FROM (SELECT CASE ... END AS op, id, v FROM tidemark_t_1) AS c
FROM FROM_CHANGELOG(input => TABLE e) AS t  FROM tidemark_e_1 AS t

Source: Flink's functions of these names (FLIP-564).
"""

from __future__ import annotations

from typing import Final

from datasources.grammar.literals import literal, quoted
from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.query.block.relation import ROW_KIND_COLUMN, Relation
from datasources.sql.query.rules.sources import flat
from datasources.sql.query.scan.changelog_calls import OPERATIONS, descriptor, mapping
from datasources.sql.text.query_tree import FromItem, Region, SourceKind, Tvf

_SHAPE: Final = (
    "Write TO_CHANGELOG(input => TABLE t), and if need be op => DESCRIPTOR(name) and op_mapping => "
    "MAP['INSERT', 'c', ...]."
)


def read_changelogs(context: BlockContext) -> None:
    """Make a relation of every TO_CHANGELOG and FROM_CHANGELOG."""
    for item in flat(context.block.sources):
        if item.tvf is None or item in context.relations:
            continue
        if item.kind is SourceKind.CHANGELOG:
            context.relations[item] = _changelog(context, item, item.tvf)
        elif item.kind is SourceKind.EVENTS:
            context.relations[item] = _input(
                context, item.tvf, "Create a table for the events, and filter and project around the call."
            )


def _changelog(context: BlockContext, item: FromItem, tvf: Tvf) -> Relation:
    relation = _input(context, tvf, "The result of a query over tables that change has the column row_kind already.")
    name, texts = "op", {kind: operation for operation, kind in OPERATIONS.items()}
    for argument, region in tvf.arguments:
        if argument == "OP":
            name = descriptor(context.words, region, _SHAPE)
        elif argument == "OP_MAPPING":
            texts = _mapping(context, region)
        else:
            raise context.error(context.words.span(region), f"TO_CHANGELOG has no argument {argument}".rstrip(), _SHAPE)
    return _step(context, relation, name, texts, context.words.source.of(item.source))


def _input(context: BlockContext, tvf: Tvf, hint: str) -> Relation:
    data = tvf.data
    is_table = data.kind is SourceKind.TABLE and context.scope.find(data.name) is None
    relation = context.planning.tables.get(data.name.lower()) if is_table else None
    if relation is None:
        raise context.error(data.source, f"{tvf.name} reads a table of the catalog, and this is none", hint)
    return relation


def _mapping(context: BlockContext, region: Region) -> dict[str, str]:
    """Return the text for each kind of change; kinds without one are left out of the result."""
    words, texts = context.words, dict[str, str]()
    for operations, text in mapping(words, region, _SHAPE):
        for operation in operations:
            if operation not in OPERATIONS or OPERATIONS[operation] in texts:
                problem = "is mapped twice" if operation in OPERATIONS else f"is none of {', '.join(OPERATIONS)}"
                raise context.error(words.span(region), f"the operation '{operation}' {problem}", _SHAPE)
            texts[OPERATIONS[operation]] = text
    return texts


def _step(context: BlockContext, relation: Relation, name: str, texts: dict[str, str], shown: str) -> Relation:
    columns = [column for column in relation.columns if column.name != ROW_KIND_COLUMN]
    if any(column.name.lower() == name.lower() for column in columns):
        raise context.error(
            context.block.list_span,
            f"the table has a column '{name}', as TO_CHANGELOG calls that of the operation",
            "Give it another name: op => DESCRIPTOR(operation).",
        )
    has_kinds = len(columns) < len(relation.columns)
    cases = " ".join(f"WHEN {literal(kind)} THEN {literal(text)}" for kind, text in texts.items())
    operation = f"CASE {quoted(ROW_KIND_COLUMN)} {cases} END" if has_kinds else literal(texts.get("+I", "INSERT"))
    listed = ", ".join(quoted(column.name) for column in columns)
    kinds = ", ".join(literal(kind) for kind in texts)
    where = f" WHERE {quoted(ROW_KIND_COLUMN)} IN ({kinds})" if has_kinds else ""
    text = f"SELECT {operation} AS {quoted(name)}, {listed} FROM {relation.view}{where}"
    return context.planning.run(text, shown=shown)
