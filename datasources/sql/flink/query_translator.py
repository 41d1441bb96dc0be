"""Turns a query of Flink SQL into the same query in Spark SQL.

How it works. Names are resolved and expressions translated block by block, from the inside out. Only expressions
change, so that windows, temporal joins and rankings stay what the other rewrites look for. The columns of a block, with
Flink's types, are those of the next one. An expression without a name is called as Flink calls it, `EXPR$0`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from datasources.errors import SqlError
from datasources.grammar.lexer import TokenKind
from datasources.grammar.source_text import Span, SqlText
from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.expression_translator import Difference, ExpressionTranslator
from datasources.sql.flink.logical_types import NULL, STRING, TIMESTAMP, common_type, is_family
from datasources.sql.flink.scope import Column, Scope, Source
from datasources.sql.flink.typed_value import Refused, Value, shown_type, spark_type
from datasources.sql.query.block.edits import Edits
from datasources.sql.query.scan.scanner import scan
from datasources.sql.text.calls import is_star
from datasources.sql.text.query_tree import (
    Block,
    Clause,
    FromItem,
    Join,
    Opaque,
    Query,
    Region,
    SelectItem,
    SourceKind,
    Term,
)
from datasources.sql.text.quoting import name_text
from datasources.sql.text.word_cursor import Words

_GROUPINGS = frozenset({"ROLLUP", "CUBE"})


class KnownRelations(Protocol):
    """What the translation asks about names."""

    def columns(self, name: str) -> tuple[Column, ...] | None:
        """Return the columns of a table or view, None if there is none."""
        ...

    def function_types(self) -> Mapping[str, SqlType]:
        """Return the session's own functions, lower case, with the types of their results."""
        ...


@dataclass(frozen=True, slots=True)
class TranslatedQuery:
    """A query in Spark SQL, and its columns with Flink's types."""

    source: SqlText
    columns: tuple[Column, ...]


def translate_query(source: SqlText, relations: KnownRelations) -> TranslatedQuery:
    """Return a query of Flink SQL in Spark SQL.

    Raises:
        SqlError: it is malformed, names what does not exist, or has no meaning here; names line and column.
    """
    words, query = scan(source)
    translator = _QueryTranslator(words, relations)
    columns = translator.query(query, _Ctes())
    text = translator.edits.render(source.text, Span(0, len(source.text)))
    return TranslatedQuery(SqlText(text, source.name, source.first_line, source.first_column, source.what), columns)


def find_differences(source: SqlText, relations: KnownRelations) -> tuple[Difference, ...]:
    """Return what a query in Spark's dialect would mean in Flink's.

    What the dialect of Flink does not have is passed over.
    """
    words, query = scan(source)
    finder = _DifferenceFinder(words, relations)
    with suppress(SqlError):  # such as a name that Spark may know
        finder.query(query, _Ctes())
    return finder.differences


@dataclass(frozen=True, slots=True)
class _Ctes:
    """The CTEs that are visible, and the scope of the query around a nested one."""

    known: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)
    outer: Scope | None = None


