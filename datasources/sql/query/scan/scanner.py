"""Finds the blocks of a query and their clauses.

How it works. Brackets are paired, so a clause ends at the next clause word outside of brackets, and a query in an
expression begins where a bracket opens before SELECT or WITH. Unrecognized text is kept as a region and passed on;
Spark validates it.
"""

from __future__ import annotations

from datasources.grammar.lexer import TokenKind
from datasources.grammar.source_text import Span, SqlText
from datasources.sql.query.scan.from_scanner import FromScanner
from datasources.sql.query.scan.select_items import select_item
from datasources.sql.text.query_tree import Block, Clause, Cte, FromItem, Opaque, Query, Region, Term
from datasources.sql.text.word_cursor import Words

_SET_OPERATORS = frozenset({"UNION", "EXCEPT", "INTERSECT", "MINUS"})
_TERM_WORDS = frozenset({"SELECT", "VALUES", "TABLE", "FROM", "WITH"})
_TAIL_WORDS = frozenset({"ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "OFFSET", "FETCH"})
_BY = frozenset({"GROUP", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE"})
_CLAUSES = {
    "FROM": Clause.FROM,
    "WHERE": Clause.WHERE,
    "GROUP": Clause.GROUP_BY,
    "HAVING": Clause.HAVING,
    "QUALIFY": Clause.QUALIFY,
    "WINDOW": Clause.WINDOW,
    **dict.fromkeys(_TAIL_WORDS, Clause.TAIL),
}
_ORDER = tuple(Clause)


def scan(source: SqlText) -> tuple[Words, Query]:
    """Return the tokens of a query and its shape.

    Raises:
        SqlError: the text cannot be cut, or brackets do not pair.
    """
    words = Words.of(source)
    return words, Scanner(words).query(words.all)


class Scanner:
    """Recursive descent over regions of tokens."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def query(self, region: Region) -> Query:
        """Read a query: CTEs, terms between set operators, and what orders the whole."""
        words = self._words
        if not region:
            span = words[region.first].span
            raise words.source.error(span, "a query is missing here", "Write SELECT ... or remove the brackets.")
        at, ctes = region.first, tuple[Cte, ...]()
        if words.word(at) == "WITH":
            ctes, at = self._ctes(Region(at + 1, region.last))
        if at >= region.last:
            span = words[at - 1].span
            raise words.source.error(span, "a query is missing behind this", "Write SELECT ... behind the names.")
        cuts = [each for each in words.top_level(Region(at, region.last)) if self._is_set_operator(each)]
        terms: list[Term] = []
        operators: list[str] = []
        spans: list[Span] = []
        for number, first in enumerate([at, *cuts]):
            last = cuts[number] if number < len(cuts) else region.last
            begin = first
            if number:
                begin = self._after_operator(first)
                spans.append(words.span(Region(first, begin)))
                operators.append(" ".join(words.word(each) for each in range(first, begin)))
            terms.append(self._term(Region(begin, last)))
        return Query(
            span=words.span(region),
            body=words.span(Region(at, region.last)),
            ctes=ctes,
            terms=tuple(terms),
            operators=tuple(operators),
            operator_spans=tuple(spans),
            tail_nested=self._tail_queries(Region(begin, region.last)),
        )

    def is_query(self, region: Region) -> bool:
        """Whether the content of brackets is a query."""
        words = self._words
        if not region:
            return False
        if words.word(region.first) in {"SELECT", "WITH"}:
            return True
        if words.symbol(region.first) != "(" or not self.is_query(words.inside(region.first)):
            return False
        after = words.after(region.first)
        return after >= region.last or self._is_set_operator(after) or words.word(after) in _TAIL_WORDS

    def nested(self, region: Region) -> tuple[Query, ...]:
        """Return the queries in brackets inside an expression."""
        words = self._words
        found: list[Query] = []
        at = region.first
        while at < region.last:
            if words.symbol(at) == "(" and self.is_query(words.inside(at)):
                found.append(self.query(words.inside(at)))
                at = words.after(at)
            else:
                at += 1
        return tuple(found)

    def _ctes(self, region: Region) -> tuple[tuple[Cte, ...], int]:
        words = self._words
        at = region.first + (words.word(region.first) == "RECURSIVE")
        found: list[Cte] = []
        while words.is_name(at) and at < region.last:
            begin, name = at, words[at]
            at += 1
            columns = columns_span = None
            if words.symbol(at) == "(":
                columns, columns_span = words.inside(at), words.span(Region(at, words.after(at)))
                at = words.after(at)
            while words.word(at) in {"AS", "NOT", "MATERIALIZED", "MAX", "RECURSION", "LEVEL"} or (
                words[at].kind is TokenKind.NUMBER
            ):
                at += 1
            if words.symbol(at) != "(":
                raise words.source.error(
                    words.span(Region(begin, begin + 1)),
                    f"the query of '{name.value}' is missing",
                    "Write WITH name AS (SELECT ...).",
                )
            names = () if columns is None else tuple(words[each.first].value for each in words.split(columns) if each)
            found.append(
                Cte(
                    name=name.value,
                    name_span=name.span,
                    columns=names,
                    columns_span=columns_span or name.span,
                    query=self.query(words.inside(at)),
                )
            )
            at = words.after(at)
            if words.symbol(at) != ",":
                break
            at += 1
        return tuple(found), at

    def _is_set_operator(self, at: int) -> bool:
        """`* EXCEPT (a)` is none; a set operator precedes a query."""
        words = self._words
        if words.word(at) not in _SET_OPERATORS:
            return False
        at = self._after_operator(at)
        while words.symbol(at) == "(":
            at += 1
        return words.word(at) in _TERM_WORDS

    def _after_operator(self, at: int) -> int:
        words = self._words
        at += 1
        if words.word(at) in {"ALL", "DISTINCT"}:
            at += 1
        if words.matches(at, "BY", "NAME"):
            at += 2
        return at

    def _tail_queries(self, last_term: Region) -> tuple[Query, ...]:
        """Queries behind a last term in brackets: `(SELECT ...) ORDER BY (SELECT ...)`."""
        words = self._words
        if words.symbol(last_term.first) != "(":
            return ()
        return self.nested(Region(words.after(last_term.first), last_term.last))

    def _term(self, region: Region) -> Term:
        words = self._words
        if words.word(region.first) == "SELECT":
            return self._block(region)
        if words.symbol(region.first) == "(" and self.is_query(words.inside(region.first)):
            return self.query(words.inside(region.first))
        if not region:
            span = words[region.first].span
            raise words.source.error(span, "a query is missing here", "Write SELECT ... on both sides.")
        if words.word(region.first) == "FROM":
            return self._from_first(region)
        sources: tuple[FromItem, ...] = ()
        if words.word(region.first) == "TABLE" and words.is_name(region.first + 1):
            sources, _joins, _more = FromScanner(words, self).read(Region(region.first + 1, region.last))
        return Opaque(span=words.span(region), sources=sources, nested=self.nested(region))

    def _from_first(self, region: Region) -> Term:
        """Spark's `FROM t SELECT ...` and `FROM t |> ...`: only the names are of interest."""
        words = self._words
        ends = (at for at in words.top_level(region) if words.word(at) in {"SELECT", "WHERE", "INSERT"})
        last = next(ends, region.last)
        sources, _joins, _more = FromScanner(words, self).read(Region(region.first + 1, last))
        return Opaque(span=words.span(region), sources=sources, nested=self.nested(Region(last, region.last)))

    def _block(self, region: Region) -> Block:
        words = self._words
        clauses = self._clauses(region)
        listed = clauses[Clause.SELECT]
        is_distinct = words.word(listed.first) == "DISTINCT"
        if words.word(listed.first) in {"DISTINCT", "ALL"}:
            listed = Region(listed.first + 1, listed.last)
        items = tuple(select_item(words, each) for each in words.split(listed) if each)
        if not items:
            raise words.source.error(words[region.first].span, "SELECT lists no columns", "Name them, or write *.")
        sources, joins, has_more = FromScanner(words, self).read(clauses.get(Clause.FROM, Region(0, 0)))
        expressions = [each for clause, each in clauses.items() if clause is not Clause.FROM]
        expressions += [join.condition for join in joins]
        return Block(
            span=words.span(region),
            clauses=clauses,
            items=items,
            list_span=words.span(listed),
            is_distinct=is_distinct,
            sources=sources,
            joins=joins,
            has_more=has_more,
            nested=tuple(query for each in expressions for query in self.nested(each)),
            hints=tuple(range(region.first + 1, self._behind_hints(region))),
        )

    def _clauses(self, region: Region) -> dict[Clause, Region]:
        words = self._words
        first = self._behind_hints(region)
        starts = [(Clause.SELECT, first, first)]
        for at in words.top_level(Region(first, region.last)):
            clause = self._clause_at(at, starts[-1][0])
            if clause is not None:
                starts.append((clause, at, at + (2 if words.word(at) in _BY else 1)))
        ends = [begin for _clause, begin, _content in starts[1:]]
        return {
            clause: Region(content, last)
            for (clause, _begin, content), last in zip(starts, [*ends, region.last], strict=True)
        }

    def _behind_hints(self, region: Region) -> int:
        first = region.first + 1
        while self._words[first].kind is TokenKind.HINT:
            first += 1
        return first

    def _clause_at(self, at: int, current: Clause) -> Clause | None:
        words = self._words
        word = words.word(at)
        clause = _CLAUSES.get(word)
        if clause is None or _ORDER.index(clause) <= _ORDER.index(current):
            return None
        if word in _BY and words.word(at + 1) != "BY":
            return None
        if word == "FROM" and words.word(at - 1) == "DISTINCT" and words.word(at - 2) in {"IS", "NOT"}:
            return None
        if word == "WINDOW" and not (words.is_name(at + 1) and words.word(at + 2) == "AS"):
            return None
        if clause is Clause.TAIL and current is Clause.SELECT and not self._begins_tail(at):
            return None
        return clause

    def _begins_tail(self, at: int) -> bool:
        """In a SELECT without FROM, `limit` and `offset` may be aliases."""
        return self._words.word(at) in _BY or self._words[at + 1].kind is TokenKind.NUMBER
