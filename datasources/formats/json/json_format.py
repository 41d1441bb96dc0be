"""The format `json`: one object in each record, decoded as Spark's `from_json` does it in FAILFAST mode."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from datasources.formats.api.decoder import Decoded
from datasources.formats.columns.record_engine import wanted_fields, whole_rows
from datasources.formats.json.json_engine import JsonEngine
from datasources.formats.json.json_types import check_json_types
from datasources.formats.values.session_zone import session_zone


@dataclass(frozen=True, slots=True)
class JsonDecoder:
    """Decodes JSON objects into the columns of a schema.

    It is configuration until its first batch, and is pickled as such; Not thread-safe.

    Attributes:
        schema: the columns with their nullability as declared; `ddl.parse_schema` makes one.
        time_zone: of timestamps without a zone, by any name that Spark knows; None rejects them.
        columns: the columns to decode, the others are null; None decodes all. A record is bad or not regardless of it.
            The type of a STRUCT may have fewer fields than in `schema`.

    Raises:
        SchemaError: the schema has a type that JSON cannot carry, or lacks one of `columns`.
        OptionError: there is no such time zone.
    """

    schema: pa.Schema
    time_zone: str | None = field(kw_only=True)
    columns: tuple[pa.Field, ...] | None = field(default=None, kw_only=True)
    _engine: list[JsonEngine] = field(init=False, repr=False, compare=False, default_factory=list)

    def __post_init__(self) -> None:
        check_json_types(self.schema)
        wanted_fields(self.schema, self.columns)
        session_zone(self.time_zone)

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self.schema, self.time_zone, self.columns)

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch; see `Decoder.decode`."""
        wanted = wanted_fields(self.schema, self.columns)
        if not self._engine:
            self._engine.append(JsonEngine(self.schema, wanted, session_zone(self.time_zone)))
        found = self._engine[0].decode(values)
        batch = whole_rows(self.schema, wanted, found.columns, len(values))
        return Decoded(columns=batch, statuses=found.statuses, reasons=found.reasons)


def _unpickled(schema: pa.Schema, time_zone: str | None, columns: tuple[pa.Field, ...] | None) -> JsonDecoder:
    return JsonDecoder(schema, time_zone=time_zone, columns=columns)
