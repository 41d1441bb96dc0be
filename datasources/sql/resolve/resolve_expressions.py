"""Expressions of a definition: names are checked, and computed columns are replaced by their expressions.

The resulting expressions name physical and metadata columns only. The user's text stays verbatim: a reference to a
computed column is replaced by its expression in parentheses, PROCTIME() by Spark's current_timestamp().
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from datasources.errors import SqlError
from datasources.grammar.source_text import Span
from datasources.sql.resolve.function_names import CLOCK_WITHOUT_ARGUMENTS, NON_DETERMINISTIC, WITHOUT_PARENTHESES
from datasources.sql.resolve.resolve_columns import Clauses, near
from datasources.sql.resolve.resolve_spellings import AskType, spelled
from datasources.sql.statements.catalog_objects import ComputedColumn, TableDefinition
from datasources.sql.text.error_location import Site
from datasources.sql.text.expression_names import Call, ExpressionSyntax, Names, Reference, names_of
from datasources.sql.text.substitute import capture_reason, captured_by, in_parentheses, splice, substitute

__all__ = [
    "NON_DETERMINISTIC",
    "PROCTIME",
    "Expression",
    "Expressions",
    "is_proctime",
    "is_rowtime",
    "is_source_watermark",
]

PROCTIME: Final = "current_timestamp()"
"""What a processing time column is to Spark."""

_CLOCK: Final = f"{CLOCK_WITHOUT_ARGUMENTS} without an argument"
_PROCTIMES: Final = frozenset({"proctime", "system_proctime"})
_ROWTIMES: Final = frozenset({"system_rowtime"})
_WATERMARKS: Final = frozenset({"system_watermark", "source_watermark"})
_COMPUTED: Final = "__tidemark_computed_"
_COMPUTED_NAME: Final = re.compile(rf"{_COMPUTED}\d+_")
_DEEPEST: Final = 30
_LONGEST: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """An expression as it was written, and where."""

    text: str
    names: Names
    site: Site

    @classmethod
    def read(cls, text: str, site: Site) -> Expression:
        """Return what an expression names.

        Raises:
            SqlError: it is none.
        """
        try:
            return cls(text=text, names=names_of(text), site=site)
        except ExpressionSyntax as problem:
            raise site.inside(text, problem.span).error(problem.reason, "It is Spark SQL, one expression.") from None

    def at(self, span: Span) -> Site:
        """Return the site of a part."""
        return self.site.inside(self.text, span)


def is_proctime(expression: Expression) -> bool:
    """Return whether the whole expression is PROCTIME()."""
    return _whole(expression) in _PROCTIMES


def is_rowtime(expression: Expression) -> bool:
    """Return whether the whole expression is SYSTEM_ROWTIME()."""
    return _whole(expression) in _ROWTIMES


def is_source_watermark(expression: Expression) -> bool:
    """Return whether the whole expression is SYSTEM_WATERMARK() or SOURCE_WATERMARK()."""
    return _whole(expression) in _WATERMARKS


class Expressions:
    """The expressions of one definition.

    ``rowtime`` is what SYSTEM_ROWTIME() is in this source, None = it has none; ``non_deterministic`` are functions of
    the session's own; ``ask`` knows the type of an expression over physical and metadata columns.
    """

    def __init__(
        self,
        table: TableDefinition,
        clauses: Clauses,
        rowtime: str | None,
        non_deterministic: Collection[str] = (),
        *,
        ask: AskType,
    ) -> None:
        self._table = table
        self._non_deterministic = NON_DETERMINISTIC.union(_PROCTIMES, non_deterministic, {_CLOCK})
        self._differing: dict[str, str | None] = {}
        self._names = {column.name.lower(): column.name for column in table.columns}
        self._rowtime = rowtime
        self._ask = ask
        self._computed: dict[str, Expression] = {}
        self._inlined: dict[str, str] = {}
        for column in table.columns:
            if isinstance(column, ComputedColumn):
                expression = Expression.read(column.expression, clauses.expression(column))
                self._computed[column.name.lower()] = expression
                self._check(expression)

    def computed(self, name: str) -> Expression | None:
        """Return the expression of a computed column; None = the column is none."""
        return self._computed.get(name.lower())

    def column(self, name: str) -> str:
        """Return the expression of a computed column over physical and metadata columns.

        Raises:
            SqlError: computed columns refer to each other in a circle, or more than thirty deep.
        """
        return self._inline_column(name.lower(), ())

    def watermark(self, text: str, site: Site) -> Expression:
        """Return a watermark's expression, checked.

        Raises:
            SqlError: it is none, names an unknown column, or may differ when a record is read again.
        """
        expression = Expression.read(text, site)
        if is_rowtime(expression):
            raise _only_in_columns(expression, expression.names.calls[0])
        if not is_source_watermark(expression):
            self._check(expression)
            self._check_deterministic(expression)
        return expression

    def differing(self, name: str) -> str | None:
        """Return what makes a column differ when a record is read again, `NOW()`; None = it does not.

        Call `column` before: it refuses circles.
        """
        folded = name.lower()
        if folded in self._computed and folded not in self._differing:
            part = self._differing_part(self._computed[folded])
            self._differing[folded] = None if part is None else part[1]
        return self._differing.get(folded)

    def named(self, expression: Expression) -> str:
        """Return an expression as Spark reads it, over all columns by their names."""
        return spelled(expression.text, expression.site, lambda text: self._ask(substitute(text, self._inlined)))

    def inline(self, expression: Expression) -> str:
        """Return an expression over physical and metadata columns."""
        return self._inline(expression, ())

    def _check(self, expression: Expression) -> None:
        if expression.names.has_star:
            raise expression.site.error("'*' has no meaning in a table's own expression", "Write the columns out.")
        for call in expression.names.calls:
            self._check_call(expression, call)
        for reference in expression.names.references:
            name = reference.path[0]
            if name.lower() not in self._names and not _is_function(reference, self._names):
                raise expression.at(reference.head).error(
                    f"there is no column '{name}'", near(name, self._table.columns).strip()
                )

    def _check_call(self, expression: Expression, call: Call) -> None:
        shown = f"{call.name.upper()}()"
        if call.name not in _PROCTIMES | _ROWTIMES | _WATERMARKS:
            return
        if call.has_arguments:
            raise expression.at(call.span).error(f"{shown} takes no arguments")
        if call.name in _WATERMARKS:
            raise expression.at(call.span).error(
                f"{shown} can only be a whole watermark expression",
                f"Write `rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS {shown}`.",
            )
        if call.name in _ROWTIMES and _whole(expression) != call.name:
            raise _only_in_columns(expression, call)
        if call.name in _ROWTIMES and self._rowtime is None:
            raise expression.at(call.span).error("this connector does not give its records a time")

    def _check_deterministic(self, expression: Expression) -> None:
        found = self._differing_part(expression)
        if found is not None:
            span, name = found
            raise expression.at(span).error(
                f"a watermark must be the same whenever a record is read again, and {name} is not",
                "Use what the records hold; for processing time, a column `pt AS PROCTIME()` without a watermark.",
            )

    def _differing_part(self, expression: Expression) -> tuple[Span, str] | None:
        """Return a part that may differ when a record is read again, and what makes it so."""
        for span, name in _functions(expression, self._names):
            if name in self._non_deterministic:
                return span, name if name == _CLOCK else f"{name.upper()}()"
        for reference in expression.names.references:
            function = self.differing(reference.path[0])
            if function is not None:
                return reference.span, f"{function} in '{reference.path[0]}'"
        return None

    def _inline_column(self, name: str, path: tuple[str, ...]) -> str:
        if name in self._inlined:
            return self._inlined[name]
        expression = self._computed[name]
        path = (*path, name)
        if name in path[:-1]:
            circle = " -> ".join(self._names[each] for each in path[path.index(name) :])
            raise expression.site.error(f"computed columns refer to each other in a circle: {circle}")
        if len(path) > _DEEPEST:
            raise expression.site.error(f"computed columns refer to one another more than {_DEEPEST} deep")
        self._inlined[name] = self._inline(expression, path)
        return self._inlined[name]

    def _inline(self, expression: Expression, path: tuple[str, ...]) -> str:
        if is_rowtime(expression):
            return str(self._rowtime)
        inner: dict[str, str] = {}
        parts: dict[Span, str] = {}
        for reference in expression.names.references:
            if reference.path[0].lower() in self._computed:
                text = self._inline_column(reference.path[0].lower(), path)
                captured = captured_by(expression.names, text)
                if captured is not None:
                    raise expression.at(reference.head).error(*capture_reason(captured))
                parts[reference.head] = f"{_COMPUTED}{len(inner)}_"
                inner[parts[reference.head]] = in_parentheses(text)
        parts |= {call.span: PROCTIME for call in expression.names.calls if call.name in _PROCTIMES}
        # Its own characters are spelled anew, not those of the columns that it names: those are Spark's already.
        own = spelled(splice(expression.text, parts), expression.site, lambda text: self._ask(_put_in(text, inner)))
        inlined = _put_in(own, inner)
        if len(inlined) > _LONGEST:
            raise expression.site.error(
                f"with its computed columns put in, the expression is longer than {_LONGEST} characters"
            )
        return inlined


def _put_in(text: str, inner: Mapping[str, str]) -> str:
    return _COMPUTED_NAME.sub(lambda match: inner[match[0]], text)


def _only_in_columns(expression: Expression, call: Call) -> SqlError:
    return expression.at(call.span).error(
        f"{call.name.upper()}() can only be all of a computed column",
        "Write `rt AS SYSTEM_ROWTIME()` and use rt in other expressions.",
    )


def _whole(expression: Expression) -> str:
    """Return the name of the function that the whole expression is a call of, without arguments; "" = it is none."""
    text = expression.text
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
    calls: Mapping[Span, Call] = {call.span: call for call in expression.names.calls}
    call = calls.get(Span(begin, end))
    return "" if call is None or call.has_arguments else call.name


def _functions(expression: Expression, columns: Mapping[str, str]) -> Iterator[tuple[Span, str]]:
    """Give the functions that an expression calls, in lower case; a clock's name without its usual argument too."""
    for call in expression.names.calls:
        is_clock = call.name == CLOCK_WITHOUT_ARGUMENTS and not call.has_arguments
        yield call.span, _CLOCK if is_clock else call.name
    for reference in expression.names.references:
        if _is_function(reference, columns):
            yield reference.span, reference.path[0].lower()


def _is_function(reference: Reference, columns: Mapping[str, str]) -> bool:
    """Whether a name alone is a function that is called without parentheses; a column of that name comes first."""
    name = reference.path[0].lower()
    return len(reference.path) == 1 and name in WITHOUT_PARENTHESES and name not in columns
