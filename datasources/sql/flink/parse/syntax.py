"""The syntax tree of an expression of Flink SQL. Every node has the tokens that it was read from."""

from __future__ import annotations

from dataclasses import dataclass, field

from datasources.grammar.sql_types import SqlType
from datasources.sql.text.query_tree import Query, Region


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What all nodes have."""

    region: Region


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal(Node):
    """A constant.

    Attributes:
        type: with its parameters; NULL for the word NULL.
        value: text of a number, of a string without quotes, of a DATE, TIME or TIMESTAMP; hex digits of bytes;
            "TRUE" or "FALSE"; of an INTERVAL its text without quotes, with its sign.
    """

    type: SqlType
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Name(Node):
    """`a`, `t.a`, `a.b.c`."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field(Node):
    """A field of an expression: `f(x).a`, `a[1].b`."""

    base: Node
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscript(Node):
    """`a[1]`, `m['key']`."""

    base: Node
    index: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary(Node):
    """`-x`, `+x`, `NOT x`."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary(Node):
    """Two operands: arithmetic, `||`, comparisons, AND, OR; IS [NOT] DISTINCT FROM as "IS DISTINCT", "IS SAME"."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Is(Node):
    """`x IS [NOT] NULL | TRUE | FALSE | UNKNOWN | JSON [VALUE | OBJECT | ARRAY | SCALAR]`; `test` is the last words."""

    operand: Node
    test: str
    is_negated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Between(Node):
    """`x [NOT] BETWEEN [SYMMETRIC] low AND high`."""

    operand: Node
    low: Node
    high: Node
    is_negated: bool
    is_symmetric: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class In(Node):
    """`x [NOT] IN (a, b)`, `x IN (SELECT ...)`."""

    operand: Node
    items: tuple[Node, ...]
    query: Query | None
    is_negated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Like(Node):
    """`x [NOT] LIKE | SIMILAR TO pattern [ESCAPE c]`."""

    operand: Node
    pattern: Node
    escape: Node | None
    is_similar: bool
    is_negated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Case(Node):
    """CASE; `operand` of the simple form."""

    operand: Node | None
    whens: tuple[tuple[Node, Node], ...]
    otherwise: Node | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast(Node):
    """`CAST(x AS type)`, `TRY_CAST`."""

    operand: Node
    type: SqlType
    is_try: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows(Node):
    """`(a, b)` or `ROW(a, b)`; `ARRAY[a, b]`; `MAP[k, v, k, v]`: `kind` is ROW, ARRAY or MAP."""

    kind: str
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubQuery(Node):
    """A query in brackets: `kind` is SCALAR, EXISTS, or ARRAY (`ARRAY(SELECT ...)`)."""

    kind: str
    query: Query


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderItem(Node):
    """An expression of ORDER BY; `suffix` has ASC, DESC, NULLS FIRST as written."""

    operand: Node
    suffix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(Node):
    """What follows OVER. `frame` is ROWS or RANGE with its bounds as written, "" without one."""

    name: str
    partition: tuple[Node, ...]
    order: tuple[OrderItem, ...]
    frame: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Node):
    """A call of a function.

    Attributes:
        name: upper case.
        name_region: the tokens of the name.
        arguments: in order; of special forms (`TRIM(BOTH x FROM y)`) in the order of `functions`.
        words: key words of special forms: BOTH; a unit; ON EMPTY and ON ERROR clauses.
        is_star: COUNT(*).
        is_distinct: DISTINCT before the arguments.
        condition: of FILTER (WHERE ...).
        order: of WITHIN GROUP (ORDER BY ...).
        nulls: "IGNORE NULLS" or "RESPECT NULLS" behind the call.
        over: the window of an OVER.
    """

    name: str
    name_region: Region
    arguments: tuple[Node, ...]
    words: tuple[str, ...] = ()
    is_star: bool = False
    is_distinct: bool = False
    condition: Node | None = None
    order: tuple[OrderItem, ...] = ()
    nulls: str = ""
    over: Window | None = field(default=None)
