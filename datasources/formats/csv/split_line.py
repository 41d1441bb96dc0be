"""One record to the texts of its fields, one character after the other: all rules of Jackson's CsvDecoder."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from datasources.formats.csv.dialect import Dialect
from datasources.formats.values.excerpt import excerpt

_BYTE_ORDER_MARK: Final = "\ufeff"
_BLANKS: Final = "".join(map(chr, range(0x21)))
"""What Java's `trim` removes."""
_LINE_ENDS: Final = "\r\n"
_COMMENTS: Final = re.compile(r"[ \r\n]*(?:#[^\r\n]*[\r\n][ \r\n]*)*(?:#[^\r\n]*\Z)?")
_ESCAPES: Final = {"0": "\0", "n": "\n", "r": "\r", "t": "\t"}


class BadRecord(ValueError):
    """The record cannot be decoded; the message is the reason."""


def line_splitter(dialect: Dialect, columns: int) -> Callable[[bytes], list[str]]:
    """Return what splits a record into the fields of so many columns, and raises BadRecord."""
    reader = _LineReader(dialect)

    def split(raw: bytes) -> list[str]:
        found = reader.fields(_decoded(raw))
        # One blank field more is what a delimiter at the end of the line leaves.
        if len(found) == columns + 1 and not found[-1].strip(_BLANKS):
            found.pop()
        if len(found) != columns:
            raise BadRecord(f"it has {_count(len(found))}, and the table {columns}")
        return found

    return split


def _count(fields: int) -> str:
    return "1 field" if fields == 1 else f"{fields} fields"


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode().removeprefix(_BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        raise BadRecord(f"it is not UTF-8: byte {error.start} is 0x{raw[error.start]:02x}") from None


class _LineReader:
    """Reads the fields of one line."""

    def __init__(self, dialect: Dialect) -> None:
        special = re.escape(dialect.delimiter + (dialect.escape or "") + _LINE_ENDS)
        self._unquoted = re.compile(f"[^{special}]*")
        self._dialect = dialect
        in_quotes = re.escape((dialect.quote or "") + (dialect.escape or ""))
        self._quoted = re.compile(f"[^{in_quotes}]*" if in_quotes else ".*", re.DOTALL)

    def fields(self, text: str) -> list[str]:
        """Return the fields of the first line, which must be the only one."""
        dialect = self._dialect
        at = _end(_COMMENTS, text, 0) if dialect.has_comments else 0
        if at == len(text):
            raise BadRecord("the value is empty" if not text else f"it has no fields: {excerpt(text)}")
        found: list[str] = []
        while True:
            is_quoted = dialect.quote is not None and text.startswith(dialect.quote, at)
            value, at = self._quoted_field(text, at + 1) if is_quoted else self._unquoted_field(text, at)
            found.append(value)
            if at == len(text) or text[at] != dialect.delimiter:
                break
            at += 1
        rest = text[at:].strip(_BLANKS)
        if rest and not (dialect.has_comments and _end(_COMMENTS, text, at) == len(text)):
            raise BadRecord(f"it has more than one line: {excerpt(rest)}")
        return found

    def _unquoted_field(self, text: str, at: int) -> tuple[str, int]:
        """Return a field, and where the delimiter or the end of the line behind it is."""
        end = _end(self._unquoted, text, at)
        value = text[at:end]
        while end < len(text) and text[end] == self._dialect.escape:
            escaped, at = self._escaped(text, end), end + 2
            end = _end(self._unquoted, text, at)
            value += escaped + text[at:end]
        return value, end

    def _quoted_field(self, text: str, at: int) -> tuple[str, int]:
        """Return a field whose first quote is before a position, and where what ends it is."""
        quote, segments = self._dialect.quote, []
        while True:
            end = _end(self._quoted, text, at)
            segments.append(text[at:end])
            if end == len(text):
                raise BadRecord("a quote at the end of a field is missing")
            if text[end] != quote:
                segments.append(self._escaped(text, end))
            elif text.startswith(quote, end + 1):
                segments.append(quote)
            else:
                return "".join(segments), self._behind_quote(text, end + 1)
            at = end + 2

    def _behind_quote(self, text: str, at: int) -> int:
        """Return where the delimiter or the end of the line is, before which there may be blanks only."""
        while at < len(text) and text[at] != self._dialect.delimiter and text[at] not in _LINE_ENDS:
            if text[at] not in _BLANKS:
                raise BadRecord(f"behind a field in quotes there is {excerpt(text, at)}")
            at += 1
        return at

    def _escaped(self, text: str, at: int) -> str:
        """Return the character that stands behind an escape."""
        if at + 1 == len(text):
            raise BadRecord("it ends with the escape character")
        return _ESCAPES.get(text[at + 1], text[at + 1])


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    assert match is not None
    return match.end()