class _QueryTranslator:
    """Translates the queries of one text."""

    def __init__(self, words: Words, relations: KnownRelations) -> None:
        self.edits = Edits()
        self._words = words
        self._relations = relations
        self._ctes = _Ctes()
        self._expressions = ExpressionTranslator(words, self, relations.function_types())

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Expressions that mean something else in Spark's dialect."""
        return tuple(dict.fromkeys(self._expressions.differences))

    def _value(self, region: Region, scope: Scope) -> Value:
        return self._expressions.value(region, scope)

    def nested(self, query: Query, scope: Scope) -> tuple[str, tuple[Column, ...]]:
        """Translate a query inside of an expression."""
        columns = self.query(query, replace(self._ctes, outer=scope))
        return self.edits.render(self._words.source.text, query.span), columns

    def query(self, query: Query, ctes: _Ctes) -> tuple[Column, ...]:
        """Translate a query in place, and return its columns."""
        saved = self._ctes
        for cte in query.ctes:
            inner = self.query(cte.query, ctes)
            ctes = replace(ctes, known={**ctes.known, cte.name: _renamed(inner, cte.columns)})
        self._ctes = ctes
        found = [self._term(term, ctes) for term in query.terms]
        columns = found[0] if len(found) == 1 else self._united(query, found)
        self._ctes = saved
        return columns

    def _term(self, term: Term, ctes: _Ctes) -> tuple[Column, ...]:
        if isinstance(term, Block):
            return self._block(term, ctes)
        if isinstance(term, Query):
            return self.query(term, ctes)
        return self._opaque(term, ctes)

    def _opaque(self, term: Opaque, ctes: _Ctes) -> tuple[Column, ...]:
        if term.sources:
            return self._item(term.sources[0], ctes, Scope(parent=ctes.outer)).columns
        words = self._words
        at = next(each for each in words.all if words[each].start == term.span.start)
        last = next((each for each in words.all if words[each].start >= term.span.end), words.all.last)
        if words.word(at) != "VALUES":
            raise words.source.error(term.span, "this is no query of Flink SQL", "Write SELECT ..., or VALUES.")
        return self._values(Region(at + 1, last), ctes)

    def _values(self, region: Region, ctes: _Ctes) -> tuple[Column, ...]:
        words, scope = self._words, Scope(parent=ctes.outer)
        rows: list[list[Value]] = []
        for row in words.split(region):
            inside = words.inside(row.first) if words.symbol(row.first) == "(" else row
            if words.word(row.first) == "ROW":
                self.edits.replace(words[row.first].span, "")
                inside = words.inside(row.first + 1)
            rows.append([self._value(each, scope) for each in words.split(inside)])
        kinds = []
        for column in zip(*rows, strict=True):
            kind = common_type(each.type for each in column)
            if kind is None:
                raise words.source.error(words.span(region), "the rows of VALUES have no types in common")
            kinds.append(kind)
        for values in rows:
            for value, kind in zip(values, kinds, strict=True):
                self.edits.replace(value.span, _cast_text(value, kind))
        return tuple(Column(f"EXPR${at}", kind) for at, kind in enumerate(kinds))

    def _united(self, query: Query, found: list[tuple[Column, ...]]) -> tuple[Column, ...]:
        counts = {len(each) for each in found}
        if len(counts) > 1:
            shown = " and ".join(str(len(each)) for each in found)
            raise self._words.source.error(
                query.operator_spans[0], f"the queries have different numbers of columns: {shown}"
            )
        columns: list[Column] = []
        for at, alike in enumerate(zip(*found, strict=True)):
            kind = common_type(each.type for each in alike)
            if kind is None:
                shown = " and ".join(shown_type(each.type) for each in alike)
                raise self._words.source.error(
                    query.operator_spans[0], f"column {at + 1} has no type in common: {shown}", "CAST them to one."
                )
            columns.append(Column(alike[0].name, kind))
            for term, column in zip(query.terms, alike, strict=True):
                if not _is_alike(column.type, kind):
                    self._cast_item(term, at, column, kind)
        return tuple(columns)

    def _cast_item(self, term: Term, at: int, column: Column, kind: SqlType) -> None:
        items = term.items if isinstance(term, Block) else ()
        is_plain = not any(is_star(self._words, item.expression.last - 1) for item in items)
        if at >= len(items) or not is_plain:
            raise self._words.source.error(
                term.span,
                f"the column '{column.name}' is {shown_type(column.type)} here and {shown_type(kind)} elsewhere",
                "CAST it.",
            )
        span = self._words.span(items[at].expression)
        text = self.edits.render(self._words.source.text, span)
        self.edits.replace(span, f"CAST({text} AS {spark_type(kind)})")

    # A block.

    def _block(self, block: Block, ctes: _Ctes) -> tuple[Column, ...]:
        if block.has_more:
            raise self._words.source.error(block.span, "LATERAL VIEW, PIVOT and UNPIVOT are Spark's", "Use UNNEST.")
        scope = self._from(block, ctes)
        self._condition(block.clause(Clause.WHERE), scope, "WHERE")
        columns = self._items(block, scope)
        self._group_by(block.clause(Clause.GROUP_BY), scope)
        self._condition(block.clause(Clause.HAVING), scope, "HAVING")
        self._condition(block.clause(Clause.QUALIFY), scope, "QUALIFY")
        self._named_windows(block.clause(Clause.WINDOW), scope)
        self._tail(block.clause(Clause.TAIL), replace(scope, aliases=columns))
        return columns

    def _from(self, block: Block, ctes: _Ctes) -> Scope:
        sources: list[Source] = []
        for item in block.sources:
            before = Scope(sources=tuple(sources), parent=ctes.outer)
            if item.kind is SourceKind.GROUP:
                sources += self._group(item, ctes, before)
            else:
                sources.append(self._item(item, ctes, before))
        scope = Scope(sources=tuple(sources), parent=ctes.outer)
        for join in block.joins:
            scope = self._join(join, scope)
        return scope

    def _group(self, item: FromItem, ctes: _Ctes, scope: Scope) -> list[Source]:
        found: list[Source] = []
        for inner in item.items:
            if inner.kind is SourceKind.GROUP:
                found += self._group(inner, ctes, scope)
            else:
                found.append(self._item(inner, ctes, scope))
        return found

    def _join(self, join: Join, scope: Scope) -> Scope:
        words = self._words
        if "NATURAL" in join.words:
            raise words.source.error(join.span, "NATURAL JOIN is not translated", "Write USING (columns) or ON.")
        if join.condition and words.word(join.condition.first - 1) == "USING":
            names = {words[each.first].value for each in words.split(words.inside(join.condition.first))}
            return _merged(scope, names)
        self._condition(join.condition, scope, "ON")
        return scope

    def _condition(self, region: Region, scope: Scope, clause: str) -> None:
        if region:
            value = self._value(region, scope)
            if not is_family(value.type, "boolean"):
                span = self._words.span(region)
                raise self._words.source.error(
                    span, f"{clause} takes BOOLEAN, and this is {shown_type(value.type)}", "Write a comparison."
                )
            self.edits.replace(self._words.span(region), value.text)

    def _expression(self, region: Region, scope: Scope) -> None:
        if region:
            value = self._value(region, scope)
            self.edits.replace(self._words.span(region), value.text)

    def _items(self, block: Block, scope: Scope) -> tuple[Column, ...]:
        columns: list[Column] = []
        unnamed = 0
        for item in block.items:
            if is_star(self._words, item.expression.last - 1):
                columns += self._star(item, scope)
                continue
            value = self._value(item.expression, scope)
            span = self._words.span(item.expression)
            name = item.alias or self._own_name(item.expression)
            text = value.text
            if name is None:
                name = f"EXPR${unnamed}"
                text += f" AS {name_text(name)}"
            unnamed += 1
            self.edits.replace(span, text)
            columns.append(Column(name, value.type))
        return tuple(columns)

    def _own_name(self, region: Region) -> str | None:
        """The name of a column, or of a field behind a dot; None = the expression has none."""
        words = self._words
        is_field = region.last - region.first == 1 or words.symbol(region.last - 2) == "."
        return words[region.last - 1].value if is_field and words.is_name(region.last - 1) else None

    def _star(self, item: SelectItem, scope: Scope) -> tuple[Column, ...]:
        words, region = self._words, item.expression
        qualifier = None if region.last - region.first == 1 else words[region.last - 3].value
        try:
            return scope.columns(qualifier)
        except Refused as refusal:
            raise words.source.error(item.span, refusal.reason, refusal.hint) from None

    def _group_by(self, region: Region, scope: Scope) -> None:
        words = self._words
        for part in words.split(region):
            if not part:
                continue
            if words.word(part.first) in _GROUPINGS and words.symbol(part.first + 1) == "(":
                self._group_by(words.inside(part.first + 1), scope)
            elif words.matches(part.first, "GROUPING", "SETS"):
                self._group_by(words.inside(part.first + 2), scope)
            elif words.symbol(part.first) == "(" and words.after(part.first) == part.last:
                self._group_by(words.inside(part.first), scope)
            else:
                self._expression(part, scope)

    def _named_windows(self, region: Region, scope: Scope) -> None:
        words = self._words
        for part in words.split(region):
            opening = part.first + 2
            if words.symbol(opening) == "(":
                inside = words.inside(opening)
                if inside:
                    self.edits.replace(words.span(inside), self._expressions.window(inside, scope))

    def _tail(self, region: Region, scope: Scope) -> None:
        words = self._words
        if not region:
            return
        ends = [at for at in words.top_level(region) if words.word(at) in {"LIMIT", "OFFSET", "FETCH"}]
        if words.word(region.first - 1) == "BY":
            ordered = Region(region.first, min(ends, default=region.last))
            self.edits.replace(words.span(ordered), self._expressions.order(ordered, scope))
        begins = ends if words.word(region.first - 1) == "BY" else [region.first - 1, *ends]
        for at in begins:
            if words.word(at) == "FETCH":
                self._fetch(at, region)

    def _fetch(self, at: int, region: Region) -> None:
        """`FETCH FIRST 3 ROWS ONLY` is LIMIT 3."""
        words = self._words
        number = at + 2
        count = words[number].text if words[number].kind is TokenKind.NUMBER else "1"
        last = next((each + 1 for each in range(at, region.last) if words.word(each) == "ONLY"), region.last)
        self.edits.replace(words.span(Region(at, last)), f"LIMIT {count}")

    # What FROM names.

    def _item(self, item: FromItem, ctes: _Ctes, before: Scope) -> Source:
        columns = self._columns(item, ctes, before)
        names = self._alias_columns(item)
        return Source(item.alias, _renamed(columns, names))

    def _columns(self, item: FromItem, ctes: _Ctes, before: Scope) -> tuple[Column, ...]:
        if item.kind is SourceKind.TABLE:
            return self._table(item, ctes)
        if item.query is not None:
            return self.query(item.query, replace(ctes, outer=before) if item.is_lateral else ctes)
        if item.tvf is not None:
            return self._window(item, ctes, before)
        if item.kind is SourceKind.FUNCTION:
            return self._function(item, ctes, before)
        raise self._words.source.error(item.span, "this is not understood in FROM")

    def _table(self, item: FromItem, ctes: _Ctes) -> tuple[Column, ...]:
        found = ctes.known.get(item.name)
        if found is None:
            found = self._relations.columns(item.name)
        if found is None:
            raise self._words.source.error(
                item.source, f"there is no table or view '{item.name}'", "SHOW TABLES lists them."
            )
        return found

    def _window(self, item: FromItem, ctes: _Ctes, before: Scope) -> tuple[Column, ...]:
        assert item.tvf is not None
        columns = self._item(item.tvf.data, ctes, before).columns
        if item.kind is SourceKind.TVF:
            time = self._time_of(item, columns)
            return (*columns, *(Column(name, time) for name in ("window_start", "window_end", "window_time")))
        if item.kind is SourceKind.CHANGELOG:
            return (Column("op", STRING), *columns)
        return columns

    def _time_of(self, item: FromItem, columns: tuple[Column, ...]) -> SqlType:
        assert item.tvf is not None
        words = self._words
        for name, region in item.tvf.arguments:
            if name in {"", "TIMECOL"} and words.word(region.first) == "DESCRIPTOR":
                inside = words.inside(region.first + 1)
                path = tuple(words[at].value for at in inside if words.is_name(at))
                try:
                    return Scope((Source("", columns),)).type_of(path)
                except Refused as refusal:
                    raise words.source.error(words.span(inside), refusal.reason, refusal.hint) from None
        return TIMESTAMP

    def _function(self, item: FromItem, ctes: _Ctes, before: Scope) -> tuple[Column, ...]:
        words, region = self._words, item.region
        if words.word(region.first) == "VALUES":
            return self._values(Region(region.first + 1, region.last), ctes)
        if words.word(region.first) == "UNNEST":
            return self._unnest(item, before)
        raise words.source.error(
            item.span, "this function is not there in FROM", "UNNEST(array) is, and the window functions."
        )

    def _unnest(self, item: FromItem, before: Scope) -> tuple[Column, ...]:
        words, region = self._words, item.region
        inside = words.inside(region.first + 1)
        value = self._value(inside, before)
        kind = value.type
        name, columns = _unnested(kind)
        if not name:
            raise words.source.error(
                words.span(inside), f"UNNEST takes an ARRAY or MAP, and this is {shown_type(kind)}"
            )
        lateral = "" if item.is_lateral else "LATERAL "
        self.edits.replace(item.source, f"{lateral}{name}({value.text})")
        return columns

    def _alias_columns(self, item: FromItem) -> tuple[str, ...]:
        """The names in `AS t(a, b)`."""
        words = self._words
        if not item.has_alias:
            return ()
        inside = [
            at for at in words.all if item.source.end <= words[at].start < item.span.end and words.symbol(at) == "("
        ]
        named = [at for at in inside if words.is_name(at - 1) and words[at - 1].value == item.alias]
        if not named:
            return ()
        return tuple(words[each.first].value for each in words.split(words.inside(named[-1])))


