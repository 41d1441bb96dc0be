"""Replaces columns of an expression by other expressions; the rest of the text stays verbatim."""

from __future__ import annotations

from collections.abc import Mapping

from datasources.grammar.source_text import Span, SqlText
from datasources.sql.text.expression_names import ExpressionSyntax, Names, names_of


def substitute(expression: str, replacements: Mapping[str, str]) -> str:
    """Return an expression in which columns are replaced by expressions in parentheses.

    Function names, fields after a dot, names of arguments, literals and variables of lambdas are no columns.

    Args:
        expression: Spark SQL.
        replacements: name of a column, in any case -> Spark SQL.

    Raises:
        SqlError: the text is not one expression, or a lambda variable would capture a column of a replacement.
    """
    by_name = {name.lower(): text for name, text in replacements.items()}
    names = _names(expression)
    parts: dict[Span, str] = {}
    for reference in names.references:
        text = by_name.get(reference.path[0].lower())
        if text is not None:
            captured = captured_by(names, text)
            if captured is not None:
                raise SqlText(expression, name="expression").error(reference.head, *capture_reason(captured))
            parts[reference.head] = in_parentheses(text)
    return splice(expression, parts)


def references(expression: str) -> frozenset[str]:
    """Return the names of the columns in an expression, lower case.

    Raises:
        SqlError: the text is not one expression.
    """
    return frozenset(reference.path[0].lower() for reference in _names(expression).references)


def captured_by(names: Names, replacement: str) -> str | None:
    """Return a column of a replacement that has the name of a lambda variable in the expression; None = none has.

    The variable hides the column in its lambda, so that the replacement would mean something else there.
    """
    return next(iter(sorted(names.variables & references(replacement))), None) if names.variables else None


def capture_reason(variable: str) -> tuple[str, str]:
    """Return reason and way out of the error about a lambda variable that would capture a column."""
    return (
        f"this is computed from the column '{variable}', which a lambda variable of that name hides",
        "Give the variable another name.",
    )


def splice(text: str, parts: Mapping[Span, str]) -> str:
    """Return a text in which spans, none of which overlap, are replaced."""
    pieces: list[str] = []
    done = 0
    for span in sorted(parts):
        pieces += [text[done : span.start], parts[span]]
        done = span.end
    return "".join((*pieces, text[done:]))


def in_parentheses(expression: str) -> str:
    """Return the expression in parentheses; a remark at its end must not swallow the closing one."""
    last_line = expression.rsplit("\n", 1)[-1]
    return f"({expression}\n)" if "--" in last_line else f"({expression})"


def _names(expression: str) -> Names:
    try:
        return names_of(expression)
    except ExpressionSyntax as problem:
        raise SqlText(expression, name="expression").error(problem.span, problem.reason) from None
