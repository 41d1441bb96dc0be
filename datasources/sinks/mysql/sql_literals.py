"""Rows as SQL text, column by column.

The text is for a session with NO_BACKSLASH_ESCAPES, in which a text is ended by nothing but a quote, and with UTC as
its time zone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasources.errors import RecordError
from datasources.sinks.mysql.column_checks import ColumnWriter, LiteralKind

_TEXT: Final = pa.large_string()
_MICROS: Final = 6
_MAX_PLAIN_SCALE: Final = 6
"""Up to this scale Arrow writes decimals without an exponent."""


def row_texts(rows: pa.RecordBatch | pa.Table, writers: Sequence[ColumnWriter]) -> pa.Array:
    """Return each row as `(1,'a',NULL)`; the first columns of the rows are those of the writers.

    Raises:
        RecordError: a value that its column would not store as it is.
    """
    literals = [literals_of(_whole(rows.column(writer.name)), writer) for writer in writers]
    joined = pc.binary_join_element_wise(*literals, pa.scalar(",", _TEXT))
    return pc.binary_join_element_wise(pa.scalar("(", _TEXT), joined, pa.scalar(")", _TEXT), pa.scalar("", _TEXT))


def statement_texts(rows: pa.Array, *, max_rows: int, max_characters: int) -> Iterator[tuple[int, str]]:
    """Yield numbers of rows, and their texts with commas between: as many as the limits allow, at least one."""
    lengths = np.cumsum(pc.utf8_length(rows).to_numpy(zero_copy_only=False))
    start = 0
    while start < len(rows):
        before = lengths[start - 1] if start else 0
        end = int(np.searchsorted(lengths, before + max_characters, side="right"))
        end = min(max(end, start + 1), start + max_rows)
        yield end - start, ",".join(rows.slice(start, end - start).to_pylist())
        start = end


def literals_of(values: pa.Array, writer: ColumnWriter) -> pa.Array:
    """Return the values of a column as SQL text.

    Raises:
        RecordError: a value that the column would not store as it is.
    """
    return pc.fill_null(_LITERALS[writer.kind](values, writer), "NULL")


def _boolean(values: pa.Array, _: ColumnWriter) -> pa.Array:
    return pc.if_else(values, pa.scalar("1", _TEXT), pa.scalar("0", _TEXT))


def _number(values: pa.Array, _: ColumnWriter) -> pa.Array:
    return pc.cast(values, _TEXT)


def _decimal(values: pa.Array, _: ColumnWriter) -> pa.Array:
    if values.type.scale <= _MAX_PLAIN_SCALE:
        return pc.cast(values, _TEXT)
    return pa.array([None if each is None else format(each, "f") for each in values.to_pylist()], _TEXT)


def _float(values: pa.Array, writer: ColumnWriter) -> pa.Array:
    if not pc.all(pc.is_finite(values), min_count=0).as_py():
        _refuse(writer, "is NaN or infinite, which MySQL does not have", "nullif() or a condition leaves it out")
    # Of a FLOAT the shortest text is another DOUBLE.
    return pc.cast(pc.cast(values, pa.float64()), _TEXT)


def _text(values: pa.Array, writer: ColumnWriter) -> pa.Array:
    texts = pc.cast(values, _TEXT)
    if writer.max_length is not None and _any(pc.greater(pc.utf8_length(texts), writer.max_length)):
        _refuse(writer, f"is longer than {writer.max_length} characters", "let the target's column be longer")
    if writer.refuses_blanks_at_end and _any(pc.ends_with(texts, " ")):
        _refuse(
            writer,
            "ends with a blank, which the target's column does not distinguish from none",
            "rtrim() removes it, and VARCHAR with a collation that does not pad (utf8mb4_0900_bin) keeps it",
        )
    return _between("'", pc.replace_substring(texts, "'", "''"), "'")


def _bytes(values: pa.Array, writer: ColumnWriter) -> pa.Array:
    lengths = pc.binary_length(values)
    if writer.max_length is not None and _any(pc.greater(lengths, writer.max_length)):
        _refuse(writer, f"is longer than {writer.max_length} bytes", "let the target's column be longer")
    if writer.min_length and _any(pc.less(lengths, writer.min_length)):
        _refuse(writer, f"is shorter than the {writer.min_length} bytes of BINARY", "VARBINARY keeps its length")
    return pa.array([None if each is None else f"X'{each.hex()}'" for each in values.to_pylist()], _TEXT)


def _date(values: pa.Array, _: ColumnWriter) -> pa.Array:
    return _between("DATE'", pc.cast(values, _TEXT), "'")


def _datetime(values: pa.Array, writer: ColumnWriter) -> pa.Array:
    times = pc.cast(values, pa.timestamp("us"))  # an instant: in UTC
    unit = 10 ** (_MICROS - writer.fraction)
    micros = pc.cast(times, pa.int64())
    if unit > 1 and _any(pc.not_equal(pc.multiply(pc.divide(micros, unit), unit), micros)):
        _refuse(
            writer,
            f"has more than the {writer.fraction} digits of a second of the target's column",
            "let that be DATETIME(6) or TIMESTAMP(6), or write date_trunc() in the query",
        )
    return _between("TIMESTAMP'", pc.cast(times, _TEXT), "'")


_LITERALS: Final[Mapping[LiteralKind, Callable[[pa.Array, ColumnWriter], pa.Array]]] = {
    LiteralKind.BOOLEAN: _boolean,
    LiteralKind.NUMBER: _number,
    LiteralKind.DECIMAL: _decimal,
    LiteralKind.FLOAT: _float,
    LiteralKind.TEXT: _text,
    LiteralKind.BYTES: _bytes,
    LiteralKind.DATE: _date,
    LiteralKind.DATETIME: _datetime,
}


def _between(before: str, texts: pa.Array, after: str) -> pa.Array:
    return pc.binary_join_element_wise(pa.scalar(before, _TEXT), texts, pa.scalar(after, _TEXT), pa.scalar("", _TEXT))


def _any(condition: pa.Array) -> bool:
    return bool(pc.any(condition, min_count=0).as_py())


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _refuse(writer: ColumnWriter, what: str, instead: str) -> None:
    raise RecordError(f"a value of column '{writer.name}' {what}: it would be stored as another one; {instead}.")
