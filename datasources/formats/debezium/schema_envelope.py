"""Debezium records that carry their schema: `{"schema": {...}, "payload": event}`.

Theory of operation: the schema is many times longer than the event, and its text is the same in many records. So the
text before the event, the head, is taken from one parsed record and cached while records use it; records that begin
with the same bytes and end with a brace hold their event in between. Events that the decoder rejects, and records with
another head, are decoded as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasources.formats.api.decoder import RecordStatus, statuses_of
from datasources.formats.columns.partial_rows import with_rows
from datasources.formats.json.json_engine import JsonColumns, JsonEngine
from datasources.formats.json.text.json_scanner import MAX_DEPTH
from datasources.formats.values.usage_cache import UsageCache
from datasources.grammar.zones import Zone

_NO_PAYLOAD = (
    "it has no \"payload\"; if there is no schema around the event, set 'debezium-json.schema-include' to 'false'"
)
_MAX_HEADS = 8
_SAMPLES = 4
_SCHEMA = re.compile(r'[ \t\n\r]*\{[ \t\n\r]*"schema"[ \t\n\r]*:[ \t\n\r]*')
_PAYLOAD = re.compile(r'[ \t\n\r]*,[ \t\n\r]*"payload"[ \t\n\r]*:[ \t\n\r]*')


class PayloadEngine:
    """Decodes the member `payload` of documents as `JsonEngine` decodes whole documents."""

    def __init__(self, schema: pa.Schema, wanted: Sequence[pa.Field], zone: Zone | None) -> None:
        self._types = [f.type for f in wanted]
        self._inner = JsonEngine(schema, wanted, zone)
        payload = pa.field("payload", pa.struct(list(schema)))
        self._outer = JsonEngine(pa.schema([payload]), [pa.field("payload", pa.struct(list(wanted)))], zone)
        self._heads: UsageCache[bytes] = UsageCache(_MAX_HEADS)

    def decode(self, values: pa.Array) -> JsonColumns:
        """Decode one batch of payloads, `pa.binary()`; null stands for a Kafka null value."""
        payloads = self._payloads(values)
        found = self._inner.decode(payloads)
        has_value = np.asarray(values.is_valid())
        is_done = np.asarray(payloads.is_valid())
        if found.statuses is not None:
            is_done &= found.statuses == RecordStatus.OK
        remaining = np.flatnonzero(has_value & ~is_done)
        if not len(remaining):
            return JsonColumns(columns=found.columns, statuses=statuses_of(has_value, {}), reasons={})
        columns, reasons = self._wrapped(values, remaining)
        return JsonColumns(
            columns=[with_rows(fast, remaining, slow) for fast, slow in zip(found.columns, columns, strict=True)],
            statuses=statuses_of(has_value, reasons),
            reasons=reasons,
        )

    def _payloads(self, values: pa.Array) -> pa.Array:
        """Return the events of records with a known head; null for the others."""
        found = pa.nulls(len(values), pa.binary())
        for _ in range(2):
            for head in self._heads:
                starts = pc.and_(pc.starts_with(values, pattern=head), pc.ends_with(values, pattern=b"}"))
                events = pc.binary_slice(values, len(head), -1)
                is_new = pc.and_(starts, found.is_null()).fill_null(False)
                self._heads.count(head, is_new.true_count)
                found = pc.if_else(is_new, events, found)
            remaining = np.flatnonzero(np.asarray(pc.and_(values.is_valid(), found.is_null())))
            if not len(remaining) or not self._add_heads(values, remaining):
                break
        self._heads.end_batch()
        return found

    def _add_heads(self, values: pa.Array, remaining: npt.NDArray[np.intp]) -> bool:
        """Add the heads of a sample of the records; return whether one is new."""
        known = len(self._heads)
        for row in remaining[:: max(1, len(remaining) // _SAMPLES)][:_SAMPLES].tolist():
            head = _head_of(values[row].as_py())
            if head is not None:
                self._heads.add(head)
        return len(self._heads) > known

    def _wrapped(self, values: pa.Array, rows: npt.NDArray[np.intp]) -> tuple[list[pa.Array], dict[int, str]]:
        """Decode records as a whole; return the columns, and why a record of the batch is bad."""
        found = self._outer.decode(values.take(pa.array(rows)))
        reasons = {int(rows[at]): reason for at, reason in found.reasons.items()}
        payload = found.columns[0]
        for at in np.flatnonzero(~np.asarray(payload.is_valid())).tolist():
            reasons.setdefault(int(rows[at]), _NO_PAYLOAD)
        return payload.flatten(), reasons


def _head_of(value: bytes) -> bytes | None:
    """Return the bytes before the event, if the record is a schema followed by an event."""
    try:
        text = value.decode()
        start = _SCHEMA.match(text)
        if start is None or text.count("[") + text.count("{") > MAX_DEPTH:
            return None
        _, end = json.JSONDecoder().raw_decode(text, start.end())
    except (ValueError, RecursionError):
        return None
    payload = _PAYLOAD.match(text, end)
    return None if payload is None else text[: payload.end()].encode()
