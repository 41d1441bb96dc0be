"""Turns an expression of Flink SQL into Spark SQL with Flink's result; each kind of node has a method.

Types are found from the bottom up, as Flink's validator finds them: the columns' types are known, each operator and
function has a rule. Where Spark means the same, the text stays as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Final, Protocol

from datasources.errors import SqlError
from datasources.grammar.source_text import Span
from datasources.grammar.sql_types import SqlType
from datasources.near_matches import near_matches
from datasources.sql.flink.casts import cast, coerced
from datasources.sql.flink.functions.aggregates import AGGREGATES
from datasources.sql.flink.functions.function_table import FUNCTIONS, NOT_THERE
from datasources.sql.flink.functions.signature import call_function
from datasources.sql.flink.logical_types import BOOLEAN, LTZ, STRING, array_of, common_type, is_family, map_of, row_of
from datasources.sql.flink.operators import (
    arithmetic,
    compare,
    concatenated,
    decimal_literal,
    digits_of,
    joined,
    negated,
    negative,
    negative_literal,
)
from datasources.sql.flink.parse.expression_parser import ExpressionParser
from datasources.sql.flink.parse.syntax import (
    Between,
    Binary,
    Call,
    Case,
    Cast,
    Field,
    In,
    Is,
    Like,
    Literal,
    Name,
    Node,
    OrderItem,
    Rows,
    SubQuery,
    Subscript,
    Unary,
    Window,
)
from datasources.sql.flink.patterns import like, similar
from datasources.sql.flink.scope import Column, Scope
from datasources.sql.flink.typed_value import ADDITIVE, AND, ATOM, PREDICATE, Refused, Value, shown_type, text_literal
from datasources.sql.text.query_tree import Query, Region
from datasources.sql.text.quoting import name_text
from datasources.sql.text.word_cursor import Words

GROUP_WINDOWS: Final = frozenset({"TUMBLE", "HOP", "SESSION", "CUMULATE"})
_OF_WINDOWS: Final = {
    f"{window}_{end}": end for window in ("TUMBLE", "HOP", "SESSION") for end in ("START", "END", "ROWTIME", "PROCTIME")
}
_AS_WRITTEN: Final = frozenset({"CURRENT_WATERMARK", "SYSTEM_ROWTIME", "SYSTEM_WATERMARK", "SOURCE_WATERMARK"})
"""Functions that later rewrites understand, and whose result is a timestamp."""
_MAX_BIGINT: Final = 2**63 - 1
_SIMPLE_INTERVAL: Final = re.compile(
    r"INTERVAL\s+'-?[0-9]+'\s+(?:YEAR|MONTH|DAY|HOUR|MINUTE|SECOND)|INTERVAL\s+'-?[0-9]+\.[0-9]{1,3}'\s+SECOND",
    re.IGNORECASE,
)
_COMPARISONS: Final = frozenset({"=", "<>", "<", "<=", ">", ">=", "IS DISTINCT", "IS SAME"})


@dataclass(frozen=True, slots=True)
class Difference:
    """An expression that means something else in Spark's dialect; `meaning` is a clause."""

    span: Span
    meaning: str


class NestedQueries(Protocol):
    """What translates queries inside of expressions."""

    def nested(self, query: Query, scope: Scope) -> tuple[str, tuple[Column, ...]]:
        """Return a query's text and columns; `scope` is that of the query around it."""
        ...


