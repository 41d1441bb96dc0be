"""Decoded record keys and their errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from datasources.formats.api.decoder import Decoded, RecordStatus
from datasources.kafka.record.record_layout import RecordLayout


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedKeys:
    """Decoded keys.

    Attributes:
        decoded: a row for each record.
        names: column -> its name in the key.
        problems: record -> why its key makes it bad.
    """

    decoded: Decoded
    names: Mapping[str, str]
    problems: Mapping[int, str]

    def has(self, column: str) -> bool:
        """Return whether the key holds a column."""
        return column in self.names

    def column(self, column: str, values: Decoded) -> pa.Array:
        """Return a column of the rows of `values`; null where a record is not OK."""
        found = self.decoded.columns.column(self.names[column])
        if values.statuses is None and values.records is None:
            return found
        records = np.arange(len(found)) if values.records is None else values.records
        mask = None if values.statuses is None else values.statuses[records] != RecordStatus.OK
        return found.take(pa.array(records, mask=mask))


def check_keys(decoded: Decoded, layout: RecordLayout, schema: pa.Schema) -> DecodedKeys:
    """Return the keys with their errors: a key that cannot be decoded, or a missing key where a column is NOT NULL.

    A record without a key has null key columns. In an upsert table it is bad: it identifies no row.
    """
    names = dict(layout.key_columns)
    problems = {record: f"its key: {reason}" for record, reason in decoded.reasons.items()}
    if decoded.statuses is None:
        return DecodedKeys(decoded=decoded, names=names, problems=problems)
    required = next((name for name in layout.only_in_key if not schema.field(name).nullable), None)
    why = None
    if layout.is_upsert:
        why = "it has no key, and the key identifies the row"
    elif required is not None:
        why = f"column '{required}' is NOT NULL and the record has no key"
    if why is not None:
        for record in np.flatnonzero(decoded.statuses == RecordStatus.NULL_VALUE).tolist():
            problems[record] = why
    return DecodedKeys(decoded=decoded, names=names, problems=problems)


def with_bad_keys(values: Decoded, problems: Mapping[int, str], count: int) -> Decoded:
    """Return the rows with records that have a problem marked bad: one row of nulls each.

    A record that is already bad keeps its reason; one without a value is skipped and not marked.
    """
    statuses = np.zeros(count, dtype=np.uint8) if values.statuses is None else values.statuses.copy()
    worse = [record for record in problems if statuses[record] == RecordStatus.OK]
    if not worse:
        return values
    statuses[worse] = RecordStatus.BAD
    records = np.arange(count) if values.records is None else values.records
    is_first = np.r_[True, records[1:] != records[:-1]]
    is_worse = np.isin(records, worse)
    rows = np.flatnonzero(is_first | ~is_worse)
    return replace(
        values,
        columns=values.columns.take(pa.array(rows, mask=is_worse[rows])),
        statuses=statuses,
        reasons={**values.reasons, **{record: problems[record] for record in worse}},
        records=None if values.records is None else records[rows],
        kinds=None if values.kinds is None else values.kinds[rows],
    )
