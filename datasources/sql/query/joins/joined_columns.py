"""The columns of a temporal join: one relation, whose columns the text keeps naming by both sides.

The relation has the probe's alias. A column of a build keeps its name unless another one has it too.

    r.rate    o.rate              r.k    o.__tidemark_r_k_1 AS k        *    o.id, o.k, o.__tidemark_r_k_1 AS k
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from datasources.grammar.lexer import TokenKind
from datasources.grammar.literals import quoted
from datasources.grammar.source_text import Span
from datasources.sql.query.block.block_context import BlockContext, output_name, own_alias
from datasources.sql.query.block.table_filter import all_of
from datasources.sql.text.calls import column_path, is_star
from datasources.sql.text.query_tree import Clause, FromItem, Region

_NO_NAME_BEHIND = frozenset({"AS", "TO"})
_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinSide:
    """A table of the join.

    ``names`` maps its columns to their names in the result.
    """

    alias: str
    names: dict[str, str]

    def column(self, name: str) -> str | None:
        """Return a column's own name, whatever the case."""
        return next((own for own in self.names if own.lower() == name.lower()), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A column that a text names: its side, its own name, and the length of its qualifier."""

    side: JoinSide
    name: str
    length: int

    @property
    def result(self) -> str:
        """Its name in the result."""
        return self.side.names[self.name]


class JoinedColumns:
    """The sides so far."""

    def __init__(self, context: BlockContext, probe: FromItem, names: Sequence[str]) -> None:
        self._context = context
        self._alias = own_alias(context.words, probe)
        self.sides = [JoinSide(alias=probe.alias, names={name: name for name in names})]

    def add(self, alias: str, names: Sequence[str]) -> JoinSide:
        """Return the side of a build, whose columns get names that no other one has."""
        used_names = {result.lower() for side in self.sides for result in side.names.values()}
        planning = self._context.planning
        side = JoinSide(
            alias=alias,
            names={
                name: planning.new_column(f"{alias}_{name}") if name.lower() in used_names else name for name in names
            },
        )
        self.sides.append(side)
        return side

    def keep(self, results: Collection[str]) -> None:
        """Remove columns that are not part of the result, such as a build's changelog columns."""
        for side in self.sides:
            for own in [own for own, result in side.names.items() if result not in results]:
                del side.names[own]

    def find(self, path: tuple[str, ...], span: Span) -> Found | None:
        """Return the column that a path names.

        Raises:
            SqlError: two tables of the join have one of this name.
        """
        for side in self.sides:
            name = side.column(path[1]) if len(path) > 1 and path[0].lower() == side.alias.lower() else None
            if name is not None:
                return Found(side=side, name=name, length=2)
        found = [Found(side=s, name=n, length=1) for s in self.sides if (n := s.column(path[0])) is not None]
        if len(found) > 1:
            written = " or ".join(f"{each.side.alias}.{each.name}" for each in found)
            raise self._context.error(span, f"'{path[0]}' may be a column of each", f"Write {written}.")
        return found[0] if found else None

    def condition(self, parts: Sequence[Region]) -> str | None:
        """Return conditions as Spark SQL over the result's names, None if there are none."""
        context = self._context
        for part in parts:
            for at, found in self._named(part):
                context.edits.replace(self._span(at, found), quoted(found.result))
        source = context.words.source
        texts = [context.edits.render(source.text, context.words.span(part)) for part in parts]
        return all_of(texts)

    def is_about_probe(self, region: Region) -> bool:
        """Whether all columns of the join in a region are the probe's."""
        return all(found.side is self.sides[0] for _at, found in self._named(region))

    def rename(self) -> None:
        """Let the block name the result's columns, whose FROM has the result instead of the joins."""
        context = self._context
        bare = {item.expression for item in context.block.items if item.alias is None}
        for region, known in self._regions():
            for at, found in self._named(region, known):
                if found.side is self.sides[0] or (found.length == 1 and found.name == found.result):
                    continue
                end = at + 2 * found.length - 1
                written = quoted(found.result)
                if found.name == found.result:
                    written = context.words[end - 1].text
                elif Region(at, end) in bare:
                    written += f" AS {quoted(found.name)}"
                context.edits.replace(self._span(at, found), f"{self._alias}.{written}")
        self._write_out_stars()

    def _regions(self) -> Iterator[tuple[Region, frozenset[str]]]:
        """The block's expressions, each with names that mean columns of its result: ORDER BY looks at those first."""
        block, words = self._context.block, self._context.words
        results = frozenset(name.lower() for item in block.items if (name := output_name(words, item)) is not None)
        yield from ((item.expression, _NOTHING) for item in block.items)
        for clause, region in block.clauses.items():
            if region and clause not in {Clause.SELECT, Clause.FROM}:
                yield region, results if clause is Clause.TAIL else _NOTHING
        yield from ((join.condition, _NOTHING) for join in block.joins if join.condition)

    def _named(self, region: Region, known: frozenset[str] = _NOTHING) -> Iterator[tuple[int, Found]]:
        """The columns of the join in a region, outside of queries in it, but for `known` names."""
        words, nested = self._context.words, [query.span for query in self._context.block.nested]
        at = region.first
        while at < region.last:
            token = words[at]
            is_inside = any(span.start <= token.start < span.end for span in nested)
            if is_inside or not words.is_name(at) or not self._may_be_column(at, region):
                at += 1
                continue
            end = at + 1
            while end + 1 < region.last and words.symbol(end) == "." and words.is_name(end + 1):
                end += 2
            path = column_path(words, Region(at, end))
            is_known = path is not None and len(path) == 1 and path[0].lower() in known
            found = None if path is None or is_known else self.find(path, words.span(Region(at, end)))
            if found is not None:
                yield at, found
            at = end

    def _may_be_column(self, at: int, region: Region) -> bool:
        """Whether a name may be a column's: no function, no type, no unit of an interval, no name of an argument."""
        words = self._context.words
        if words.symbol(at - 1) == "." or words.symbol(at + 1) in {"(", "=>"}:
            return False
        if words.symbol(at + 1) == ".":
            return True
        is_unit = words[at - 1].kind in {TokenKind.STRING, TokenKind.NUMBER} if at else False
        is_followed = at + 1 < region.last
        is_typed = is_followed and (words[at + 1].kind is TokenKind.STRING or words.word(at + 1) == "FROM")
        return not is_unit and not is_typed and words.word(at - 1) not in _NO_NAME_BEHIND

    def _span(self, at: int, found: Found) -> Span:
        return self._context.words.span(Region(at, at + 2 * found.length - 1))

    def _write_out_stars(self) -> None:
        """Replace stars that do not mean all columns of the relation by the columns, in order."""
        context = self._context
        words = context.words
        is_renamed = any(own != result for side in self.sides for own, result in side.names.items())
        for item in context.block.items:
            for at in item.expression:
                if not is_star(words, at):
                    continue
                qualifier = words[at - 2].value.lower() if words.symbol(at - 1) == "." else None
                sides = [side for side in self.sides if qualifier in {None, side.alias.lower()}]
                if not sides or (qualifier is None and not is_renamed):
                    continue
                if words.word(at + 1) in {"EXCEPT", "EXCLUDE", "REPLACE"}:
                    raise context.error(
                        words[at].span,
                        "a star of a temporal join takes no EXCEPT where both tables have columns of one name",
                        "Write the columns out.",
                    )
                others = context.block.sources[1:] if qualifier is None else ()
                columns = [self._written(own, result) for side in sides for own, result in side.names.items()]
                columns += [f"{own_alias(words, each)}.*" for each in others]
                first = at if qualifier is None else at - 2
                context.edits.replace(words.span(Region(first, at + 1)), ", ".join(columns))
                context.written_out.add(at)

    def _written(self, own: str, result: str) -> str:
        name = "" if own == result else f" AS {quoted(own)}"
        return f"{self._alias}.{quoted(result)}{name}"
