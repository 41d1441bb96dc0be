"""Parsing: text to a sqlglot tree in which every node knows its place. Used on the driver only.

Theory of operation. sqlglot's Spark dialect parses; nothing else of it is used. Its table of functions is
emptied, so that a call arrives as the name and the arguments that the user wrote, not as what sqlglot
believes the function to mean. The place of each operand is noted while it is parsed.

sqlglot's grammar is a superset of Spark's and groups a few unparenthesised mixtures in another way (chains of
comparisons, ``||`` next to ``+``). `_check_grouping` refuses those, so that a tree that passes has one reading.
The parser also hangs modifiers on nodes (NOT on LIKE, FILTER, formats): `_check_parts` refuses each that no rule
reads, so
nothing that a user wrote is ever passed over.
"""

from __future__ import annotations

from typing import ClassVar, Final

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.parsers.spark import SparkParser

from datasources.errors import ExpressionError
from datasources.expressions.compiler.expression_text import SourceText, TextSpan

_SPAN = "tidemark_span"
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ)
_PREDICATES = (exp.Is, exp.Between, exp.In, exp.Like, exp.ILike, exp.RegexpLike)
_LOGIC = (exp.And, exp.Or, exp.Not)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod)
_PARTS: Final[dict[type[exp.Expr], frozenset[str]]] = {
    **dict.fromkeys((exp.Paren, exp.Neg, exp.Not, exp.Null, exp.Boolean), frozenset({"this"})),
    **dict.fromkeys(
        (*_COMPARISONS, *_ARITHMETIC, exp.And, exp.Or, exp.Is, exp.Dot, exp.RegexpLike),
        frozenset({"this", "expression"}),
    ),
    exp.Column: frozenset({"this", "table", "db", "catalog"}),
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Literal: frozenset({"this", "is_string"}),
    exp.RawString: frozenset({"this"}),
    exp.Div: frozenset({"this", "expression", "typed", "safe"}),
    exp.DPipe: frozenset({"this", "expression", "safe"}),
    exp.Like: frozenset({"this", "expression", "negate"}),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.In: frozenset({"this", "expressions"}),
    exp.Case: frozenset({"this", "ifs", "default"}),
    exp.If: frozenset({"this", "true", "false"}),
    exp.Cast: frozenset({"this", "to"}),
    exp.TryCast: frozenset({"this", "to", "safe"}),
    exp.DataType: frozenset({"this", "expressions", "nested"}),
    exp.DataTypeParam: frozenset({"this"}),
    exp.Interval: frozenset({"this", "unit"}),
    exp.IntervalSpan: frozenset({"this", "expression"}),
    exp.Var: frozenset({"this"}),
    exp.Anonymous: frozenset({"this", "expressions"}),
}
"""Every class of node that a compiled tree may hold, with the parts that its rule reads."""

_PARENTHESES = "Write parentheses around the part that is meant to be evaluated first."


