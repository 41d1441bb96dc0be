"""Signatures of functions: which arguments they take, the type of the result, the text in Spark SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.casts import coerced
from datasources.sql.flink.logical_types import BIGINT, DOUBLE, INT, NULL, STRING, common_type, is_family
from datasources.sql.flink.parse.syntax import Call
from datasources.sql.flink.typed_value import ATOM, Refused, Value, shown_type

ResultType = SqlType | Callable[[Sequence[Value]], SqlType]
Text = str | Callable[[Sequence[Value], Call], str]

_COERCED: Final = {"INT": INT, "BIGINT": BIGINT, "DOUBLE": DOUBLE, "STRING": STRING}
"""Parameters that cast a number, or text, to one type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """One way to call a function.

    Attributes:
        parameters: families of `logical_types.is_family`, or INT, BIGINT, DOUBLE, STRING: numbers or texts that are
            cast; a last one that ends with `*` takes any number of arguments, one that ends with `?` may be missing.
        result: the type of the result, or what makes it of the arguments.
        text: Spark SQL with {0}, {1} for the arguments and {all} for all of them, or what makes it.
        value: makes type and text at once, in place of the two.
        of_call: the same, for a result whose type depends on the words of the call.
    """

    parameters: tuple[str, ...]
    result: ResultType = NULL
    text: Text = ""
    value: Callable[[Sequence[Value]], Value] | None = None
    of_call: Callable[[Sequence[Value], Call], Value] | None = None

    def fitted(self, arguments: Sequence[Value]) -> tuple[Value, ...] | None:
        """Return the arguments as the parameters take them; None if they do not."""
        wanted = self._wanted(len(arguments))
        if wanted is None:
            return None
        found = []
        for value, family in zip(arguments, wanted, strict=True):
            taken = _taken(value, family)
            if taken is None:
                return None
            found.append(taken)
        return tuple(found)

    def _wanted(self, count: int) -> tuple[str, ...] | None:
        needed = [each for each in self.parameters if each[-1] not in "?*"]
        names = tuple(each.rstrip("?*") for each in self.parameters)
        if self.parameters and self.parameters[-1].endswith("*"):
            return None if count < len(needed) else (*names[:-1], *([names[-1]] * (count - len(names) + 1)))
        return names[:count] if len(needed) <= count <= len(names) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function of Flink's.

    Attributes:
        name: upper case.
        signatures: the ways to call it, the first that fits counts.
        is_deterministic: whether equal arguments give equal results.
        differs: what Spark's function of that name, or the same text in Spark's dialect, gives instead; "" = the same.
    """

    name: str
    signatures: tuple[Signature, ...]
    is_deterministic: bool = True
    differs: str = ""


@dataclass(frozen=True, slots=True)
class NotThere:
    """A function of Flink's that is refused, and what to write in its place."""

    name: str
    hint: str


def function(  # noqa: PLR0913 - what a function is
    name: str,
    parameters: str,
    result: ResultType,
    text: Text,
    *,
    is_deterministic: bool = True,
    differs: str = "",
) -> Function:
    """Return a function with one signature; parameters are separated by blanks."""
    signature = Signature(parameters=tuple(parameters.split()), result=result, text=text)
    return Function(name=name, signatures=(signature,), is_deterministic=is_deterministic, differs=differs)


def overloads(name: str, *signatures: tuple[str, ResultType, Text], differs: str = "") -> Function:
    """Return a function with several signatures."""
    return Function(
        name=name,
        signatures=tuple(Signature(parameters=tuple(p.split()), result=r, text=t) for p, r, t in signatures),
        differs=differs,
    )


def first_argument(arguments: Sequence[Value]) -> SqlType:
    """Return the type of the first argument: a rule for results."""
    return arguments[0].type


def common(arguments: Sequence[Value]) -> SqlType:
    """Return the type that all arguments have in common: a rule for results.

    Raises:
        Refused: they have none.
    """
    kind = common_type(each.type for each in arguments)
    if kind is None:
        shown = ", ".join(shown_type(each.type) for each in arguments)
        raise Refused(f"the types {shown} have none in common", "CAST them to one type.")
    return kind


def call_function(known: Function, call: Call, arguments: Sequence[Value]) -> Value:
    """Return a call.

    Raises:
        Refused: no signature takes the arguments.
    """
    for signature in known.signatures:
        fitted = signature.fitted(arguments)
        if fitted is not None:
            if signature.value is not None:
                return signature.value(fitted)
            if signature.of_call is not None:
                return signature.of_call(fitted, call)
            kind = signature.result if isinstance(signature.result, SqlType) else signature.result(fitted)
            return Value(
                text=_text(signature, fitted, call),
                type=kind,
                level=ATOM,
                depth=max((each.depth for each in fitted), default=0),
                is_aggregate=any(each.is_aggregate for each in fitted),
            )
    shown = ", ".join(shown_type(each.type) for each in arguments)
    takes = " or ".join(f"({', '.join(each.parameters)})" for each in known.signatures)
    raise Refused(f"{known.name} takes {takes}, and this is ({shown})")


def _text(signature: Signature, arguments: Sequence[Value], call: Call) -> str:
    if not isinstance(signature.text, str):
        return signature.text(arguments, call)
    texts = [each.inside(ATOM) for each in arguments]
    return signature.text.replace("{all}", ", ".join(texts)).format(*texts)


def _taken(value: Value, family: str) -> Value | None:
    if family not in _COERCED:
        return value if is_family(value.type, family) else None
    target = _COERCED[family]
    if family == "STRING":
        return coerced(value, target) if is_family(value.type, "text") else None
    accepted = "numeric" if family == "DOUBLE" else "integer"
    if not is_family(value.type, accepted):
        return None
    return coerced(value, target)
