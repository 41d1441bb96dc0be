"""The format `json`: one object in each record, decoded as Spark's `from_json` does it in FAILFAST mode.

Theory of operation: most documents are decoded in batches by DuckDB (`json_quick`), which is only asked for those whose
result is known to be Spark's; every other document is decoded by itself (`json_exact`). Which way a document takes is
never visible in its row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasources.errors import OptionError, SchemaError
from datasources.formats.ddl_types import type_text
from datasources.formats.decoded import Decoded, RecordStatus
from datasources.formats.json_exact import BadRecord, ExactDecoder
from datasources.formats.json_quick import Part, QuickDecoder, with_rows
from datasources.formats.zones import Zone, find_zone

__all__ = ["JsonDecoder"]


@dataclass(frozen=True, slots=True)
class JsonDecoder:
    """Decodes JSON objects into the columns of a schema.

    It is configuration until its first batch, and is pickled as such; what it learns about the documents stays in the
    process. Not for use by several threads at once.

    Attributes:
        schema: the columns with their nullability as declared; `ddl.parse_schema` makes one.
        time_zone: where timestamps without a zone were written, by any name that Spark knows; None refuses them.
        columns: the columns to decode, the others are null; None decodes all. A record is bad or not regardless of it.

    Raises:
        SchemaError: the schema has a type that JSON cannot carry, or lacks one of `columns`.
        OptionError: there is no such time zone.
    """

    schema: pa.Schema
    time_zone: str | None = field(kw_only=True)
    columns: tuple[str, ...] | None = field(default=None, kw_only=True)
    _engine: list[_Engine] = field(init=False, repr=False, compare=False, default_factory=list)

    def __post_init__(self) -> None:
        for column in self.schema:
            _check_type(column.name, column.type)
        unknown = set(self.columns or ()) - set(self.schema.names)
        if unknown:
            raise SchemaError(f"the schema has no column {', '.join(sorted(unknown))}; it has {self.schema.names}")
        _zone(self.time_zone)

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self.schema, self.time_zone, self.columns)

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch; see `Decoder.decode`."""
        if not self._engine:
            self._engine.append(_Engine(self.schema, self.columns, _zone(self.time_zone)))
        return self._engine[0].decode(values)


class _Engine:
    """The two ways of decoding, and the putting together of what they give."""

    def __init__(self, schema: pa.Schema, columns: tuple[str, ...] | None, zone: Zone | None) -> None:
        self._schema = schema
        wanted = set(schema.names if columns is None else columns)
        self._wanted = [at for at, f in enumerate(schema) if f.name in wanted]
        self._quick = QuickDecoder(schema, [schema.names[at] for at in self._wanted], zone)
        self._exact = ExactDecoder(schema, zone)

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch; see `Decoder.decode`."""
        part = self._quick.decode(_texts(values))
        has_value = np.asarray(values.is_valid())
        left = np.flatnonzero(has_value if part is None else has_value & ~part.is_done)
        rows, reasons = self._exact_rows(values, left)
        statuses = None
        if reasons or values.null_count:
            statuses = np.where(has_value, np.uint8(RecordStatus.OK), np.uint8(RecordStatus.NULL_VALUE))
            statuses[list(reasons)] = RecordStatus.BAD
        return Decoded(columns=self._assembled(len(values), part, left, rows), statuses=statuses, reasons=reasons)

    def _exact_rows(
        self, values: pa.Array, left: npt.NDArray[np.intp]
    ) -> tuple[list[Sequence[object]], dict[int, str]]:
        rows: list[Sequence[object]] = []
        reasons: dict[int, str] = {}
        bad_row = (None,) * len(self._schema)
        for index in left.tolist():
            try:
                rows.append(self._exact.row(values[index].as_buffer().to_pybytes()))
            except BadRecord as reason:
                rows.append(bad_row)
                reasons[index] = str(reason)
        return rows, reasons

    def _assembled(
        self, count: int, part: Part | None, left: npt.NDArray[np.intp], rows: list[Sequence[object]]
    ) -> pa.RecordBatch:
        arrays = [None] * len(self._schema)
        for position, at in enumerate(self._wanted):
            arrow = self._schema.types[at]
            quick = pa.nulls(count, arrow) if part is None else part.columns[position]
            exact = pa.array([row[at] for row in rows], arrow)
            arrays[at] = with_rows(quick, left, exact) if len(left) else quick
        for at, array in enumerate(arrays):
            if array is None:
                arrays[at] = pa.nulls(count, self._schema.types[at])
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _texts(values: pa.Array) -> pa.Array:
    """Return the payloads as strings; null where they are no UTF-8, which the exact way has to judge."""
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([_text_or_none(value) for value in values.to_pylist()], pa.string())


def _text_or_none(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def _zone(name: str | None) -> Zone | None:
    if name is None:
        return None
    zone = find_zone(name)
    if zone is None:
        raise OptionError(
            f"there is no time zone '{name}'; give 'scan.session.time-zone' a region such as Europe/Berlin, "
            "or an offset such as +02:00"
        )
    return zone


def _check_type(path: str, arrow: pa.DataType) -> None:
    if pa.types.is_struct(arrow):
        for inner in arrow:
            _check_type(f"{path}.{inner.name}", inner.type)
    elif pa.types.is_list(arrow):
        _check_type(f"{path}[]", arrow.value_type)
    elif pa.types.is_map(arrow):
        if arrow.key_type != pa.string():
            raise SchemaError(f"column '{path}': the names in a JSON object are text; declare MAP<STRING, ...>")
        _check_type(f"{path}[]", arrow.item_type)
    else:
        type_text(arrow)


def _unpickled(schema: pa.Schema, time_zone: str | None, columns: tuple[str, ...] | None) -> JsonDecoder:
    return JsonDecoder(schema, time_zone=time_zone, columns=columns)