class ExpressionTranslator:
    """Translates the expressions of one text.

    Args:
        words: the text.
        queries: for queries in expressions; None = there are none.
        functions: Python functions of the session, lower case, with the types of their results.
    """

    def __init__(
        self, words: Words, queries: NestedQueries | None = None, functions: Mapping[str, SqlType] | None = None
    ) -> None:
        self._words = words
        self._queries = queries
        self._functions = functions or {}
        self._parser = ExpressionParser(words)
        self.differences: list[Difference] = []
        """What the expressions would mean in Spark's dialect, where that is something else."""
        self._rules: dict[type[Node], Callable[[Any, Scope], Value]] = {
            Between: self._between,
            Binary: self._binary,
            Call: self._call,
            Case: self._case,
            Cast: self._cast,
            Field: self._field,
            In: self._in,
            Is: self._is,
            Like: self._like,
            Literal: self._literal,
            Name: self._name,
            Rows: self._rows,
            Subscript: self._subscript,
            SubQuery: self._sub_query,
            Unary: self._unary,
        }

    def value(self, region: Region, scope: Scope) -> Value:
        """Return the expression of a region.

        Raises:
            SqlError: it is malformed, or has no meaning.
        """
        return self.of(self._parser.expression(region), scope)

    def node(self, region: Region) -> Node:
        """Return the tree of an expression."""
        return self._parser.expression(region)

    def of(self, node: Node, scope: Scope) -> Value:
        """Return a node's value."""
        with self._located(node):
            found = self._rules[type(node)](node, scope)
            if found.type.root == "TIME":
                raise Refused("Spark has no values of the type TIME here", "Use a TIMESTAMP, or text.")
            return replace(found, span=self._words.span(node.region))

    def order(self, region: Region, scope: Scope) -> str:
        """Return the terms of ORDER BY."""
        parser = self._parser
        parser.at, parser.last = region.first, region.last
        items = parser.order_items()
        if parser.at < region.last:
            raise parser.unexpected("','")
        return ", ".join(self._ordered(each, scope) for each in items)

    def window(self, region: Region, scope: Scope) -> str:
        """Return what is between the brackets of `WINDOW w AS (...)`."""
        return self._window_text(self._parser.window(region), scope)

    @contextmanager
    def _located(self, node: Node) -> Iterator[None]:
        try:
            yield
        except Refused as refusal:
            raise self._words.source.error(self._words.span(node.region), refusal.reason, refusal.hint) from None

    def _differs(self, node: Node, meaning: str) -> None:
        self.differences.append(Difference(self._words.span(node.region), meaning))

    # One method for each kind of node.

    def _literal(self, node: Literal, scope: Scope) -> Value:  # noqa: ARG002 - rules are called alike
        text = self._words.text(node.region)
        if node.type.root in _LITERALS:
            text = _LITERALS[node.type.root](text, node)
        return Value(text=text, type=node.type, constant=node.value)

    def _name(self, node: Name, scope: Scope) -> Value:
        return Value(text=self._words.text(node.region), type=scope.type_of(node.path))

    def _field(self, node: Field, scope: Scope) -> Value:
        base = self.of(node.base, scope)
        found = next((each.type for each in base.type.fields if each.name == node.name), None)
        if found is None:
            raise Refused(f"{shown_type(base.type)} has no field '{node.name}'")
        return _with(base, f"{base.inside(ATOM)}.{name_text(node.name)}", found)

    def _subscript(self, node: Subscript, scope: Scope) -> Value:
        base, index = self.of(node.base, scope), self.of(node.index, scope)
        if base.type.root == "MAP":
            key = coerced(index, base.type.arguments[0])
            return _with(base, f"{base.inside(ATOM)}[{key.text}]", base.type.arguments[1])
        if base.type.root == "ROW" and index.constant is not None:
            return self._field_at(base, index)
        if base.type.root != "ARRAY" or not is_family(index.type, "integer"):
            raise Refused(f"{shown_type(base.type)} has no element [{shown_type(index.type)}]")
        self._differs(node, "the elements of an array count from 0 in Spark's dialect, from 1 in Flink's")
        if index.type.root == "NULL":
            raise Refused("an element has a number, and NULL is none")
        if index.constant is not None:
            if int(index.constant) < 1:
                raise Refused("the elements of an array are counted from 1")
            return _with(base, f"get({base.text}, {int(index.constant) - 1})", base.type.arguments[0])
        return _with(base, f"get({base.text}, {index.inside(ADDITIVE)} - 1)", base.type.arguments[0])

    def _field_at(self, base: Value, index: Value) -> Value:
        """The field of a row that a number or a name stands for."""
        fields, key = base.type.fields, index.constant
        is_number = is_family(index.type, "integer")
        found = next((each for at, each in enumerate(fields, 1) if key == (str(at) if is_number else each.name)), None)
        if found is None:
            raise Refused(f"{shown_type(base.type)} has no field [{key}]")
        return _with(base, f"{base.inside(ATOM)}.{name_text(found.name)}", found.type)

    def _unary(self, node: Unary, scope: Scope) -> Value:
        operand = node.operand
        if node.operator == "-" and isinstance(operand, Literal) and _is_number(operand):
            return negative_literal(operand.value)
        value = self.of(operand, scope)
        if node.operator == "NOT":
            return negated(value)
        return negative(value) if node.operator == "-" else value

    def _binary(self, node: Binary, scope: Scope) -> Value:
        if node.operator == "OVERLAPS":
            return self._overlaps(node, scope)
        if node.operator in {"=", "<>"} and _are_rows(node.left, node.right):
            return self._same_rows(node, scope)
        left, right = self.of(node.left, scope), self.of(node.right, scope)
        if node.operator in {"AND", "OR"}:
            return joined(node.operator, left, right)
        if node.operator in _COMPARISONS:
            return compare(node.operator, left, right)
        if node.operator == "/" and all(is_integer(each) for each in (left, right)):
            self._differs(node, "whole numbers divide to a fraction in Spark's dialect, to a whole number in Flink's")
        return concatenated(left, right) if node.operator == "||" else arithmetic(node.operator, left, right)

    def _same_rows(self, node: Binary, scope: Scope) -> Value:
        """Rows are compared field by field: NULL in one of them leaves it open."""
        assert isinstance(node.left, Rows)
        assert isinstance(node.right, Rows)
        pairs = zip(node.left.items, node.right.items, strict=True)
        tests = [compare("=", self.of(one, scope), self.of(other, scope)) for one, other in pairs]
        found = reduce(partial(joined, "AND"), tests)
        return negated(found) if node.operator == "<>" else found

    def _overlaps(self, node: Binary, scope: Scope) -> Value:
        spans: list[tuple[str, str]] = []
        for side in (node.left, node.right):
            if not isinstance(side, Rows) or len(side.items) != 2:  # noqa: PLR2004 - begin and end
                raise Refused("OVERLAPS compares two pairs: (begin, end) OVERLAPS (begin, end)")
            begin, end = (self.of(each, scope) for each in side.items)
            if is_family(end.type, "interval"):
                end = arithmetic("+", begin, end)
            # The way that Calcite orders them: with a NULL, which least() would pass over, the answer is open or FALSE.
            first, last = begin.inside(ADDITIVE), end.inside(ADDITIVE)
            is_ordered = f"{first} <= {last}"
            spans.append((f"if({is_ordered}, {first}, {last})", f"if({is_ordered}, {last}, {first})"))
        (first, last), (other_first, other_last) = spans
        return Value(text=f"{last} >= {other_first} AND {other_last} >= {first}", type=BOOLEAN, level=AND)

    def _is(self, node: Is, scope: Scope) -> Value:
        value = self.of(node.operand, scope)
        words = f"IS {'NOT ' if node.is_negated else ''}"
        if node.test.startswith("JSON"):
            call = Call(name="IS " + node.test, name_region=node.region, arguments=(node.operand,), region=node.region)
            found = self._function(call, scope)
            return negated(found) if node.is_negated else found
        if node.test != "NULL" and not is_family(value.type, "boolean"):
            raise Refused(f"IS {node.test} takes BOOLEAN, and this is {shown_type(value.type)}")
        return _with(value, f"{value.inside(ADDITIVE)} {words}{node.test}", BOOLEAN, PREDICATE)

    def _between(self, node: Between, scope: Scope) -> Value:
        value, low, high = (self.of(each, scope) for each in (node.operand, node.low, node.high))
        tests = [compare(">=", value, low), compare("<=", value, high)]
        if all(each.level == PREDICATE for each in tests) and not node.is_symmetric and _is_as_written(tests, value):
            low_text, high_text = tests[0].text.partition(" >= ")[2], tests[1].text.partition(" <= ")[2]
            word = "NOT BETWEEN" if node.is_negated else "BETWEEN"
            return _with(value, f"{value.inside(ADDITIVE)} {word} {low_text} AND {high_text}", BOOLEAN, PREDICATE)
        found = joined("AND", *tests)
        if node.is_symmetric:
            found = joined("OR", found, joined("AND", compare(">=", value, high), compare("<=", value, low)))
        return negated(found) if node.is_negated else found

    def _in(self, node: In, scope: Scope) -> Value:
        word = "NOT IN" if node.is_negated else "IN"
        if node.query is not None:
            value = self.of(node.operand, scope)
            text, columns = self._nested(node.query, scope)
            if len(columns) == 1 and columns[0].type.root != value.type.root:
                kind = common_type((columns[0].type, value.type))
                if kind is None:
                    compare("=", value, Value(text="", type=columns[0].type))
                else:
                    value = coerced(value, kind)
            return _with(value, f"{value.inside(ADDITIVE)} {word} ({text})", BOOLEAN, PREDICATE)
        if all(_are_rows(node.operand, each) for each in node.items):
            pairs = [Binary(operator="=", left=node.operand, right=each, region=node.region) for each in node.items]
            found = reduce(partial(joined, "OR"), [self._same_rows(each, scope) for each in pairs])
            return negated(found) if node.is_negated else found
        value = self.of(node.operand, scope)
        items = [_in_type_of(value, self.of(each, scope)) for each in node.items]
        kind = common_type(each.type for each in (value, *items))
        if kind is not None and not is_family(kind, "approximate"):
            texts = ", ".join(digits_of(each).text for each in items)
            return _with(value, f"{value.inside(ADDITIVE)} {word} ({texts})", BOOLEAN, PREDICATE)
        found = compare("=", value, items[0])
        for each in items[1:]:
            found = joined("OR", found, compare("=", value, each))
        return negated(found) if node.is_negated else found

    def _like(self, node: Like, scope: Scope) -> Value:
        value, pattern = self.of(node.operand, scope), self.of(node.pattern, scope)
        escape = None if node.escape is None else self.of(node.escape, scope)
        if escape is None and "\\" in (pattern.constant or ""):
            self._differs(node, "a backslash in a pattern escapes in Spark's dialect, and is a character in Flink's")
        found = (similar if node.is_similar else like)(value, pattern, escape)
        return negated(found) if node.is_negated else found

    def _case(self, node: Case, scope: Scope) -> Value:
        operand = None if node.operand is None else self.of(node.operand, scope)
        conditions, results = [], []
        for when, then in node.whens:
            found = self.of(when, scope)
            conditions.append(found if operand is None else compare("=", operand, found))
            results.append(self.of(then, scope))
        otherwise = None if node.otherwise is None else self.of(node.otherwise, scope)
        kind = common_type(each.type for each in (*results, *([] if otherwise is None else [otherwise])))
        if kind is None:
            raise Refused("the results of CASE have no type in common", "CAST them to one type.")
        for each in conditions:
            if not is_family(each.type, "boolean"):
                raise Refused(f"WHEN takes BOOLEAN, and this is {shown_type(each.type)}")
        branches = " ".join(
            f"WHEN {coerced(condition, BOOLEAN).text} THEN {_as(result, kind).text}"
            for condition, result in zip(conditions, results, strict=True)
        )
        last = "" if otherwise is None else f" ELSE {_as(otherwise, kind).text}"
        every = (*conditions, *results, *([] if otherwise is None else [otherwise]))
        return Value(text=f"CASE {branches}{last} END", type=kind, is_aggregate=any(v.is_aggregate for v in every))

    def _cast(self, node: Cast, scope: Scope) -> Value:
        value = self.of(node.operand, scope)
        if node.type.root in {"CHAR", "VARCHAR"}:
            self._cast_to_text(node, value)
        return cast(value, node.type, is_try=node.is_try)

    def _cast_to_text(self, node: Cast, value: Value) -> None:
        if node.type != STRING:
            self._differs(node, f"{shown_type(node.type)} is text of any length in Spark's dialect")
        elif is_family(value.type, "boolean") and value.type.root != "NULL":
            self._differs(node, "a BOOLEAN is 'true' or 'false' in Spark's dialect, 'TRUE' or 'FALSE' in Flink's")

    def _rows(self, node: Rows, scope: Scope) -> Value:
        values = [self.of(each, scope) for each in node.items]
        if node.kind == "ROW":
            if any(each.type.root == "NULL" for each in values):
                raise Refused("NULL as a field of a row has no type", "CAST it to one.")
            names = [f"EXPR${at}" for at in range(len(values))]
            text = ", ".join(f"'{name}', {value.text}" for name, value in zip(names, values, strict=True))
            kind = row_of(zip(names, (each.type for each in values), strict=True))
            return _collected(values, f"named_struct({text})", kind)
        if node.kind == "ARRAY":
            element = _common_of(values, "the elements of an array")
            texts = ", ".join(_as(each, element).text for each in values)
            return _collected(values, f"array({texts})", array_of(element))
        if len(values) % 2:
            raise Refused("a key of the map has no value", "Write MAP['key', value, ...].")
        key, value = _common_of(values[::2], "the keys of a map"), _common_of(values[1::2], "the values of a map")
        pairs = _last_of_each(zip(values[::2], values[1::2], strict=True))
        texts = ", ".join(f"{_as(one, key).text}, {_as(other, value).text}" for one, other in pairs)
        return _collected(values, f"map({texts})", map_of(key, value))

    def _sub_query(self, node: SubQuery, scope: Scope) -> Value:
        text, columns = self._nested(node.query, scope)
        if node.kind == "EXISTS":
            return Value(text=f"EXISTS ({text})", type=BOOLEAN)
        if node.kind != "SCALAR":
            raise Refused(f"{node.kind} of a query is not there", "Use ARRAY_AGG in a query with GROUP BY.")
        if len(columns) != 1:
            raise Refused(f"a query in an expression has one column, and this one has {len(columns)}")
        return Value(text=f"({text})", type=columns[0].type)

    def _nested(self, query: Query, scope: Scope) -> tuple[str, tuple[Column, ...]]:
        if self._queries is None:
            raise Refused("a query cannot be here")
        return self._queries.nested(query, scope)

    # Calls.

    def _call(self, node: Call, scope: Scope) -> Value:
        if node.name in GROUP_WINDOWS or node.name in _OF_WINDOWS or node.name in _AS_WRITTEN:
            return self._as_written(node, scope)
        if node.name in AGGREGATES:
            return self._aggregate(node, scope)
        if node.over is not None or node.condition is not None or node.is_distinct or node.is_star:
            raise self._unknown(node)
        return self._function(node, scope)

    def _as_written(self, node: Call, scope: Scope) -> Value:
        first = self.of(node.arguments[0], scope) if node.arguments else None
        kind = first.type if first is not None and is_family(first.type, "timestamp") else LTZ
        return Value(text=self._words.text(node.region), type=kind)

    def _function(self, node: Call, scope: Scope) -> Value:
        arguments = [self.of(each, scope) for each in node.arguments]
        own = self._functions.get(node.name.lower())
        if own is not None:
            name = self._words.text(node.name_region)
            return Value(text=f"{name}({', '.join(each.text for each in arguments)})", type=own)
        known = FUNCTIONS.get(node.name)
        if known is None:
            raise self._unknown(node)
        if known.differs:
            self._differs(node, f"{node.name}: {known.differs}")
        return call_function(known, node, arguments)

    def _unknown(self, node: Call) -> SqlError:
        span = self._words.span(node.name_region)
        refused = NOT_THERE.get(node.name)
        if refused is not None:
            return self._words.source.error(span, f"{node.name} of Flink is not there", refused.hint)
        names = (*FUNCTIONS, *AGGREGATES, *(each.upper() for each in self._functions))
        hint = near_matches(node.name, names).strip() or "docs/flink-functions.md lists those that are there."
        return self._words.source.error(span, f"there is no function {node.name} in the dialect 'flink'", hint)

    def _aggregate(self, node: Call, scope: Scope) -> Value:
        known = AGGREGATES[node.name]
        if known.is_window_only and node.over is None:
            raise Refused(f"{node.name} needs a window", f"Write {node.name}() OVER (PARTITION BY ... ORDER BY ...).")
        arguments = [] if node.is_star else [self.of(each, scope) for each in node.arguments]
        is_alike = node.nulls or (known.differs_of_integers and not all(map(is_integer, arguments)))
        if known.differs and not is_alike:
            self._differs(node, f"{node.name}: {known.differs}")
        suffix = self._suffix(node, scope)

        def call(spark: str, *texts: str) -> str:
            inside = ", ".join(texts) if texts or not node.is_star else "*"
            return f"{spark}({'DISTINCT ' if node.is_distinct else ''}{inside}){suffix}"

        found = known.rule(arguments, call)
        return replace(found, is_aggregate=node.over is None or any(each.is_aggregate for each in arguments))

    def _suffix(self, node: Call, scope: Scope) -> str:
        text = "" if node.condition is None else f" FILTER (WHERE {self.of(node.condition, scope).text})"
        nulls = node.nulls or AGGREGATES[node.name].nulls
        text += f" {nulls}" if nulls else ""
        if node.over is None:
            return text
        is_named = bool(node.over.name) and not node.over.partition and not node.over.order and not node.over.frame
        inside = name_text(node.over.name) if is_named else f"({self._window_text(node.over, scope)})"
        return f"{text} OVER {inside}"

    def _window_text(self, window: Window, scope: Scope) -> str:
        found = [name_text(window.name)] if window.name else []
        if window.partition:
            found.append("PARTITION BY " + ", ".join(self.of(each, scope).text for each in window.partition))
        if window.order:
            found.append("ORDER BY " + ", ".join(self._ordered(each, scope) for each in window.order))
        if window.frame:
            found.append(window.frame)
        return " ".join(found)

    def _ordered(self, item: OrderItem, scope: Scope) -> str:
        return f"{self.of(item.operand, scope).text} {item.suffix}".rstrip()


