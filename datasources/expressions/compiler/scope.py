"""The context of type analysis: the expression's text, the schema and the session's settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from sqlglot import exp

from datasources.arrow_types import STRING, is_integral, spark_name
from datasources.errors import ExpressionError
from datasources.expressions.compiler.expression_text import SourceText
from datasources.expressions.compiler.syntax import span_of
from datasources.expressions.evaluation.nodes import Constant, Node
from datasources.expressions.vectors.vectors import EvalError
from datasources.grammar.zones import fixed_offset_us

if TYPE_CHECKING:
    from datasources.expressions.evaluation.function_call import ReaderFunction

SEE_DOCS: Final = "docs/expressions.md lists what the reader evaluates."


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The context of an expression under compilation.

    Zone and ANSI flag are Spark's, None if unknown; the user's functions are under their names in lower case.
    """

    source: SourceText
    schema: pa.Schema
    time_zone: str | None
    ansi: bool | None
    bind: Callable[[Scope, exp.Expr], Node]
    functions: Mapping[str, ReaderFunction] = field(default_factory=dict)

    def node(self, tree: exp.Expr) -> Node:
        """Type a subtree."""
        return self.bind(self, tree)

    def refusal(self, tree: exp.Expr, reason: str, hint: str = SEE_DOCS) -> ExpressionError:
        """Build the error that rejects the part of the text that ``tree`` spans."""
        return self.source.refusal(span_of(self.source, tree), reason, hint)

    def wrong_type(self, tree: exp.Expr, what: str, found: pa.DataType, hint: str = SEE_DOCS) -> ExpressionError:
        """Build the error for an operand whose type is not on the list."""
        return self.refusal(tree, f"{what} does not take {spark_name(found)} here", hint)

    def session_offset_us(self) -> int | None:
        """Return the session zone's offset if it is known and never changes."""
        return None if self.time_zone is None else fixed_offset_us(self.time_zone)

    def require_offset_us(self, tree: exp.Expr, what: str) -> int:
        """Return the session zone's fixed offset.

        Raises:
            ExpressionError: The zone is unknown, or changes its offset (daylight saving, history).
        """
        offset_us = self.session_offset_us()
        if offset_us is not None:
            return offset_us
        if self.time_zone is None:
            raise self.refusal(
                tree,
                f"{what} depends on the session time zone, which the reader does not know",
                "Set the option scan.session.time-zone, or load the stream with read_stream().",
            )
        raise self.refusal(
            tree,
            f"{what} depends on local time, and the offset of the session time zone {self.time_zone} changes",
            "Use TIMESTAMP_NTZ columns, or a session time zone with a fixed offset such as UTC.",
        )

    def require_ansi(self, tree: exp.Expr, what: str) -> bool:
        """Return the session's ANSI flag.

        Raises:
            ExpressionError: It is unknown.
        """
        if self.ansi is None:
            raise self.refusal(
                tree,
                f"{what} depends on spark.sql.ansi.enabled, which the reader does not know",
                "Set the option scan.session.ansi, or load the stream with read_stream().",
            )
        return self.ansi

    def overflow_error(self, tree: exp.Expr, what: str, error: EvalError = EvalError.OVERFLOW) -> EvalError:
        """Return the error for an integer overflow: Spark's own, or without ANSI mode a limit of the reader."""
        return error if self.require_ansi(tree, what) else EvalError.SILENT_WRAP

    def constant_text(self, tree: exp.Expr, what: str) -> str:
        """Return the text of an operand that has to be a literal."""
        node = self.node(tree)
        if isinstance(node, Constant) and node.type == STRING and isinstance(node.value, str):
            return node.value
        raise self.refusal(tree, f"{what} has to be a text literal")

    def constant_int(self, tree: exp.Expr, what: str) -> int:
        """Return the number of an operand that has to be a literal."""
        node = self.node(tree)
        if isinstance(node, Constant) and is_integral(node.type) and isinstance(node.value, int):
            return node.value
        raise self.refusal(tree, f"{what} has to be a whole number literal")
