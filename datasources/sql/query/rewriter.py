"""Rewrites one text: walks its queries and lets the rules change each block.

How it works. A block whose columns must be known (it feeds one of our constructs) becomes a step: its rewritten text is
run at once, so that the next text can be rewritten with known columns and time properties. All other blocks stay in
span; only names and spellings change. CTEs are rewritten after the text that uses them, last one first: by then it is
known whether a step replaced them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from datasources.sql.query.block.block_context import BlockContext, CteEntry, QueryScope, own_alias
from datasources.sql.query.block.edits import Edits
from datasources.sql.query.block.relation import ROW_WATERMARK_COLUMN, Relation
from datasources.sql.query.block.set_operations import is_union_all, lost_by_set_operation
from datasources.sql.query.block.statement_planning import Planning, TimeProperties
from datasources.sql.query.scan.hints import is_state_ttl
from datasources.sql.text.query_tree import Block, FromItem, Opaque, Query, SourceKind, Term
from datasources.sql.text.quoting import name_text
from datasources.sql.text.word_cursor import Words


class Rewriter:
    """Rewrites the queries of one text."""

    def __init__(self, planning: Planning, words: Words, rules: Sequence[Callable[[BlockContext], None]]) -> None:
        self.planning = planning
        self.words = words
        self._rules = rules
        self.edits = Edits()

    def as_text(self, query: Query, scope: QueryScope) -> None:
        """Rewrite a query in place."""
        inner = _with_ctes(query, scope)
        for term in query.terms:
            self._term(term, inner)
        for nested in query.tail_nested:
            self.as_text(nested, inner)
        self._finish_ctes(inner)

    def as_step(self, query: Query, scope: QueryScope, shown: str = "") -> Relation:
        """Run a query as a step."""
        inner = _with_ctes(query, scope)
        inner.is_detached = True
        if query.operators:
            relation = self._set_operation(query, inner, shown)
        elif isinstance(query.terms[0], Block):
            relation = self._block_step(query, query.terms[0], inner, shown)
        elif isinstance(query.terms[0], Query) and not query.tail_nested:
            relation = self.as_step(query.terms[0], inner, shown)
        else:
            self._term(query.terms[0], inner)
            relation = self.planning.run(self._body(query), shown=shown)
        return relation

    def relation(self, item: FromItem, scope: QueryScope) -> Relation:
        """Return a FROM item as a relation."""
        if item.kind is SourceKind.TABLE:
            known = self.known_relation(item.name, scope)
            if known is not None:
                return known
        elif item.query is not None:
            return self.as_step(item.query, scope, self.words.source.of(item.source))
        return self.planning.run(f"SELECT * FROM {self.words.source.of(item.source)}")

    def known_relation(self, name: str, scope: QueryScope) -> Relation | None:
        """Return the relation of a CTE, a view or a table of ours; None for a name of Spark's."""
        entry = scope.find(name)
        if entry is not None:
            return self.cte_relation(entry)
        return self.named_relation(name)

    def named_relation(self, name: str) -> Relation | None:
        """Return the relation of a view or a table of ours."""
        key = name.lower()
        if key not in self.planning.survey.views:
            return self.planning.tables.get(key)
        if key not in self.planning.views:
            text = self.planning.survey.views[key]
            inside = Rewriter(self.planning, text.words, self._rules)
            relation = inside.as_step(text.query, QueryScope(), f"view {text.definition.name}")
            self.planning.views[key] = self._renamed(relation, text.definition.columns)
        return self.planning.views[key]

    def cte_relation(self, entry: CteEntry) -> Relation:
        """Return a CTE as a relation; its query is run once."""
        if entry.relation is None:
            relation = self.as_step(entry.cte.query, entry.scope, f"{entry.cte.name} AS (...)")
            entry.relation = self._renamed(relation, entry.cte.columns)
        return entry.relation

    def block(
        self, block: Block, scope: QueryScope, *, is_step: bool, drops_row_watermark: bool = False
    ) -> BlockContext:
        """Let every rule change a block; with `drops_row_watermark` its step does not carry the row watermark on."""
        context = BlockContext(
            rewriter=self, block=block, scope=scope, is_step=is_step, drops_row_watermark=drops_row_watermark
        )
        for rule in self._rules:
            rule(context)
        for at in block.hints:
            if is_state_ttl(self.words, self.words[at]):  # Spark cannot read it
                self.edits.replace(self.words[at].span, "")
        return context

    def _term(self, term: Term, scope: QueryScope) -> None:
        if isinstance(term, Block):
            self.block(term, scope, is_step=False)
        elif isinstance(term, Query):
            self.as_text(term, scope)
        else:
            self._opaque(term, scope)

    def _opaque(self, term: Opaque, scope: QueryScope) -> None:
        """`TABLE t`, `FROM t SELECT ...`, VALUES."""
        for item in term.sources:
            is_cte = scope.find(item.name) is not None and not scope.is_detached
            relation = None if is_cte or item.kind is not SourceKind.TABLE else self.known_relation(item.name, scope)
            if relation is None:
                continue
            if term.span.end == item.span.end and self.words.source.of(term.span).upper().startswith("TABLE"):
                self.edits.replace(term.span, select_all(relation))
            else:
                alias = "" if item.has_alias else f" AS {own_alias(self.words, item)}"
                self.edits.replace(item.source, relation.view + alias)
        for nested in term.nested:
            self.as_text(nested, scope)

    def _finish_ctes(self, scope: QueryScope) -> None:
        for entry in reversed(scope.entries.values()):
            if entry.relation is None:
                self.as_text(entry.cte.query, entry.scope)
            else:
                self.edits.replace(entry.cte.query.span, select_all(entry.relation))

    def _block_step(self, query: Query, block: Block, scope: QueryScope, shown: str) -> Relation:
        context = self.block(block, scope, is_step=True)
        return self.planning.run(self._body(query), context.time_properties, shown)

    def _set_operation(self, query: Query, scope: QueryScope, shown: str) -> Relation:
        relations: list[Relation] = []
        for term in query.terms:
            as_query = Query(span=term.span, body=term.span, ctes=(), terms=(term,))
            relations.append(self.as_step(as_query, scope))
        keeps_row_watermark = is_union_all(query) and all(relation.has_row_watermark for relation in relations)
        for term, relation in zip(query.terms, relations, strict=True):
            text = f"SELECT * FROM {relation.view}" if keeps_row_watermark else select_all(relation)
            self.edits.replace(term.span, text)
        lost = lost_by_set_operation(self.words.source, query, relations)
        return self.planning.run(self._body(query), TimeProperties(lost=lost), shown)

    def _body(self, query: Query) -> str:
        """The text of a query without its CTEs: a step names their views."""
        return self.edits.render(self.words.source.text, query.body)

    def _renamed(self, relation: Relation, columns: tuple[str, ...]) -> Relation:
        if not columns:
            return relation
        names = ", ".join(map(name_text, (*columns, *((ROW_WATERMARK_COLUMN,) if relation.has_row_watermark else ()))))
        return self.planning.run(f"SELECT * FROM {relation.view} AS renamed({names})")


def select_all(relation: Relation) -> str:
    """Return the query of all columns of a relation."""
    star = f"* EXCEPT ({ROW_WATERMARK_COLUMN})" if relation.has_row_watermark else "*"
    return f"SELECT {star} FROM {relation.view}"


def _with_ctes(query: Query, scope: QueryScope) -> QueryScope:
    inner = QueryScope(parent=scope, is_detached=scope.is_detached)
    for cte in query.ctes:
        defining = QueryScope(entries=dict(inner.entries), parent=scope, is_detached=scope.is_detached)
        inner.entries[cte.name.lower()] = CteEntry(cte, defining)
    return inner
