"""Reads an expression of Flink SQL: operators by precedence, then the forms of `special_calls`.

Precedences are Calcite's, whose parser Flink uses: `a = b IS NULL` is `(a = b) IS NULL`, `||` binds as `*` does.
"""

from __future__ import annotations

from typing import Final

from datasources.grammar.lexer import TokenKind
from datasources.sql.flink.parse.literals import read_literal
from datasources.sql.flink.parse.special_calls import SPECIAL_CALLS
from datasources.sql.flink.parse.syntax import (
    Between,
    Binary,
    Call,
    Case,
    Field,
    In,
    Is,
    Like,
    Name,
    Node,
    OrderItem,
    Rows,
    SubQuery,
    Subscript,
    Unary,
    Window,
)
from datasources.sql.flink.parse.token_reader import TokenReader
from datasources.sql.query.scan.scanner import Scanner
from datasources.sql.text.query_tree import Query, Region

_COMPARISONS: Final = ("=", "<>", "!=", "<", "<=", ">", ">=")
_BINARY: Final = {
    **dict.fromkeys(_COMPARISONS, 30),
    "+": 40,
    "-": 40,
    "*": 60,
    "/": 60,
    "%": 60,
    "||": 60,
}
_OR, _AND, _NOT, _IS, _PREDICATE, _SIGN = 22, 24, 26, 28, 32, 80
_NILADIC: Final = frozenset(
    {"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "CURRENT_USER", "PI"}
)
_TESTS: Final = frozenset({"NULL", "TRUE", "FALSE", "UNKNOWN"})
_JSON_KINDS: Final = frozenset({"VALUE", "OBJECT", "ARRAY", "SCALAR"})
_RESERVED: Final = frozenset(
    {"AND", "OR", "THEN", "ELSE", "WHEN", "END", "FROM", "WHERE", "AS", "IN", "BETWEEN", "LIKE", "SIMILAR", "IS"}
    | {"GROUP", "ORDER", "HAVING", "SELECT", "UNION", "ON", "ESCAPE"}
)


class ExpressionParser(TokenReader):
    """Reads the expressions of one text."""

    def expression(self, region: Region) -> Node:
        """Read a region that is one expression.

        Raises:
            SqlError: it is none.
        """
        saved = self.at, self.last
        self.at, self.last = region.first, region.last
        node = self.operand(0)
        if self.at < self.last:
            raise self.unexpected("the end of the expression")
        self.at, self.last = saved
        return node

    def operand(self, precedence: int) -> Node:
        """Read what binds more strongly than a precedence."""
        left = self._prefix()
        while self.at < self.last:
            following = self._infix(left, precedence)
            if following is None:
                return left
            left = following
        return left

    def arguments(self) -> tuple[Node, ...]:
        """Read expressions between commas."""
        found = [self.operand(0)]
        while self.skip_symbol(","):
            found.append(self.operand(0))
        return tuple(found)

    def query(self) -> Query | None:
        """Return the query that the bracket at the cursor encloses, None if it is an expression; passes it."""
        if self.symbol() != "(":
            return None
        scanner, inside = Scanner(self.words), self.words.inside(self.at)
        if not scanner.is_query(inside):
            return None
        self.at = self.words.after(self.at)
        return scanner.query(inside)

    def order_items(self) -> tuple[OrderItem, ...]:
        """Read `a DESC NULLS LAST, b`."""
        found: list[OrderItem] = []
        while True:
            first = self.at
            operand = self.operand(0)
            suffix: list[str] = []
            while self.word() in {"ASC", "DESC", "NULLS", "FIRST", "LAST"}:
                suffix.append(self.word())
                self.at += 1
            found.append(OrderItem(region=self.since(first), operand=operand, suffix=" ".join(suffix)))
            if not self.skip_symbol(","):
                return tuple(found)

    def window(self, region: Region) -> Window:
        """Read what is between the brackets of OVER or of WINDOW w AS."""
        saved = self.at, self.last
        self.at, self.last = region.first, region.last
        name = ""
        if self.words.is_name(self.at) and self.word() not in {"PARTITION", "ORDER", "ROWS", "RANGE"} and region:
            name = self.words[self.at].value
            self.at += 1
        partition = self.arguments() if self.skip("PARTITION", "BY") else ()
        order = self.order_items() if self.skip("ORDER", "BY") else ()
        frame = ""
        if self.word() in {"ROWS", "RANGE"}:
            frame = self.words.text(Region(self.at, self.last))
            self.at = self.last
        if self.at < self.last:
            raise self.unexpected("the end of the window")
        self.at, self.last = saved
        return Window(region=region, name=name, partition=partition, order=order, frame=frame)

    # Operands.

    def _prefix(self) -> Node:
        first = self.at
        if self.at >= self.last:
            raise self.unexpected("an expression")
        if self.skip("NOT"):
            return Unary(operator="NOT", operand=self.operand(_NOT), region=self.since(first))
        if self.symbol() in {"-", "+"}:
            operator = self.symbol()
            self.at += 1
            return Unary(operator=operator, operand=self.operand(_SIGN), region=self.since(first))
        return self._postfix(self._atom(), first)

    def _postfix(self, node: Node, first: int) -> Node:
        while True:
            if self.symbol() == "[":
                inside = self.words.inside(self.at)
                index = self.expression(inside)
                self.at = self.words.after(self.at)
                node = Subscript(base=node, index=index, region=self.since(first))
            elif self.symbol() == "." and self.words.is_name(self.at + 1):
                name = self.words[self.at + 1].value
                self.at += 2
                node = Field(base=node, name=name, region=self.since(first))
            else:
                return node

    def _atom(self) -> Node:
        literal = read_literal(self)
        if literal is not None:
            return literal
        if self.symbol() == "(":
            return self._brackets()
        token = self.words[self.at]
        if token.kind is TokenKind.QUOTED or (token.kind is TokenKind.WORD and token.word not in _RESERVED):
            return self._word()
        raise self.unexpected("an expression")

    def _brackets(self) -> Node:
        first = self.at
        query = self.query()
        if query is not None:
            return SubQuery(kind="SCALAR", query=query, region=self.since(first))
        items = self._inside_brackets()
        if len(items) == 1:
            return items[0]
        return Rows(kind="ROW", items=items, region=self.since(first))

    def _inside_brackets(self) -> tuple[Node, ...]:
        inside, after = self.words.inside(self.at), self.words.after(self.at)
        saved = self.last
        self.at, self.last = inside.first, inside.last
        items = self.arguments() if inside else ()
        if self.at < self.last:
            raise self.unexpected("',' or ')'")
        self.at, self.last = after, saved
        return items

    def _word(self) -> Node:
        word = self.word()
        if word == "CASE":
            return self._case()
        made = self._constructor(word)
        if made is not None:
            return made
        if self.symbol(1) == "(":
            return self._call()
        first = self.at
        if word in _NILADIC:
            self.at += 1
            return Call(name=word, name_region=self.since(first), arguments=(), region=self.since(first))
        return self._name()

    def _constructor(self, word: str) -> Node | None:
        """ARRAY[...], MAP[...], ROW(...), and EXISTS (SELECT ...)."""
        first = self.at
        self.at += 1
        if (word in {"ARRAY", "MAP"} and self.symbol() == "[") or (word == "ROW" and self.symbol() == "("):
            return Rows(kind=word, items=self._inside_brackets(), region=self.since(first))
        if word in {"EXISTS", "ARRAY", "UNIQUE"}:
            query = self.query()
            if query is not None:
                return SubQuery(kind=word, query=query, region=self.since(first))
        self.at = first
        return None

    def _name(self) -> Node:
        first = self.at
        path = [self.words[self.at].value]
        self.at += 1
        while self.symbol() == "." and self.words.is_name(self.at + 1) and self.words.symbol(self.at + 2) != "(":
            path.append(self.words[self.at + 1].value)
            self.at += 2
        return Name(path=tuple(path), region=self.since(first))

    def _case(self) -> Node:
        first = self.at
        self.at += 1
        operand = None if self.word() == "WHEN" else self.operand(0)
        whens: list[tuple[Node, Node]] = []
        while self.skip("WHEN"):
            conditions = self.arguments()
            self.expect("THEN")
            result = self.operand(0)
            whens += [(each, result) for each in conditions]
        otherwise = self.operand(0) if self.skip("ELSE") else None
        if not whens:
            raise self.unexpected("WHEN")
        self.expect("END")
        return Case(operand=operand, whens=tuple(whens), otherwise=otherwise, region=self.since(first))

    def _call(self) -> Node:
        first = self.at
        name = self.words[self.at].value.upper()
        self.at += 1
        inside, after = self.words.inside(self.at), self.words.after(self.at)
        saved, name_region = self.last, self.since(first)
        self.at, self.last = inside.first, inside.last
        special = SPECIAL_CALLS.get(name)
        node = special(self, name_region) if special is not None and inside else self._plain_call(name, name_region)
        if self.at < self.last:
            raise self.unexpected("',' or ')'")
        self.at, self.last = after, saved
        return self._call_suffix(node, first)

    def _plain_call(self, name: str, name_region: Region) -> Call:
        region = Region(name_region.first, self.last + 1)
        if self.symbol() == "*" and self.at + 1 == self.last:
            self.at += 1
            return Call(name=name, name_region=name_region, arguments=(), is_star=True, region=region)
        is_distinct = self.skip("DISTINCT")
        if not is_distinct:
            self.skip("ALL")
        arguments = self.arguments() if self.at < self.last else ()
        return Call(name=name, name_region=name_region, arguments=arguments, is_distinct=is_distinct, region=region)

    def _call_suffix(self, node: Node, first: int) -> Node:
        if not isinstance(node, Call):
            return node
        changes: dict[str, object] = {}
        if self.word() in {"IGNORE", "RESPECT"} and self.word(1) == "NULLS":
            changes["nulls"] = f"{self.word()} NULLS"
            self.at += 2
        if self.word() == "WITHIN" and self.word(1) == "GROUP":
            self.at += 2
            inside = self.words.inside(self.at)
            after, saved = self.words.after(self.at), self.last
            self.at, self.last = inside.first, inside.last
            self.expect("ORDER", "BY")
            changes["order"] = self.order_items()
            self.at, self.last = after, saved
        if self.word() == "FILTER" and self.symbol(1) == "(":
            inside = self.words.inside(self.at + 1)
            if self.words.word(inside.first) != "WHERE":
                raise self.unexpected("FILTER (WHERE ...)")
            changes["condition"] = self.expression(Region(inside.first + 1, inside.last))
            self.at = self.words.after(self.at + 1)
        if self.skip("OVER"):
            changes["over"] = self._over()
        if not changes:
            return node
        return _changed(node, self.since(first), changes)

    def _over(self) -> Window:
        if self.symbol() == "(":
            window = self.window(self.words.inside(self.at))
            self.at = self.words.after(self.at)
            return window
        first = self.at
        name = self.words[self.at].value
        self.at += 1
        return Window(region=self.since(first), name=name, partition=(), order=(), frame="")

    # Operators behind an operand.

    def _infix(self, left: Node, precedence: int) -> Node | None:
        symbol, word = self.symbol(), self.word()
        strength = _BINARY.get(symbol, 0)
        if strength:
            return self._binary(left, symbol, strength) if strength > precedence else None
        if word in {"AND", "OR"}:
            strength = _AND if word == "AND" else _OR
            return self._binary(left, word, strength) if strength > precedence else None
        if word == "IS":
            return self._is(left) if precedence < _IS else None
        if word == "OVERLAPS":
            return self._binary(left, word, _PREDICATE) if precedence < _PREDICATE else None
        return self._predicate(left) if precedence < _PREDICATE else None

    def _binary(self, left: Node, operator: str, strength: int) -> Node:
        self.at += 1
        right = self.operand(strength)
        operator = "<>" if operator == "!=" else operator
        return Binary(operator=operator, left=left, right=right, region=self.since(left.region.first))

    def _is(self, left: Node) -> Node:
        first = left.region.first
        self.at += 1
        is_negated = self.skip("NOT")
        if self.skip("DISTINCT", "FROM"):
            right = self.operand(30)
            operator = "IS SAME" if is_negated else "IS DISTINCT"
            return Binary(operator=operator, left=left, right=right, region=self.since(first))
        test = self.word()
        if test in _TESTS:
            self.at += 1
        elif self.skip("JSON"):
            test = "JSON"
            if self.word() in _JSON_KINDS:
                test += f" {self.word()}"
                self.at += 1
        else:
            raise self.unexpected("NULL, TRUE, FALSE, UNKNOWN, JSON or DISTINCT FROM")
        return Is(operand=left, test=test, is_negated=is_negated, region=self.since(first))

    def _predicate(self, left: Node) -> Node | None:
        first, begin = left.region.first, self.at
        is_negated = self.skip("NOT")
        if self.skip("BETWEEN"):
            is_symmetric = self.skip("SYMMETRIC") or (self.skip("ASYMMETRIC") and False)
            low = self.operand(_PREDICATE)
            self.expect("AND")
            high = self.operand(_PREDICATE)
            return Between(
                operand=left,
                low=low,
                high=high,
                is_negated=is_negated,
                is_symmetric=is_symmetric,
                region=self.since(first),
            )
        if self.skip("IN"):
            query = self.query()
            items = () if query is not None else self._inside_brackets()
            return In(operand=left, items=items, query=query, is_negated=is_negated, region=self.since(first))
        is_similar = self.word() == "SIMILAR" and self.word(1) == "TO"
        if is_similar or self.word() == "LIKE":
            self.at += 2 if is_similar else 1
            pattern = self.operand(_PREDICATE)
            escape = self.operand(_PREDICATE) if self.skip("ESCAPE") else None
            return Like(
                operand=left,
                pattern=pattern,
                escape=escape,
                is_similar=is_similar,
                is_negated=is_negated,
                region=self.since(first),
            )
        self.at = begin
        return None


def _changed(call: Call, region: Region, changes: dict[str, object]) -> Call:
    values = {name: getattr(call, name) for name in Call.__dataclass_fields__}
    return Call(**{**values, **changes, "region": region})
