"""Key values as canonical text, and their comparison by the server and here.

The offset stores a bound as one text per column, so that it is exact and equal on every machine:

========================================  =====================================================  =========
columns                                   text                                                   sort_key
========================================  =====================================================  =========
integers, YEAR                            ``-17``                                                yes
DECIMAL                                   ``-17.50``                                             yes
ENUM, SET, BIT                            the number that the server stores, ``3``               yes
BINARY, VARBINARY, BLOB                   hex of the bytes, ``00FF``                             yes
DATE, DATETIME, TIMESTAMP                 as the server writes it, TIMESTAMP in UTC              yes
TIME                                      as the server writes it, ``-07:10:10.5``               yes
CHAR, VARCHAR, TEXT                       hex of the bytes in the column's own character set     no
========================================  =====================================================  =========

Rules of this file: text is never compared here, because no client knows the server's collations (text_comparison.py
lets the server compare); values from the offset are checked before they become part of a statement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from datasources.errors import OffsetError
from datasources.mysql.connection.quoting import quote_name
from datasources.mysql.tables.chunk_key import KeyColumn
from datasources.mysql.types.declarations import members_of
from datasources.mysql.types.decoders.key_texts import ValueForm
from datasources.mysql.types.type_table import DECLARED

_CHECKS: Final[Mapping[ValueForm, re.Pattern[str]]] = {
    ValueForm.NUMBER: re.compile(r"-?\d{1,20}"),
    ValueForm.DECIMAL: re.compile(r"-?\d{1,65}(\.\d{1,38})?"),
    ValueForm.STORED_NUMBER: re.compile(r"\d{1,20}"),
    ValueForm.BYTES: re.compile(r"([0-9A-F]{2})*"),
    ValueForm.TEXT: re.compile(r"([0-9A-F]{2})*"),
    ValueForm.MOMENT: re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?)?"),
    ValueForm.TIME: re.compile(r"(?P<sign>-?)(?P<h>\d{2,3}):(?P<m>\d\d):(?P<s>\d\d)(\.(?P<f>\d{1,6}))?"),
}
_WITH_MEMBERS: Final = frozenset({"enum", "set"})
_NAME: Final = re.compile(r"[a-z0-9_]+", re.IGNORECASE)


def form_of(column: KeyColumn) -> ValueForm:
    """Return the representation of a column's values."""
    declared = DECLARED.get(column.data_type)
    return ValueForm.INEXACT if declared is None else declared.key_form


def key_order(columns: Sequence[KeyColumn]) -> str:
    """Return a description of a key's order: bounds are comparable if their descriptions are equal."""
    return ", ".join(f"{column.name} {form_of(column).value} {column.collation or ''}".strip() for column in columns)


def is_divisible(column: KeyColumn) -> bool:
    """Return whether a table can be divided by this column.

    Not by FLOAT and DOUBLE, which SELECT does not return exactly, and not by MariaDB's UUID, INET4 and INET6, whose
    order is undocumented. Not by columns whose index has another order than comparisons, and not by ENUM and SET whose
    members information_schema does not distinguish.
    """
    if not column.has_index_order:
        return False
    if column.data_type in _WITH_MEMBERS:
        return not any(_is_unclear(member) for member in members_of(column.column_type))
    return form_of(column) is not ValueForm.INEXACT


def _is_unclear(member: str) -> bool:
    """Whether a member is ambiguous: no member is read as the empty text, an unknown character as ``?``."""
    return not member or "?" in member


def select_expression(column: KeyColumn) -> str:
    """Return the SQL of a column's value as canonical text; the session's time zone must be UTC."""
    name = quote_name(column.name)
    form = form_of(column)
    if form in (ValueForm.TEXT, ValueForm.BYTES):
        return f"HEX({name})"
    if form is ValueForm.STORED_NUMBER:
        return f"CAST(CAST({name} AS UNSIGNED) AS CHAR)"
    return f"CAST({name} AS CHAR)"


def compared_expression(column: KeyColumn) -> str:
    """Return the SQL of a column that is compared with a `literal`.

    A SET and a number would be compared as DOUBLE, which has 53 of its 64 bits.
    """
    name = quote_name(column.name)
    return f"CAST({name} AS UNSIGNED)" if column.data_type == "set" else name


def literal(column: KeyColumn, value: str) -> str:
    """Return a canonical text as an SQL literal that the server compares like a value of the column.

    Raises:
        OffsetError: The text is no valid value of the column.
    """
    form = form_of(column)
    assert is_divisible(column), column
    if not _CHECKS[form].fullmatch(value):
        raise OffsetError(
            f"the checkpoint holds {value!r} as a bound of key column '{column}', which is no valid value."
        )
    if form is ValueForm.TEXT:
        return f"_{_safe(column.charset)} x'{value}' COLLATE {_safe(column.collation)}"
    if form is ValueForm.BYTES:
        return f"x'{value}'"
    if form is ValueForm.TIME:
        return f"TIME'{value}'"
    return f"'{value}'" if form is ValueForm.MOMENT else value


def is_ordered_here(column: KeyColumn) -> bool:
    """Return whether `sort_key` orders values of a column like the server."""
    return form_of(column) is not ValueForm.TEXT


def sort_key(column: KeyColumn, value: str) -> int | Decimal | bytes | str:
    """Return a sort key that orders canonical texts of a column like the server.

    `is_ordered_here` must be true of the column; the value is a canonical text.
    """
    form = form_of(column)
    assert is_ordered_here(column), column
    if form in (ValueForm.NUMBER, ValueForm.STORED_NUMBER):
        return int(value)
    if form is ValueForm.DECIMAL:
        return Decimal(value)
    if form is ValueForm.TIME:
        return _micros(value)
    return bytes.fromhex(value) if form is ValueForm.BYTES else value


def labels(column: KeyColumn) -> tuple[str, ...]:
    """Return the labels of an ENUM column in the order of their numbers, from 1; empty for other types."""
    return members_of(column.column_type) if column.data_type == "enum" else ()


def _micros(value: str) -> int:
    match = _CHECKS[ValueForm.TIME].fullmatch(value)
    assert match is not None, value
    seconds = (int(match["h"]) * 60 + int(match["m"])) * 60 + int(match["s"])
    micros = seconds * 1_000_000 + int((match["f"] or "").ljust(6, "0"))
    return -micros if match["sign"] else micros


def _safe(name: str | None) -> str:
    assert name is not None, "a text column has a character set and a collation"
    assert _NAME.fullmatch(name), name
    return name
