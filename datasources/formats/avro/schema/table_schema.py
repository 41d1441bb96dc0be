"""The Avro schema that Flink derives from a table's columns. Source: Flink's AvroSchemaConverter."""

from __future__ import annotations

import json
from typing import Any, Final

import pyarrow as pa

from datasources.errors import SchemaError
from datasources.formats.avro.schema.avro_schema import AvroSchema, parse_avro_schema
from datasources.formats.schema_text.ddl_types import type_text

_RECORD: Final = "org.apache.flink.avro.generated.record"
_PLAIN: Final[dict[pa.DataType, Any]] = {
    pa.bool_(): "boolean",
    pa.int8(): "int",
    pa.int16(): "int",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "bytes",
    pa.date32(): {"type": "int", "logicalType": "date"},
}
_WAY_ON: Final = "give the schema of the records by the option 'avro.schema'"


def schema_of_table(columns: pa.Schema) -> AvroSchema:
    """Return the schema of records that a table of these columns has been written to.

    Raises:
        SchemaError: a column's type does not say what was written.
    """
    return parse_avro_schema(json.dumps(_record(list(columns), _RECORD, "")))


def _record(fields: list[pa.Field], name: str, path: str) -> dict[str, Any]:
    members = []
    for field in fields:
        inner = f"{path}.{field.name}" if path else field.name
        member: dict[str, Any] = {"name": field.name, "type": _type(field, f"{name}_{field.name}", inner)}
        members.append(member | ({"default": None} if field.nullable else {}))
    return {"type": "record", "name": name, "fields": members}


def _type(field: pa.Field, name: str, path: str) -> Any:
    found = _not_null(field.type, name, path)
    return ["null", found] if field.nullable else found


def _not_null(arrow: pa.DataType, name: str, path: str) -> Any:
    if arrow in _PLAIN:
        return _PLAIN[arrow]
    if pa.types.is_decimal128(arrow):
        decimal = {"logicalType": "decimal", "precision": arrow.precision, "scale": arrow.scale}
        return {"type": "bytes", **decimal}
    if pa.types.is_struct(arrow):
        return _record(list(arrow), name, path)
    if pa.types.is_list(arrow):
        return {"type": "array", "items": _type(arrow.value_field, name, f"{path}.element")}
    if pa.types.is_map(arrow):
        if arrow.key_type != pa.string():
            raise SchemaError(f"column '{path}': a map of Avro has STRING keys, not {type_text(arrow.key_type)}")
        return {"type": "map", "values": _type(arrow.item_field, name, f"{path}.value")}
    if pa.types.is_timestamp(arrow):
        raise SchemaError(
            f"column '{path}': whether its {type_text(arrow)} was written in milliseconds or in microseconds does not "
            f"follow from the column; {_WAY_ON}"
        )
    raise SchemaError(f"column '{path}': Avro has no {type_text(arrow)}; {_WAY_ON}")
