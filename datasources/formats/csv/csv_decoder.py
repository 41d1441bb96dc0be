"""The decoder of the format `csv`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.errors import SchemaError
from datasources.formats.api.decoder import Decoded, statuses_of
from datasources.formats.csv.csv_types import check_csv_types
from datasources.formats.csv.dialect import Dialect
from datasources.formats.csv.field_columns import FieldColumn
from datasources.formats.csv.split_batch import BatchSplitter
from datasources.formats.values.session_zone import session_zone


@dataclass(frozen=True, slots=True)
class CsvDecoder:
    """Decodes lines of CSV into the columns of a schema, in their order.

    It is configuration until its first batch, and is pickled as such. Not thread-safe.

    Attributes:
        schema: the columns with their nullability as declared.
        dialect: how records are written.
        time_zone: of timestamps without a zone, by any name that Spark knows; None rejects them.
        columns: the columns to decode, the others are null; None decodes all. A record is bad or not regardless of it.

    Raises:
        SchemaError: the schema has a type that no field can have, or lacks one of `columns`.
        OptionError: there is no such time zone.
    """

    schema: pa.Schema
    dialect: Dialect
    time_zone: str | None = field(kw_only=True)
    columns: tuple[str, ...] | None = field(default=None, kw_only=True)
    _parsers: list[tuple[BatchSplitter, list[FieldColumn]]] = field(
        init=False, repr=False, compare=False, default_factory=list
    )

    def __post_init__(self) -> None:
        check_csv_types(self.schema)
        unknown = set(self.columns or ()) - set(self.schema.names)
        if unknown:
            raise SchemaError(f"the schema has no column {', '.join(sorted(unknown))}; it has {self.schema.names}")
        session_zone(self.time_zone)

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self.schema, self.dialect, self.time_zone, self.columns)

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch; see `Decoder.decode`."""
        values = values.cast(pa.binary())
        splitter, makers = self._opened()
        fields = splitter.split(values)
        has_value = np.asarray(values.is_valid())
        reasons = dict(fields.reasons)
        columns = []
        for declared, maker, texts in zip(self.schema, makers, fields.columns, strict=True):
            column, wrong = maker.values(texts)
            reasons = {**{row: f"column '{declared.name}' {why}" for row, why in wrong.items()}, **reasons}
            if not declared.nullable and column.null_count:
                reasons = {**_missing(declared.name, column, has_value), **reasons}
            columns.append(column if self._is_wanted(declared.name) else pa.nulls(len(values), declared.type))
        if reasons:
            columns = _without(columns, list(reasons), len(values))
        batch = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        return Decoded(columns=batch, statuses=statuses_of(has_value, reasons), reasons=reasons)

    def _opened(self) -> tuple[BatchSplitter, list[FieldColumn]]:
        if not self._parsers:
            zone = session_zone(self.time_zone)
            makers = [FieldColumn(each.type, self.dialect, zone) for each in self.schema]
            self._parsers.append((BatchSplitter(self.dialect, len(self.schema)), makers))
        return self._parsers[0]

    def _is_wanted(self, name: str) -> bool:
        return self.columns is None or name in self.columns


def _missing(name: str, column: pa.Array, has_value: npt.NDArray[np.bool_]) -> dict[int, str]:
    """Return the reason of each record that has a null in a column that is NOT NULL."""
    rows = np.flatnonzero(has_value & ~np.asarray(column.is_valid())).tolist()
    return dict.fromkeys(rows, f"column '{name}' is NOT NULL and the record has no value for it")


def _without(columns: list[pa.Array], rows: list[int], count: int) -> list[pa.Array]:
    """Return columns with nulls in some rows."""
    is_null = np.zeros(count, np.bool_)
    is_null[rows] = True
    indexes = pa.array(np.arange(count), mask=is_null)
    return [each.take(indexes) for each in columns]


def _unpickled(
    schema: pa.Schema, dialect: Dialect, time_zone: str | None, columns: tuple[str, ...] | None
) -> CsvDecoder:
    return CsvDecoder(schema, dialect, time_zone=time_zone, columns=columns)
