"""Headers as columns: lists as Spark has them, and maps as Flink has them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from datasources.kafka.client.record_columns import Headers, Records


def header_lists(records: Records, kind: pa.ListType, *, nulls: bool) -> pa.ListArray:
    """Return each record's headers in their order; with `nulls`, null where it has none, else an empty list."""
    found = records.headers()
    entries = pa.StructArray.from_arrays([found.names, found.contents], fields=list(kind.value_type))
    valid = None
    if nulls and not found.has_headers.all():
        valid = pa.py_buffer(np.packbits(found.has_headers, bitorder="little"))
    return pa.Array.from_buffers(kind, len(records), [valid, pa.py_buffer(found.ends)], children=[entries])


def header_maps(records: Records, kind: pa.MapType) -> pa.MapArray:
    """Return each record's headers by name; of two of one name the later value counts, at the position of the first."""
    found = records.headers()
    if _has_names_twice(found):
        entries = list(zip(found.names.to_pylist(), found.contents.to_pylist(), strict=True))
        edges = zip(found.ends[:-1], found.ends[1:], strict=True)
        return pa.array([list(dict(entries[start:end]).items()) for start, end in edges], kind)
    return pa.MapArray.from_arrays(pa.array(found.ends), found.names, found.contents).cast(kind)


def _has_names_twice(found: Headers) -> bool:
    """Whether a record has two headers of one name."""
    names = np.asarray(found.names.dictionary_encode().indices, np.int64)
    records = np.repeat(np.arange(len(found.ends) - 1), np.diff(found.ends))
    return len(np.unique(records * (len(names) + 1) + names)) < len(names)