def _are_rows(left: Node, right: Node) -> bool:
    sides = (left, right)
    rows = [each for each in sides if isinstance(each, Rows) and each.kind == "ROW"]
    return len(rows) == len(sides) and len(rows[0].items) == len(rows[1].items)


def _number_text(text: str, node: Literal) -> str:
    if node.type.root == "DECIMAL":
        return decimal_literal(node.value, node.type)
    if int(node.value.rstrip(".")) > _MAX_BIGINT:
        raise Refused("the number is out of the range of BIGINT")
    return text.rstrip(".")


def _in_type_of(value: Value, item: Value) -> Value:
    """Return a constant of IN under the type of the value, as Flink's planner has it."""
    is_decimal = item.constant is not None and item.type.root == "DECIMAL"
    if not is_decimal or value.constant is not None or value.type.root not in {"FLOAT", "INT"}:
        return item
    return cast(item, value.type)


def _interval_text(text: str, node: Literal) -> str:
    """As it was written, where Spark reads the same of it."""
    if _SIMPLE_INTERVAL.fullmatch(text):
        return text
    sign, size = "-" if node.value.startswith("-") else "", abs(int(node.value))
    if is_family(node.type, "months"):
        return f"INTERVAL '{sign}{size}' MONTH"
    (seconds, millis), minutes = divmod(size, 1000), size // 60_000
    clock = f"{minutes // 60 % 24:02d}:{minutes % 60:02d}:{seconds % 60:02d}.{millis:03d}"
    return f"INTERVAL '{sign}{minutes // 1440} {clock}' DAY TO SECOND"


