"""Records of several schemas in one batch: each group by its own decoder, the rows in the order of the records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.formats.api.decoder import Decoded, Decoder, statuses_of


@dataclass(frozen=True, slots=True)
class RecordGroup:
    """Records that one decoder decodes.

    Attributes:
        decoder: it, or why the records are bad.
        rows: their indexes in the batch, ascending.
        payloads: as the decoder takes them.
    """

    decoder: Decoder | str
    rows: npt.NDArray[np.intp]
    payloads: pa.Array


def decode_groups(
    schema: pa.Schema, values: pa.Array, groups: Sequence[RecordGroup], reasons: Mapping[int, str]
) -> Decoded:
    """Decode a batch.

    Args:
        schema: the columns, which are those of each decoder.
        values: the payloads; null where there is no value.
        groups: the records that have headers.
        reasons: index -> why a record has none.
    """
    if len(groups) == 1 and len(groups[0].rows) == len(values) and not isinstance(groups[0].decoder, str):
        return groups[0].decoder.decode(groups[0].payloads)
    found_reasons = dict(reasons)
    batches: list[pa.RecordBatch] = [_nulls(schema, 1)]
    sources = np.zeros(len(values), np.int64)
    for group in groups:
        if isinstance(group.decoder, str):
            found_reasons |= dict.fromkeys(group.rows.tolist(), group.decoder)
            continue
        found = group.decoder.decode(group.payloads)
        found_reasons |= {int(group.rows[at]): reason for at, reason in found.reasons.items()}
        sources[group.rows] = sum(map(len, batches)) + np.arange(len(group.rows))
        batches.append(found.columns)
    batch = _in_order(schema, batches, pa.array(sources))
    has_value = np.asarray(values.is_valid())
    return Decoded(columns=batch, statuses=statuses_of(has_value, found_reasons), reasons=found_reasons)


def _in_order(schema: pa.Schema, batches: Sequence[pa.RecordBatch], sources: pa.Array) -> pa.RecordBatch:
    columns = [pa.concat_arrays([batch.column(at) for batch in batches]).take(sources) for at in range(len(schema))]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _nulls(schema: pa.Schema, count: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(count, each.type) for each in schema], schema=schema)
