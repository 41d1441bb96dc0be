"""A block under rewriting: the state that `rules` read and change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

from datasources.errors import SqlError
from datasources.grammar.literals import quoted
from datasources.grammar.source_text import Span
from datasources.sql.query.block.edits import Edits
from datasources.sql.query.block.relation import Relation, RelationColumn
from datasources.sql.query.block.statement_planning import Planning, TimeProperties
from datasources.sql.text.calls import Call, calls, column_path, expression_regions, is_star
from datasources.sql.text.query_tree import Block, Clause, Cte, FromItem, Join, Query, Region, SelectItem
from datasources.sql.text.word_cursor import Words
from datasources.sql.types.time_kind import TimeKind

__all__ = ["BlockContext", "CteEntry", "QueryScope", "find_column", "output_name", "own_alias"]


@dataclass(slots=True, eq=False)
class CteEntry:
    """A CTE in scope; `relation` once something needed it as one."""

    cte: Cte
    scope: QueryScope
    relation: Relation | None = None


@dataclass(slots=True, eq=False)
class QueryScope:
    """The CTEs that names may mean; inner ones hide outer ones.

    Of a detached text, which becomes a step, no CTE around it is known.
    """

    entries: dict[str, CteEntry] = field(default_factory=dict)
    parent: QueryScope | None = None
    is_detached: bool = False

    def find(self, name: str) -> CteEntry | None:
        """Return the CTE of a name, whatever its case."""
        found = self.entries.get(name.lower())
        return found if found is not None or self.parent is None else self.parent.find(name)


class TextRewriter(Protocol):
    """What rules ask of the rewriter of the text of their block."""

    @property
    def planning(self) -> Planning:
        """What the rewrites of the statement share."""
        ...

    @property
    def words(self) -> Words:
        """The tokens of the text."""
        ...

    @property
    def edits(self) -> Edits:
        """The changes to the text."""
        ...

    def as_text(self, query: Query, scope: QueryScope) -> None:
        """Rewrite a query in place."""
        ...

    def as_step(self, query: Query, scope: QueryScope, shown: str = "") -> Relation:
        """Run a query as a step."""
        ...

    def relation(self, item: FromItem, scope: QueryScope) -> Relation:
        """Return a FROM item as a relation."""
        ...

    def named_relation(self, name: str) -> Relation | None:
        """Return the relation of a view or a table of ours."""
        ...

    def cte_relation(self, entry: CteEntry) -> Relation:
        """Return a CTE as a relation; its query is run once."""
        ...

    def block(
        self, block: Block, scope: QueryScope, *, is_step: bool, drops_row_watermark: bool = False
    ) -> BlockContext:
        """Let every rule change a block."""
        ...


@dataclass(slots=True, kw_only=True, eq=False)
class BlockContext:
    """A block and the information about it.

    Attributes:
        rewriter: rewrites the text of the block.
        block: the block.
        scope: CTEs in scope.
        is_step: the block becomes a step, so what it reads has to be known.
        relations: what it reads, as far as it is known; the rules put in what they make.
        event_times: output columns that the step declares event time.
        attributes: output columns that the step declares time attributes.
        lost: output columns that stop being time attributes, and why.
        lag_unit: those of them that FLOOR made, and its unit.
        kept: select items whose columns are time attributes because a rule made them so.
        drops_row_watermark: the step does not carry the row watermark on: it lists what a top-N ranks.
        hidden: columns of what the block reads that no star shows.
        written_out: stars, as indexes of tokens, in whose span a rule has put columns.
        looked_up: items that are read as they are now.
    """

    rewriter: TextRewriter
    block: Block
    scope: QueryScope
    is_step: bool
    relations: dict[FromItem, Relation] = field(default_factory=dict)
    event_times: list[str] = field(default_factory=list)
    attributes: dict[str, TimeKind] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    lag_unit: dict[str, str] = field(default_factory=dict)
    preserved: list[Region] = field(default_factory=list)
    drops_row_watermark: bool = False
    hidden: list[str] = field(default_factory=list)
    written_out: set[int] = field(default_factory=set)
    looked_up: set[FromItem] = field(default_factory=set)
    _calls: tuple[Call, ...] | None = None

    @property
    def time_properties(self) -> TimeProperties:
        """The time properties of the block's columns if it becomes a step."""
        return TimeProperties(
            event_times=tuple(self.event_times),
            attributes=self.attributes,
            lag_unit=self.lag_unit,
            lost=self.lost,
        )

    @property
    def words(self) -> Words:
        """The tokens of the text."""
        return self.rewriter.words

    @property
    def edits(self) -> Edits:
        """The changes to the text."""
        return self.rewriter.edits

    @property
    def planning(self) -> Planning:
        """What the statement's rewrites share."""
        return self.rewriter.planning

    @property
    def is_aggregated(self) -> bool:
        """Whether rows are put together: GROUP BY, HAVING, DISTINCT."""
        block = self.block
        return bool(block.clause(Clause.GROUP_BY) or block.clause(Clause.HAVING) or block.is_distinct)

    @property
    def has_star(self) -> bool:
        """Whether the select list has a star."""
        return any(is_star(self.words, at) for item in self.block.items for at in item.expression)

    def error(self, span: Span, reason: str, hint: str = "") -> SqlError:
        """Return an error that underlines a span of the text."""
        return self.words.source.error(span, reason, hint)

    @property
    def all_calls(self) -> tuple[Call, ...]:
        """The calls of functions in the block's own expressions."""
        if self._calls is None:
            regions = expression_regions(self.block)
            self._calls = tuple(call for region in regions for call in calls(self.words, region))
        return self._calls

    def calls(self, *names: str) -> Iterator[Call]:
        """Return the calls of some functions."""
        return (call for call in self.all_calls if call.name in names)

    def text(self, region: Region) -> str:
        """Return the characters of a region as they were written."""
        return self.words.text(region)

    def replace_call(self, call: Call, text: str) -> None:
        """Replace a call by a text; a select item that is only the call keeps its text as name."""
        is_unnamed = any(each.expression == call.region and each.alias is None for each in self.block.items)
        name = f" AS {quoted(' '.join(self.text(call.region).split()))}" if is_unnamed else ""
        self.edits.replace(self.words.span(call.region), text + name)

    def reads(self, sources: tuple[FromItem, ...], joins: tuple[Join, ...]) -> None:
        """Let the block read other things: a rule has joined some of those in the text."""
        self.block = replace(self.block, sources=sources, joins=joins)
        self._calls = None

    def only_source(self) -> tuple[FromItem, Relation] | None:
        """Return what the block reads if that is one relation."""
        if len(self.block.sources) != 1 or self.block.has_more:
            return None
        item = self.block.sources[0]
        relation = self.relations.get(item)
        return None if relation is None else (item, relation)

    def column(self, region: Region) -> tuple[FromItem, RelationColumn] | None:
        """Return the column that an expression is, and what it is a column of; None if it is none that is known."""
        path = column_path(self.words, region)
        return None if path is None else self.column_at(path)

    def column_at(self, path: tuple[str, ...]) -> tuple[FromItem, RelationColumn] | None:
        """Return the column of a path of names: `ts`, `t.ts`, a nested `a.b.c` that is a column a_b_c."""
        for item, relation in self.relations.items():
            candidates = [path]
            if len(path) > 1 and path[0].lower() == item.alias.lower():
                candidates.insert(0, path[1:])
            for candidate in candidates:
                column = find_column(relation, candidate)
                if column is not None:
                    return item, column
        return None


def own_alias(words: Words, item: FromItem) -> str:
    """Return the name of a table as its alias, quoted if the user quoted it: some words need it."""
    is_quoted = words.source.text[item.source.end - 1] == "`"
    return quoted(item.alias) if is_quoted else item.alias


def find_column(relation: Relation, path: tuple[str, ...]) -> RelationColumn | None:
    """Return a column by its path, whatever the case; a nested time attribute `a.b` is the column `a_b`."""
    name = "_".join(path).lower()
    found = next((each for each in relation.columns if each.name.lower() == name), None)
    if found is None or len(path) == 1 or found.type_name in {"timestamp", "timestamp_ntz"}:
        return found
    return None


def output_name(words: Words, item: SelectItem) -> str | None:
    """Return the name of a select item's column; None if it has none of its own."""
    if item.alias is not None:
        return item.alias
    path = column_path(words, item.expression)
    return path[-1] if path else None
