"""Collects what a statement requires of each table, before anything is rewritten.

A table is read once per statement, so its options, columns and filter must be known first: the first hint in the text
counts, and the columns are all that the statement and its views mention.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from datasources.errors import SqlError
from datasources.grammar.lexer import TokenKind
from datasources.grammar.source_text import Span, SqlText
from datasources.sql.query.block.planner_interface import Relations
from datasources.sql.query.block.table_filter import table_filter
from datasources.sql.query.scan.changelog_calls import EventsRequest, events_request
from datasources.sql.query.scan.hints import clause_options, hint_options, refuse_options_hint, state_ttls
from datasources.sql.query.scan.scanner import Scanner, scan
from datasources.sql.statements.catalog_objects import ViewDefinition
from datasources.sql.text.calls import column_path, is_star
from datasources.sql.text.query_tree import Block, Clause, FromItem, Opaque, Query, Region, SourceKind
from datasources.sql.text.word_cursor import Words

_WINDOWS = frozenset({"DESCRIPTOR", "TUMBLE", "HOP", "SESSION"})
"""Before the column that a window is made of, as the first argument."""
_WINDOW_OPERATORS = frozenset({"GROUP", "JOIN", "ROW_NUMBER", "DISTINCT", "RANK", "DENSE_RANK"})


@dataclass(slots=True, kw_only=True)
class TableInfo:
    """The use of a name in a FROM that is no CTE and no view of ours.

    Attributes:
        name: as first written.
        span: of the first use, and its text.
        hints: of the first hint; None = none yet.
        hint_span: span of that hint.
        uses: how often it is read.
        version_uses: how often of these as of a time.
        changelog_uses: how often of these as rows of changes.
        events: how FROM_CHANGELOG reads it, every time; None: it does not.
        reads_all: a star selects its columns.
        filter: see `TableUse.filter`; counts if the table is read once.
        clause_error: why Spark's watermark clause cannot be read; an error if the table turns out to be ours.
        state_ttl_ms: the longest of its STATE_TTL hints, 0 for ever; None: it has none.
        proctimes: names, lower case, that queries above it give to PROCTIME().
    """

    name: str
    source: SqlText
    span: Span
    hints: dict[str, str] | None = None
    hint_span: tuple[SqlText, Span] | None = None
    uses: int = 0
    version_uses: int = 0
    changelog_uses: int = 0
    events: EventsRequest | None = None
    reads_all: bool = False
    filter: str | None = None
    clause_error: SqlError | None = None
    state_ttl_ms: int | None = None
    proctimes: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewText:
    """A view of ours, read."""

    definition: ViewDefinition
    words: Words
    query: Query


@dataclass(slots=True, kw_only=True)
class Survey:
    """What was found in a statement and the views that it uses.

    Attributes:
        tables: by lower-case name.
        views: by lower-case name.
        identifiers: every name that is mentioned anywhere, lower case.
        mentions_watermark: CURRENT_WATERMARK is called.
        has_window_operator: something that keeps rows by window is there: GROUP BY, a join, ROW_NUMBER, DISTINCT.
        window_columns: the columns, lower case, that windows are made of.
    """

    relations: Relations
    tables: dict[str, TableInfo] = field(default_factory=dict)
    views: dict[str, ViewText] = field(default_factory=dict)
    identifiers: set[str] = field(default_factory=set)
    mentions_watermark: bool = False
    has_window_operator: bool = False
    window_columns: set[str] = field(default_factory=set)


_Names = frozenset[str]
_Given = tuple[dict[str, str], tuple[SqlText, Span]]


@dataclass(frozen=True, slots=True)
class _Where:
    """Where the survey is: CTEs in scope with the tables below them, hints of enclosing views, views being read.

    `is_nested`: in a query inside an expression, whose names may be columns of a query around it. `function`: directly
    in a window function, a snapshot, or TO_CHANGELOG. `events`: directly in FROM_CHANGELOG, what it says.
    """

    ctes: dict[str, _Names]
    inherited: _Given | None = None
    views: tuple[str, ...] = ()
    is_nested: bool = False
    function: SourceKind | None = None
    events: EventsRequest | None = None


def survey(words: Words, query: Query, relations: Relations) -> Survey:
    """Look at a statement.

    Raises:
        SqlError: a hint is malformed, or views use each other in a circle.
    """
    found = Survey(relations=relations)
    _Surveyor(found, words).statement(query, _Where({}))
    return found


class _Surveyor:
    """Looks at one text."""

    def __init__(self, found: Survey, words: Words) -> None:
        self._found = found
        self._words = words

    def statement(self, query: Query, where: _Where) -> _Names:
        """Look at a text, return the tables below it."""
        found, words = self._found, self._words
        refuse_options_hint(words)
        for index, token in enumerate(words.tokens):
            if token.kind in {TokenKind.WORD, TokenKind.QUOTED}:
                found.identifiers.add(token.value.lower())
                found.mentions_watermark |= token.word == "CURRENT_WATERMARK" and words.symbol(index + 1) == "("
                found.has_window_operator |= token.word in _WINDOW_OPERATORS
                if token.word in _WINDOWS and words.symbol(index + 1) == "(":
                    found.window_columns |= _last_name(words, words.inside(index + 1))
        return self._query(query, where)

    def _query(self, query: Query, where: _Where) -> _Names:
        ctes = dict(where.ctes)
        inner = replace(where, ctes=ctes)
        for cte in query.ctes:
            ctes[cte.name.lower()] = self._query(cte.query, inner)
        names: set[str] = set()
        for term in query.terms:
            if isinstance(term, Block):
                names |= self._block(term, inner)
            elif isinstance(term, Query):
                names |= self._query(term, inner)
            else:
                names |= self._opaque(term, inner)
        for nested in query.tail_nested:
            names |= self._query(nested, inner)
        return frozenset(names)

    def _opaque(self, term: Opaque, where: _Where) -> _Names:
        names = frozenset(name for item in term.sources for name in self._item(item, where))
        self._read_all(names)
        for nested in term.nested:
            self._query(nested, replace(where, is_nested=True))
        return names

    def _block(self, block: Block, where: _Where) -> _Names:
        below = [(item, self._item(item, where)) for item in block.sources]
        everything = frozenset(name for _item, names in below for name in names)
        if block.has_more or any("NATURAL" in join.words for join in block.joins):
            self._read_all(everything)
        for qualifier in self._stars(block):
            named = [names for item, names in below if qualifier is not None and item.alias.lower() == qualifier]
            self._read_all(frozenset().union(*named) if named else everything)
        self._note_state_ttls(block, below)
        for alias in self._proctimes(block):
            for name in everything:
                self._found.tables[name].proctimes.add(alias)
        for nested in block.nested:
            everything |= self._query(nested, replace(where, is_nested=True))
        if not where.is_nested:
            self._note_filter(block)
        return everything

    def _note_state_ttls(self, block: Block, below: list[tuple[FromItem, _Names]]) -> None:
        named: dict[str, _Names] = {}
        for item, names in below:
            data = item if item.tvf is None else item.tvf.data
            named |= {name.lower(): names for name in (data.name, data.alias, item.alias) if name}
        for name, (ttl_ms, span) in state_ttls(self._words, block).items():
            if name not in named:
                known = ", ".join(named) or "nothing that has a name"
                raise self._words.source.error(
                    span, f"STATE_TTL names '{name}', and this FROM has {known}", "Name a table or an alias of FROM."
                )
            for info in map(self._found.tables.__getitem__, named[name]):
                before = info.state_ttl_ms
                is_longer = before is None or ttl_ms == 0 or (0 < before < ttl_ms)
                info.state_ttl_ms = ttl_ms if is_longer else before

    def _proctimes(self, block: Block) -> Iterator[str]:
        """The names that a select list gives to PROCTIME()."""
        words = self._words
        for item in block.items:
            first = item.expression.first
            if item.alias is not None and words.matches(first, "PROCTIME") and words.symbol(first + 1) == "(":
                yield item.alias.lower()

    def _stars(self, block: Block) -> Iterator[str | None]:
        """The stars of a block: the qualifier of each, None if it has none."""
        words = self._words
        for clause, region in block.clauses.items():
            if clause is Clause.FROM:
                continue
            for at in region:
                if is_star(words, at):
                    is_qualified = words.symbol(at - 1) == "." and words.is_name(at - 2)
                    yield words[at - 2].value.lower() if is_qualified else None

    def _item(self, item: FromItem, where: _Where) -> _Names:
        if item.kind is SourceKind.TABLE:
            return self._table(item, where)
        where = replace(where, function=None, events=None)
        self._refuse_hints(item)
        if item.query is not None:
            return self._query(item.query, replace(where, is_nested=where.is_nested or item.is_lateral))
        if item.tvf is not None:
            events = events_request(self._words, item.tvf) if item.kind is SourceKind.EVENTS else None
            return self._item(item.tvf.data, replace(where, function=item.kind, events=events))
        if item.kind is SourceKind.FUNCTION:
            queries = Scanner(self._words).nested(item.region)
            return frozenset(name for each in queries for name in self._query(each, replace(where, is_nested=True)))
        names = {name for inner in item.items for name in self._item(inner, where)}
        return frozenset(names)

    def _refuse_hints(self, item: FromItem) -> None:
        for hint in item.hints:
            raise self._words.source.error(
                self._words[hint].span,
                "a hint stands behind the name of a table or view, this is neither",
                "Move it behind the name of the table inside.",
            )

    def _table(self, item: FromItem, where: _Where) -> _Names:
        key = item.name.lower()
        if key in where.ctes:
            self._refuse_hints(item)
            return where.ctes[key]
        definition = self._found.relations.view(item.name)
        if definition is not None:
            return self._view(item, definition, where)
        info = self._found.tables.setdefault(
            key, TableInfo(name=item.name, source=self._words.source, span=item.source)
        )
        if info.uses and info.events != where.events:
            raise self._words.source.error(
                item.source,
                f"the statement reads '{info.name}' by FROM_CHANGELOG, and also in another way",
                "A table is read in one way per statement. Create another table with the same options for one of them.",
            )
        info.events = where.events
        info.uses += 1
        info.version_uses += bool(item.version) or where.function is SourceKind.SNAPSHOT
        info.changelog_uses += where.function is SourceKind.CHANGELOG
        self._note_hints(info, item, where)
        return frozenset({key})

    def _note_hints(self, info: TableInfo, item: FromItem, where: _Where) -> None:
        try:
            given = self._options(item)
        except SqlError as error:
            if item.hints:
                raise
            given, info.clause_error = None, error
        if given is None:
            given = where.inherited
        if given is not None and info.hints is None:
            info.hints, info.hint_span = given

    def _options(self, item: FromItem) -> _Given | None:
        """The options beside a name: of its first hint, and of Spark's watermark clause, which the hint goes before."""
        words = self._words
        clause = clause_options(words, item) if item.watermark else {}
        given = [hint_options(words, words[hint]) for hint in item.hints]
        if given:
            return {**clause, **given[0]}, (words.source, words[item.hints[0]].span)
        return (clause, (words.source, words.span(item.watermark))) if clause else None

    def _view(self, item: FromItem, definition: ViewDefinition, where: _Where) -> _Names:
        key = item.name.lower()
        if key in where.views:
            chain = " -> ".join((*where.views[where.views.index(key) :], key))
            raise self._words.source.error(item.source, f"the view uses itself: {chain}", "Define one of them anew.")
        text = self._found.views.get(key)
        if text is None:
            words, query = scan(SqlText(definition.query, f"view {definition.name}"))
            text = self._found.views[key] = ViewText(definition=definition, words=words, query=query)
        inherited = self._options(item) or where.inherited
        inner = _Where({}, inherited, (*where.views, key), where.is_nested)
        return _Surveyor(self._found, text.words).statement(text.query, inner)

    def _read_all(self, names: _Names) -> None:
        for name in names:
            self._found.tables[name].reads_all = True

    def _note_filter(self, block: Block) -> None:
        if len(block.sources) == 1 and block.sources[0].kind is SourceKind.TABLE and not block.has_more:
            info = self._found.tables.get(block.sources[0].name.lower())
            if info is not None:
                info.filter = table_filter(self._words, block, block.sources[0])


def _last_name(words: Words, arguments: Region) -> set[str]:
    """The name of the column that the first argument is; nothing if it is anything else."""
    first = next(iter(words.split(arguments)), None)
    path = None if first is None else column_path(words, first)
    return set() if path is None else {path[-1].lower()}
