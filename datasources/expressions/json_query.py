"""Flink's JSON_QUERY: the text of an array or object in a document, as Spark has no function for it.

Flink reads a document into values and writes them anew: the names of an object in order, numbers as Java's BigDecimal
has them, no blanks. Of equal names the last one counts. What follows the document is not read.

Source: Flink's SqlJsonUtils, which is Calcite's JsonFunctions, on the JsonPath of Jayway.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import pyarrow as pa

from datasources.expressions.arrow_function import arrow_function

ANY: Final = None
"""The step of a path to all elements of an array, or members of an object."""

_MAX_DIGITS: Final = 1_000
_MAX_EXPONENT: Final = 2**31 - 1
_BLANKS: Final = " \t\r\n"
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPED: Final = re.compile(r'[\x00-\x1f"\\]')
_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_EMPTY: Final = {"NULL": None, "EMPTY ARRAY": "[]", "EMPTY OBJECT": "{}"}


class JsonQueryError(ValueError):
    """There is no array or object, and ERROR ON EMPTY or ERROR ON ERROR asks to fail."""


class _NotThere(ValueError):
    """A path, or a document, that Flink has an exception for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonQuery:
    """A call of JSON_QUERY but for its document.

    Attributes:
        steps: of the path: names, indexes, which count from the end if they are negative, and `ANY`.
        is_lax: whether what is not there is empty, and no error.
        wrapper: WITHOUT, CONDITIONAL or UNCONDITIONAL.
        on_empty: NULL, EMPTY ARRAY, EMPTY OBJECT or ERROR.
        on_error: the same.
        returns_array: whether the result is the array of its elements' texts, itself as JSON.
    """

    steps: tuple[str | int | None, ...] = ()
    is_lax: bool = False
    wrapper: str = "WITHOUT"
    on_empty: str = "NULL"
    on_error: str = "NULL"
    returns_array: bool = False

    def to_text(self) -> str:
        """Return it as text, from which `from_text` makes it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> JsonQuery:
        """Return what `to_text` made a text of."""
        values = json.loads(text)
        return cls(**{**values, "steps": tuple(values["steps"])})

    def of(self, document: str | None) -> str | None:
        """Return the text for a document.

        Raises:
            JsonQueryError: as the clauses ask for.
        """
        if document is None:
            return None
        try:
            found = self._found(document)
        except _NotThere as error:
            return self._failed(str(error))
        if found is None or (self.is_lax and not isinstance(found, list | dict)):
            if self.on_empty == "ERROR":
                raise JsonQueryError("Empty result of JSON_QUERY function is not allowed")
            return _EMPTY[self.on_empty]
        if isinstance(found, list) and self.returns_array:
            return _elements(found)
        if self.returns_array or not isinstance(found, list | dict):
            return self._failed("Strict jsonpath mode requires array or object value")
        return _written(found)

    def _found(self, document: str) -> Any:
        """Return the value with its wrapper, None for none."""
        try:
            found = _at_path(_parsed(document), self.steps)
        except _NotThere:
            if not self.is_lax:
                raise
            found = [] if ANY in self.steps and _is_json(document) else None
        if found is None or self.wrapper == "WITHOUT":
            return found
        return found if self.wrapper == "CONDITIONAL" and isinstance(found, list) else [found]

    def _failed(self, why: str) -> str | None:
        if self.on_error == "ERROR":
            raise JsonQueryError(why)
        return _EMPTY[self.on_error]


@arrow_function("STRING")
def json_query(documents: pa.Array, query: pa.Array) -> pa.Array:
    """Return the text for each document; `query` is the text of a `JsonQuery`, the same in each row."""
    if not len(documents):
        return pa.array([], pa.string())
    asked = JsonQuery.from_text(query[0].as_py())
    return pa.array(map(asked.of, documents.to_pylist()), pa.string())


# Documents and paths.


def _parsed(document: str) -> Any:
    try:
        value, _ = _READER.raw_decode(document.lstrip(_BLANKS))
    except (ValueError, RecursionError, InvalidOperation) as error:
        raise _NotThere(f"the document is malformed: {error}") from None
    return value


def _is_json(document: str) -> bool:
    try:
        return _parsed(document) is not None
    except _NotThere:
        return False


def _fraction(text: str) -> Decimal:
    if len(text) > _MAX_DIGITS:
        raise ValueError("a number has too many digits")
    found = Decimal(text)
    exponent = found.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > _MAX_EXPONENT:
        raise ValueError("a number has too large an exponent")
    return found or abs(found)  # Java's zero has no sign


def _whole(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError("a number has too many digits")
    return int(text)


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


_READER: Final = json.JSONDecoder(parse_float=_fraction, parse_int=_whole, parse_constant=_constant)


def _at_path(value: Any, steps: Sequence[str | int | None]) -> Any:
    """Return the value at a path; those at a path to several as a list.

    Raises:
        _NotThere: a part of the path before the first step to several leads to nothing.
    """
    for at, step in enumerate(steps):
        if step is ANY:
            return list(_all_at([value], steps[at:]))
        below = _below(value, step)
        if not below:
            raise _NotThere("No results for path")
        value = below[0]
    return value


def _all_at(values: Sequence[Any], steps: Sequence[str | int | None]) -> Iterator[Any]:
    """Yield the values at a path below others; where it leads to nothing there is none."""
    if not steps:
        yield from values
        return
    yield from _all_at([each for value in values for each in _below(value, steps[0])], steps[1:])


def _below(value: Any, step: str | int | None) -> list[Any]:
    """Return the values to which a step leads."""
    if step is ANY:
        return value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
    if isinstance(step, str):
        return [value[step]] if isinstance(value, dict) and step in value else []
    is_there = isinstance(value, list) and -len(value) <= step < len(value)
    return [value[step]] if is_there else []


# Texts.


def _elements(found: Sequence[Any]) -> str:
    """Return the texts of the elements of an array, as JSON: of a string itself, of null null."""
    texts = [each if each is None or isinstance(each, str) else _written(each) for each in found]
    return _written(texts)


def _written(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, dict):
        members = sorted(value.items(), key=_by_units)
        return "{" + ",".join(f"{_quoted(name)}:{_written(each)}" for name, each in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_written, value)) + "]"
    return _quoted(value) if isinstance(value, str) else str(value)


def _by_units(member: tuple[str, Any]) -> bytes:
    """Java's order of texts, which is that of their UTF-16."""
    return member[0].encode("utf-16-be", "surrogatepass")


def _quoted(text: str) -> str:
    return '"' + _LONE_SURROGATE.sub("?", _ESCAPED.sub(_escape, text)) + '"'


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    return _SHORT.get(character) or f"\\u{ord(character):04X}"
