"""A batch of records to the columns of their fields' texts.

A plain record is one of which any parser makes the same fields: one line, as many fields as columns, no escapes or
comments, quotes around whole fields only. Arrow's parser splits all plain ones at once, one line each; the others are
split one by one (`split_line`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from datasources.formats.csv.dialect import Dialect
from datasources.formats.csv.split_line import BadRecord, line_splitter
from datasources.formats.values.payload_texts import payload_texts

_MAX_QUOTED_COLUMNS: Final = 100
"""Beyond it the pattern of a record with quotes is too large for a fast automaton."""
_MAX_BLOCK: Final = 2**31 - 1
_LINE_END: Final = r"[\r\n]"
_LINE_ENDS: Final = b"\r\n"
_MARK_STARTS: Final = np.frombuffer("\ufeff".encode()[:1], np.uint8)
_COMMENT_STARTS: Final = np.frombuffer(b" #", np.uint8)


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a batch.

    Attributes:
        columns: the texts of the first fields, of the second ones and so on; null where a record has none.
        reasons: of a record why it cannot be split.
    """

    columns: list[pa.Array]
    reasons: dict[int, str]


class BatchSplitter:
    """Splits batches of records. Not thread-safe.

    Args:
        dialect: how they are written.
        columns: how many fields a record has.
    """

    def __init__(self, dialect: Dialect, columns: int) -> None:
        self._dialect = dialect
        self._columns = columns
        self._split = line_splitter(dialect, columns)
        is_simple = dialect.escape is None and (dialect.delimiter + (dialect.quote or "")).isascii()
        self._has_fast_path = is_simple
        self._quoted_line = _pattern(dialect, columns) if is_simple and columns <= _MAX_QUOTED_COLUMNS else None

    def split(self, values: pa.Array) -> Fields:
        """Split records, `pa.binary()`; null stands for a record without a value."""
        has_value = np.asarray(values.is_valid())
        texts = payload_texts(values) if self._has_fast_path else pa.nulls(len(values), pa.string())
        is_plain = self._is_plain(texts)
        columns = self._plain_columns(texts.filter(pa.array(is_plain)))
        if is_plain.all():
            return Fields(columns, {})
        others = np.flatnonzero(has_value & ~is_plain)
        rows, reasons = self._rows(values, others)
        sources = np.zeros(len(values), np.int64)
        sources[is_plain] = np.arange(np.count_nonzero(is_plain))
        sources[others] = np.count_nonzero(is_plain) + np.arange(len(others))
        indexes = pa.array(sources, mask=~has_value)
        slow = [
            pa.array([None if row is None else row[at] for row in rows], pa.string()) for at in range(self._columns)
        ]
        both = [pa.concat_arrays(pair) for pair in zip(columns, slow, strict=True)]
        return Fields([each.take(indexes) for each in both], reasons)

    def _is_plain(self, texts: pa.Array) -> npt.NDArray[np.bool_]:
        """Return which records are plain."""
        if not self._has_fast_path:
            return np.zeros(len(texts), np.bool_)
        delimiter, quote = self._dialect.delimiter, self._dialect.quote
        content = _content(texts)
        has_fields = pc.equal(pc.count_substring(texts, delimiter), self._columns - 1)
        if quote is not None and bool((content == ord(quote)).any()):
            has_fields = pc.if_else(pc.match_substring(texts, quote), self._in_quotes(texts), has_fields)
        if any((content == each).any() for each in _LINE_ENDS):
            has_fields = pc.and_(has_fields, pc.invert(pc.match_substring_regex(texts, _LINE_END)))
        is_plain = np.asarray(has_fields.fill_null(False))
        return is_plain & _begins_plainly(texts, content, has_comments=self._dialect.has_comments)

    def _in_quotes(self, texts: pa.Array) -> pa.Array:
        """Return which records have as many fields as columns, and quotes around whole ones only."""
        if self._quoted_line is None:
            return pa.repeat(pa.scalar(False), len(texts))
        return pc.match_substring_regex(texts, self._quoted_line)

    def _plain_columns(self, lines: pa.Array) -> list[pa.Array]:
        """Return the fields of plain records by Arrow's parser."""
        if not len(lines):
            return [pa.array([], pa.string()) for _ in range(self._columns)]
        joined = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines), "\n")[0]
        names = [str(at) for at in range(self._columns)]
        table = arrow_csv.read_csv(
            pa.BufferReader(joined.as_buffer()),
            arrow_csv.ReadOptions(
                use_threads=False, block_size=min(_MAX_BLOCK, joined.as_buffer().size + 1), column_names=names
            ),
            arrow_csv.ParseOptions(
                delimiter=self._dialect.delimiter,
                quote_char=self._dialect.quote or False,
                double_quote=True,
                escape_char=False,
                newlines_in_values=False,
                ignore_empty_lines=False,
            ),
            arrow_csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[],
                strings_can_be_null=False,
            ),
        )
        assert len(table) == len(lines)
        return [column.combine_chunks() for column in table.columns]

    def _rows(self, values: pa.Array, indexes: npt.NDArray[np.intp]) -> tuple[list[list[str] | None], dict[int, str]]:
        """Return the fields of records one by one, and why some have none."""
        rows: list[list[str] | None] = []
        reasons: dict[int, str] = {}
        for index in indexes.tolist():
            try:
                rows.append(self._split(values[index].as_py()))
            except BadRecord as reason:
                rows.append(None)
                reasons[index] = str(reason)
        return rows, reasons


def _content(texts: pa.Array) -> npt.NDArray[np.uint8]:
    """Return the bytes of all texts."""
    _, offsets, data = texts.buffers()
    if data is None:
        return np.zeros(0, np.uint8)
    ends = np.frombuffer(offsets, np.int32, len(texts) + 1, texts.offset * 4)
    return np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]


def _begins_plainly(texts: pa.Array, content: npt.NDArray[np.uint8], *, has_comments: bool) -> npt.NDArray[np.bool_]:
    """Return which texts are not empty, and begin with no byte order mark or what comments may begin with."""
    _, offsets, _ = texts.buffers()
    ends = np.frombuffer(offsets, np.int32, len(texts) + 1, texts.offset * 4)
    is_plain = ends[1:] > ends[:-1]
    firsts = content[ends[:-1][is_plain] - ends[0]]
    unusual = np.concatenate([_MARK_STARTS, _COMMENT_STARTS]) if has_comments else _MARK_STARTS
    is_plain[is_plain] = ~np.isin(firsts, unusual)
    return is_plain


def _pattern(dialect: Dialect, columns: int) -> str | None:
    """Return the pattern of a plain record that has quotes; None = no record can."""
    if dialect.quote is None:
        return None
    quote, delimiter = (_as_pattern(each) for each in (dialect.quote, dialect.delimiter))
    field = rf"(?:{quote}(?:[^{quote}\r\n]|{quote}{quote})*{quote}|[^{quote}{delimiter}\r\n]*)"
    return rf"\A{field}(?:{delimiter}{field}){{{columns - 1}}}\z"


def _as_pattern(character: str) -> str:
    """Return a character of ASCII as RE2 reads it, also within brackets."""
    return rf"\x{ord(character):02x}"
