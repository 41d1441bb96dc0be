"""Decodes batches of binary records, each on the fastest path that decodes it exactly: in C or in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from datasources.arrow_types import widened
from datasources.errors import SchemaError
from datasources.formats.api.decoder import Decoded, statuses_of
from datasources.formats.columns.partial_rows import PartialRows, completed, nothing_done


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingPaths:
    """The paths that records may take.

    Attributes:
        native: decodes those of which it is certain, into the wanted columns; None = there is no C library.
        row: decodes any record into the values of all columns.
        bad: what it raises for a bad one; its text is the reason.
    """

    native: Callable[[pa.Array], PartialRows] | None
    row: Callable[[bytes], Sequence[object]]
    bad: type[Exception]


def wanted_fields(schema: pa.Schema, wanted: Sequence[pa.Field] | None) -> list[pa.Field]:
    """Return the columns that are decoded, in the order of the schema; None = all.

    Raises:
        SchemaError: the schema lacks one of them.
    """
    if wanted is None:
        return list(schema)
    found = {each.name: each for each in wanted}
    unknown = found.keys() - set(schema.names)
    if unknown:
        raise SchemaError(f"the schema has no column {', '.join(sorted(unknown))}; it has {schema.names}")
    return [found[name] for name in schema.names if name in found]


def whole_rows(
    schema: pa.Schema, wanted: Sequence[pa.Field], columns: Sequence[pa.Array], count: int
) -> pa.RecordBatch:
    """Return rows of a schema of which some columns are decoded; the others are null."""
    found = {field.name: array for field, array in zip(wanted, columns, strict=True)}
    arrays = [widened(found[f.name], f.type) if f.name in found else pa.nulls(count, f.type) for f in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


class RecordEngine:
    """Decodes batches of records. Not thread-safe.

    Args:
        paths: what decodes records; whether one is bad does not depend on what is wanted.
        schema: all columns.
        wanted: those to decode, the others are null. The type of a STRUCT may have fewer fields than in `schema`.
    """

    def __init__(self, paths: DecodingPaths, schema: pa.Schema, wanted: Sequence[pa.Field]) -> None:
        self._paths = paths
        self._schema = schema
        self._wanted = wanted
        self._column_indexes = [schema.get_field_index(f.name) for f in wanted]

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch of payloads, `pa.binary()`; null stands for a Kafka null value."""
        native = self._paths.native
        partial = nothing_done(len(values), [f.type for f in self._wanted]) if native is None else native(values)
        found, reasons = completed(
            partial, values, row=self._paths.row, bad=self._paths.bad, positions=self._column_indexes
        )
        batch = whole_rows(self._schema, self._wanted, found, len(values))
        return Decoded(columns=batch, statuses=statuses_of(np.asarray(values.is_valid()), reasons), reasons=reasons)