class _DifferenceFinder(_QueryTranslator):
    """Goes on behind what the dialect does not have; types of such expressions are not known."""

    def _value(self, region: Region, scope: Scope) -> Value:
        try:
            return super()._value(region, scope)
        except SqlError:
            return Value(text=self._words.text(region), type=NULL)


def _unnested(kind: SqlType) -> tuple[str, tuple[Column, ...]]:
    if kind.root == "ARRAY":
        element = kind.arguments[0]
        if element.root == "ROW":
            return "inline", tuple(Column(each.name, each.type) for each in element.fields)
        return "explode", (Column("EXPR$0", element),)
    if kind.root == "MAP":
        return "explode", (Column("KEY", kind.arguments[0]), Column("VALUE", kind.arguments[1]))
    return "", ()


def _renamed(columns: tuple[Column, ...], names: tuple[str, ...]) -> tuple[Column, ...]:
    if len(names) != len(columns):
        return columns
    return tuple(Column(name, column.type) for name, column in zip(names, columns, strict=True))


def _merged(scope: Scope, names: set[str]) -> Scope:
    """USING: the columns of the right side are those of the left one."""
    *others, last = scope.sources
    rest = tuple(column for column in last.columns if column.name not in names)
    return replace(scope, sources=(*others, replace(last, columns=rest)))


def _is_alike(given: SqlType, wanted: SqlType) -> bool:
    return given.root == "NULL" or spark_type(given) == spark_type(wanted)


def _cast_text(value: Value, kind: SqlType) -> str:
    return value.text if _is_alike(value.type, kind) else f"CAST({value.text} AS {spark_type(kind)})"