def _character_text(text: str, node: Literal) -> str:
    return text_literal(node.value) if "\\" in text else text


def _boolean_text(text: str, node: Literal) -> str:
    return "CAST(NULL AS BOOLEAN)" if node.value == "NULL" else text


def _timestamp_text(text: str, node: Literal) -> str:
    quoted = text[text.index("'") :]
    # Flink reads the text of a moment in UTC.
    return f"TIMESTAMP_NTZ {quoted}" if node.type.root == "TIMESTAMP" else f"TIMESTAMP_LTZ {quoted[:-1]} UTC'"


_LITERALS: Final[Mapping[str, Callable[[str, Literal], str]]] = {
    "BOOLEAN": _boolean_text,
    "INT": _number_text,
    "BIGINT": _number_text,
    "DECIMAL": _number_text,
    "INTERVAL": _interval_text,
    "CHAR": _character_text,
    "TIMESTAMP": _timestamp_text,
    "TIMESTAMP_LTZ": _timestamp_text,
}
"""How a literal is written in Spark SQL, by its type; others as they are."""


def _is_number(literal: Literal) -> bool:
    """Whether a literal is a number; the word NULL is of every family."""
    return literal.type.root != "NULL" and is_family(literal.type, "numeric")


def is_integer(value: Value) -> bool:
    """Return whether a value is a whole number, and not the word NULL."""
    return value.type.root != "NULL" and is_family(value.type, "integer")


