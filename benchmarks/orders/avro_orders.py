"""The orders of `json_orders` in Avro, behind the id of a schema, as Confluent's serializers write them."""

from __future__ import annotations

import io
from typing import Any, Final

import fastavro

from benchmarks.orders.json_orders import order_values

__all__ = ["AVRO_ORDER", "SCHEMA_ID", "framed_order"]

_FIELDS: Final = {
    "user": "long",
    "item": "string",
    "price": "double",
    "ts": {"type": "long", "logicalType": "timestamp-millis"},
    "note": "string",
}
AVRO_ORDER: Final[dict[str, Any]] = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": name, "type": ["null", kind], "default": None} for name, kind in _FIELDS.items()],
}
"""As Flink writes nullable columns."""
SCHEMA_ID: Final = 1
"""Of the first schema of a registry."""
_HEADER: Final = b"\0" + SCHEMA_ID.to_bytes(4, "big")
_PARSED: Final = fastavro.parse_schema(AVRO_ORDER)


def framed_order(number: int) -> bytes:
    """Return the order with a number."""
    out = io.BytesIO()
    out.write(_HEADER)
    fastavro.schemaless_writer(out, _PARSED, order_values(number))
    return out.getvalue()
