"""Updates that change JSON documents in part (binlog_row_value_options=PARTIAL_JSON).

The before image is a usual one. In the after image, a flag marks partial documents; then one bit per JSON column marks
which are partial, and such a value is a list of changes to the before image's document. These events are read row by
row: they are rare, and their cost is in the documents.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from datasources.errors import RecordError
from datasources.mysql.binlog.events.blocks import HEADER_BYTES, EventBlock
from datasources.mysql.binlog.events.cursor import ByteCursor
from datasources.mysql.binlog.rows.row_batch import BinlogRows, RowKind, decode_columns
from datasources.mysql.binlog.rows.row_layout import ColumnSpans, RowLayout
from datasources.mysql.binlog.rows.runs import KnownTable, RunPositions
from datasources.mysql.binlog.rows.transaction_log import TransactionLog
from datasources.mysql.types.column import Kind
from datasources.mysql.types.decoders.cells import Bytes, read_little
from datasources.mysql.types.decoders.json.json_binary import parse_json
from datasources.mysql.types.decoders.json.json_diff import apply_json_diffs
from datasources.mysql.types.decoders.json.json_text import json_text

_COUNT_AT: Final = HEADER_BYTES + 8
_SECOND_US: Final = 1_000_000
_Span = tuple[int, int, bool]


def decode_partial_updates(
    event: EventBlock, known: KnownTable, positions: RunPositions, log: TransactionLog
) -> BinlogRows:
    """Return the rows of a PARTIAL_UPDATE_ROWS event, with whole documents.

    Raises:
        RecordError: a change does not apply to the before image's document.
    """
    layout, capture = known.layout, known.capture
    assert layout is not None
    assert capture is not None
    rows, documents = _walk(layout, event, reads_documents=True)
    table = layout.table
    columns = [_column_spans(column) for column in zip(*rows, strict=True)]
    images = decode_columns(table, event.data, columns, wanted=capture.columns, zero_dates=capture.zero_dates)
    count = len(rows)
    times_us = np.repeat(event.times_s * _SECOND_US, count)
    transactions = log.transactions_in(event, np.zeros(0, np.int64), positions.begins)
    commit_us = transactions.commit_us[np.zeros(count, np.int64)]
    first_row = positions.first_row or 0
    return BinlogRows(
        table=table,
        images=_with_documents(images, documents),
        row_kind=np.tile(np.array([RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER], np.int8), count // 2),
        file=positions.file,
        pos=np.repeat(positions.begins, count),
        begin=transactions.begin[np.zeros(count, np.int64)],
        row=(first_row + np.arange(count) // 2).astype(np.int32),
        op_ts_us=np.where(commit_us == 0, times_us, commit_us),
        source_ts_us=times_us,
        transactions=log.ids(transactions, np.zeros(count, np.int64)),
    )


def count_partial_updates(event: EventBlock, known: KnownTable) -> int:
    """Return how many rows a PARTIAL_UPDATE_ROWS event of a captured table changes, without decoding documents."""
    assert known.layout is not None
    rows, _ = _walk(known.layout, event, reads_documents=False)
    return len(rows) // 2


def _walk(
    layout: RowLayout, event: EventBlock, *, reads_documents: bool
) -> tuple[list[list[_Span]], dict[tuple[int, str], str]]:
    """Return per image the spans of its values, and the partial documents: (image, column) to text."""
    data, end = event.data, int(event.ends[0])
    begins = event.starts + _COUNT_AT
    begins = begins + read_little(data, begins, 2).view(np.int64)
    at = int(layout.image_begins(data, begins, bitmaps=2)[0])
    images: list[list[_Span]] = []
    documents: dict[tuple[int, str], str] = {}
    json_columns = [i for i, column in enumerate(layout.table.columns) if column.type.kind is Kind.JSON]
    while at < end:
        before, at = _image(layout, data, at)
        cursor = ByteCursor(data[at:end].tobytes())
        is_partial: set[int] = set()
        if cursor.counted() & 1:
            bits = cursor.number((len(json_columns) + 7) // 8)
            is_partial = {column for bit, column in enumerate(json_columns) if bits >> bit & 1}
        after, at = _image(layout, data, at + cursor.at)
        images += [before, after]
        for index in is_partial:
            name = layout.table.names[index]
            old, new = before[index], after[index]
            if new[2] or not reads_documents:
                continue
            tree = apply_json_diffs(parse_json(_bytes(data, old)), _bytes(data, new))
            documents[len(images) - 1, name] = json_text(tree)
            after[index] = (new[0], 0, False)  # decoded as an empty document, then replaced
    if at != end:
        raise RecordError(f"a partial update of {layout.table} does not end where its last row does.")
    return images, documents


def _image(layout: RowLayout, data: Bytes, at: int) -> tuple[list[_Span], int]:
    nulls = int.from_bytes(data[at : at + layout.null_bytes].tobytes(), "little")
    at += layout.null_bytes
    image: list[_Span] = []
    for index, column in enumerate(layout.table.columns):
        if nulls >> index & 1:
            image.append((at, 0, True))
            continue
        length = column.size
        if column.prefix:
            length = int.from_bytes(data[at : at + column.prefix].tobytes(), "little")
            at += column.prefix
        image.append((at, length, False))
        at += length
    return image, at


def _bytes(data: Bytes, span: _Span) -> bytes:
    return data[span[0] : span[0] + span[1]].tobytes()


def _column_spans(column: tuple[_Span, ...]) -> ColumnSpans:
    at, lengths, is_null = (np.array(values) for values in zip(*column, strict=True))
    return ColumnSpans(at.astype(np.int64), lengths.astype(np.int64), is_null.astype(np.bool_))


def _with_documents(images: pa.RecordBatch, documents: dict[tuple[int, str], str]) -> pa.RecordBatch:
    for name in {name for _, name in documents}:
        index = images.schema.get_field_index(name)
        if index >= 0:
            texts = images.column(index).to_pylist()
            for (row, column), text in documents.items():
                if column == name:
                    texts[row] = text
            images = images.set_column(index, name, pa.array(texts, pa.string()))
    return images