def _with(value: Value, text: str, kind: SqlType, level: int = ATOM) -> Value:
    return Value(text=text, type=kind, level=level, depth=value.depth, is_aggregate=value.is_aggregate)


def _as(value: Value, kind: SqlType) -> Value:
    """Return a value as one of several that have a type in common; Spark finds the common type of NULL itself."""
    if value.type.root == "NULL" or (value.type.root == kind.root == "VARCHAR"):
        return value
    return coerced(value, kind)


def _common_of(values: list[Value], what: str) -> SqlType:
    kind = common_type(each.type for each in values)
    if kind is None or kind.root == "NULL":
        raise Refused(f"{what} have no type in common", "CAST them to one type.")
    return kind


def _collected(values: list[Value], text: str, kind: SqlType) -> Value:
    return Value(text=text, type=kind, is_aggregate=any(each.is_aggregate for each in values))


def _last_of_each(pairs: Iterable[tuple[Value, Value]]) -> list[tuple[Value, Value]]:
    """Of equal keys that are literals the last one counts; Spark would refuse them."""
    found: dict[tuple[str, object], tuple[Value, Value]] = {}
    for at, (key, value) in enumerate(pairs):
        found[(key.text, at if key.constant is None else "")] = (key, value)
    return list(found.values())


def _is_as_written(tests: list[Value], value: Value) -> bool:
    starts = (f"{value.inside(ADDITIVE)} >= ", f"{value.inside(ADDITIVE)} <= ")
    return all(test.text.startswith(start) for test, start in zip(tests, starts, strict=True))
