"""The format `debezium-json`: change events as Debezium writes them, decoded into the rows of a changelog.

An event is an envelope `{"before": row, "after": row, "op": "u", "ts_ms": ..., "source": {...}}`. What it gives:

| op | rows |
|---|---|
| c, r | `after` as +I |
| u | `before` as -U, then `after` as +U |
| d | `before` as -D |
| t | one row without values, T |

The envelope is a JSON object with a known schema, so the JSON decoder decodes it column by column; then rows are taken
from `before` and `after`. Source: Flink DebeziumJsonDeserializationSchema.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from datasources.formats.api.decoder import Decoded
from datasources.formats.debezium.envelope import Envelope
from datasources.formats.debezium.schema_envelope import PayloadEngine
from datasources.formats.debezium.source_columns import DEBEZIUM_METADATA
from datasources.formats.json.json_engine import JsonEngine
from datasources.formats.json.json_types import check_json_types
from datasources.formats.values.session_zone import session_zone

__all__ = ["DEBEZIUM_METADATA", "DebeziumDecoder"]

_HINT: Final = "; if there is a schema around the event, set 'debezium-json.schema-include' to 'true'"


@dataclass(frozen=True, slots=True)
class DebeziumDecoder:
    """Decodes Debezium's change events.

    It is configuration until its first batch, and is pickled as such. Not thread-safe.

    Attributes:
        row, metadata, columns: what is decoded; see `Envelope`.
        time_zone: of timestamps without a zone; None rejects them.
        has_schema: whether each record is `{"schema": ..., "payload": event}`.

    Raises:
        SchemaError: the row has a type that JSON cannot carry.
        OptionError: there is no such time zone.
    """

    row: pa.Schema
    metadata: tuple[str, ...] = field(default=(), kw_only=True)
    time_zone: str | None = field(kw_only=True)
    has_schema: bool = field(default=False, kw_only=True)
    columns: tuple[str, ...] | None = field(default=None, kw_only=True)
    _engine: list[JsonEngine | PayloadEngine] = field(init=False, repr=False, compare=False, default_factory=list)

    def __post_init__(self) -> None:
        check_json_types(self.row)
        session_zone(self.time_zone)

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self.row, (self.metadata, self.time_zone, self.has_schema, self.columns))

    @property
    def schema(self) -> pa.Schema:
        """The columns of the row, then the metadata, under their keys."""
        return self._envelope().decoded_schema

    def decode(self, values: pa.Array) -> Decoded:
        """Decode one batch; see `Decoder.decode`. An update gives two rows."""
        envelope = self._envelope()
        wanted = envelope.wanted
        if not self._engine:
            build = PayloadEngine if self.has_schema else JsonEngine
            self._engine.append(build(envelope.schema, wanted, session_zone(self.time_zone)))
        found = self._engine[0].decode(values)
        return envelope.rows(dict(zip((f.name for f in wanted), found.columns, strict=True)), found, _HINT)

    def _envelope(self) -> Envelope:
        return Envelope(self.row, self.metadata, self.columns)


def _unpickled(
    row: pa.Schema, state: tuple[tuple[str, ...], str | None, bool, tuple[str, ...] | None]
) -> DebeziumDecoder:
    metadata, time_zone, has_schema, columns = state
    return DebeziumDecoder(row, metadata=metadata, time_zone=time_zone, has_schema=has_schema, columns=columns)
