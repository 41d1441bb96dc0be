"""A schema registry in memory, in place of the client of a real one."""

from __future__ import annotations

import io
import json
import struct
from typing import Any

import fastavro

from datasources.formats.registry.registry_options import RegistrySettings
from datasources.formats.registry.schema_registry import RegisteredText, UnknownSchemaError

__all__ = ["MemoryRegistry"]


class MemoryRegistry:
    """Schemas by their ids. A call gives itself, as the client of the settings."""

    def __init__(self, *schemas: Any) -> None:
        self._schemas = schemas

    def __call__(self, settings: RegistrySettings) -> MemoryRegistry:
        return self

    def schema(self, schema_id: int, kind: str) -> RegisteredText:
        if schema_id >= len(self._schemas):
            raise UnknownSchemaError(f"the schema registry has no schema of the id {schema_id}")
        return RegisteredText(kind=kind, text=json.dumps(self._schemas[schema_id]))

    def written(self, value: Any, schema_id: int = 0) -> bytes:
        """Return a value as Confluent's serializer writes it."""
        out = io.BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(self._schemas[schema_id]), value)
        return struct.pack(">bI", 0, schema_id) + out.getvalue()