class _PlacingParser(SparkParser):
    FUNCTIONS: ClassVar = {}
    FUNCTION_PARSERS: ClassVar = {
        name: parser for name, parser in SparkParser.FUNCTION_PARSERS.items() if name in ("CAST", "TRY_CAST")
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {
        name: parser for name, parser in SparkParser.NO_PAREN_FUNCTION_PARSERS.items() if name in ("CASE", "IF")
    }

    def _parse_unary(self) -> exp.Expr | None:
        start = self._curr
        return self._positioned(super()._parse_unary(), start.start if start else 0)

    def _parse_lambda(self, alias: bool = False) -> exp.Expr | None:  # noqa: FBT001, FBT002 - the parser's
        start = self._curr
        return self._positioned(super()._parse_lambda(alias), start.start if start else 0)

    def _positioned(self, node: exp.Expr | None, start: int) -> exp.Expr | None:
        if node is not None and _SPAN not in node.meta:
            node.meta[_SPAN] = TextSpan(start, self._prev.end + 1)
        return node


class _PlacingSpark(Spark):
    Parser = _PlacingParser


def parse(source: SourceText) -> exp.Expr:
    """Return the syntax tree of the expression.

    Raises:
        ExpressionError: The text is empty, does not parse, or is not exactly one expression.
    """
    if not source.text.strip():
        raise ExpressionError(f"{source.purpose}: the expression is empty; give a column or an expression.")
    try:
        trees = _PlacingSpark().parse(source.text)
    except SqlglotError as error:
        raise _syntax_error(source, error) from error
    tree = trees[0] if len(trees) == 1 else None
    if tree is None or isinstance(tree, (exp.Query, exp.Command, exp.Alias)):
        raise source.refusal(source.whole, "this is not one expression", "Give exactly one Spark SQL expression.")
    _check_parts(source, tree)
    _check_grouping(source, tree)
    return tree


def span_of(source: SourceText, node: exp.Expr) -> TextSpan:
    """Return the place of a node: where it was parsed, or what its operands cover."""
    own = node.meta.get(_SPAN)
    if isinstance(own, TextSpan):
        return own
    if "start" in node.meta:
        return TextSpan(int(node.meta["start"]), int(node.meta["end"]) + 1)
    spans = [child.meta[_SPAN] for child in node.walk() if _SPAN in child.meta]
    if not spans:
        return source.whole
    result: TextSpan = spans[0]
    for span in spans[1:]:
        result = result.union(span)
    if isinstance(node, exp.In):
        closing = source.text.find(")", result.end_exclusive)
        result = result.union(TextSpan(closing, closing + 1)) if closing >= 0 else result
    return result


def _check_grouping(source: SourceText, tree: exp.Expr) -> None:
    """Refuse unparenthesised mixtures that Spark's grammar groups in another way, or not at all."""
    for node in tree.walk():
        if not isinstance(node, exp.Expr):
            continue
        for child in (value for value in node.args.values() if isinstance(value, exp.Expr)):
            if _is_ambiguous(node, child):
                raise source.refusal(
                    span_of(source, node), "Spark and this parser group the operators here differently", _PARENTHESES
                )


def _check_parts(source: SourceText, tree: exp.Expr) -> None:
    """Refuse a known node with a modifier that no rule reads; unknown nodes are the binder's to refuse."""
    for node in tree.walk():
        read = _PARTS.get(type(node))
        present = {name for name, value in node.args.items() if value not in (None, False, [])}
        if read is not None and not present <= read:
            extra = ", ".join(sorted(present - read))
            raise source.refusal(
                span_of(source, node), f"this form ({extra}) is not evaluated in the reader", "Leave the modifier out."
            )


def _is_ambiguous(node: exp.Expr, child: exp.Expr) -> bool:
    if isinstance(node, (*_COMPARISONS, *_PREDICATES, *_ARITHMETIC, exp.Neg, exp.DPipe)) and isinstance(
        child, (*_COMPARISONS, *_PREDICATES, *_LOGIC)
    ):
        return True
    if isinstance(node, exp.DPipe):
        return isinstance(child, (exp.Add, exp.Sub))
    return isinstance(node, (exp.Add, exp.Sub)) and isinstance(child, exp.DPipe)


def _syntax_error(source: SourceText, error: SqlglotError) -> ExpressionError:
    details = getattr(error, "errors", None) or [{}]
    first = details[0]
    start = _offset(source.text, first.get("line"), first.get("col"), first.get("highlight"))
    width = max(1, len(first.get("highlight") or ""))
    description = str(first.get("description") or "")
    if description.startswith("Required keyword"):
        description = "an operand is missing"
    return source.refusal(
        TextSpan(start, start + width),
        "the expression does not parse" + (f" ({description.rstrip('.').lower()})" if description else ""),
        "Correct the syntax at the mark; it is Spark SQL, as in `df.selectExpr(...)`.",
    )


def _offset(text: str, line: int | None, column: int | None, highlight: str | None) -> int:
    """Return the offset of the token that ends at a 1-based line and column; the end without them."""
    if line is None or column is None:
        return max(0, len(text.rstrip()) - 1)
    starts = [0, *(index + 1 for index, char in enumerate(text) if char == "\n")]
    line_start = starts[min(line, len(starts)) - 1]
    return max(line_start, line_start + column - max(1, len(highlight or "")))
