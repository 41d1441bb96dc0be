"""Names in an expression: columns and fields inside structs, found as Spark finds them (case-insensitively)."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

import pyarrow as pa
from sqlglot import exp

from datasources.arrow_types import canonical, spark_name
from datasources.errors import ExpressionError
from datasources.expressions.compiler.scope import Scope
from datasources.expressions.evaluation.nodes import FieldPath, Node


def column(scope: Scope, tree: exp.Expr) -> Node:
    """Type a column, or a field that is reached from one by dots."""
    return _resolved(scope, tree, _names(scope, tree))


def field_of(scope: Scope, tree: exp.Expr) -> Node:
    """Type a field that is reached by more dots than the parser takes for one name, or from parentheses."""
    return _resolved(scope, tree, _names(scope, tree))


def split_path(path: str) -> list[str]:
    """Split ``a.b.c`` at its dots; a part in backticks may hold dots.

    Raises:
        ExpressionError: A part is empty, or a backtick is not closed.
    """
    parts, part, quoted = [], "", False
    for char in path:
        if char == "`":
            quoted = not quoted
        elif char == "." and not quoted:
            parts.append(part)
            part = ""
        else:
            part += char
    parts.append(part)
    if quoted or not all(parts):
        raise ExpressionError(f"watermark.for: `{path}` is not a column; write a name, or names joined by dots.")
    return parts


def _names(scope: Scope, tree: exp.Expr) -> list[str]:
    if isinstance(tree, exp.Column) and isinstance(tree.this, exp.Identifier):
        return [part.name for part in tree.parts]
    if isinstance(tree, exp.Paren):
        return _names(scope, tree.this)
    if isinstance(tree, exp.Dot) and isinstance(tree.expression, exp.Identifier):
        return [*_names(scope, tree.this), tree.expression.name]
    raise scope.refusal(tree, "only columns and fields of structs can be named in the reader")


def _resolved(scope: Scope, tree: exp.Expr, names: list[str]) -> FieldPath:
    fields: Iterable[pa.Field] = scope.schema
    path: list[str] = []
    found = None
    for name in names:
        if found is not None and not pa.types.is_struct(found):
            reason = f"{'.'.join(path)} is {spark_name(found)}, which has no fields"
            raise scope.refusal(tree, reason, "Dots lead into structs only.")
        match = _matching(scope, tree, name, list(fields), ".".join(path))
        path.append(match.name)
        found = match.type
        fields = list(found) if pa.types.is_struct(found) else []
    data_type = None if found is None else canonical(found)
    if data_type is None:
        reason = f"the reader has no values of type {spark_name(found)} in expressions"
        raise scope.refusal(tree, reason, "Use a column or field of a simple type.")
    return FieldPath(path=tuple(path), type=data_type)


def _matching(scope: Scope, tree: exp.Expr, name: str, fields: list[pa.Field], parent: str) -> pa.Field:
    matches = [field for field in fields if field.name.lower() == name.lower()]
    what = f"the field {parent}.{name}" if parent else f"the column {name}"
    if len(matches) > 1:
        raise scope.refusal(tree, f"{what} is ambiguous, as names differ in case only", "Rename one of them.")
    if matches:
        return matches[0]
    known = {field.name.lower(): field.name for field in fields}
    near = [known[found] for found in get_close_matches(name.lower(), known, n=3)]
    listed = ", ".join(field.name for field in fields[:20]) or "none"
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise scope.refusal(tree, f"{what} does not exist", f"{hint}Known names: {listed}.")
