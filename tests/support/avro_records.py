"""Avro schemas, records of them as fastavro writes and reads them, and the columns' values that they stand for.

fastavro gets the schemas without their logical types: Python's times and decimals lack some values that columns have.
"""

from __future__ import annotations

import io
import json
import random
import uuid
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any, Final

import fastavro
import numpy as np
import pyarrow as pa

from datasources.formats.avro.schema.avro_schema import AvroSchema, parse_avro_schema
from tests.support.decoded_values import plain

__all__ = [
    "Generator",
    "damaged",
    "exact_binaries",
    "expected_row",
    "parsed",
    "read",
    "row_of",
    "without_logical",
    "written",
]

Schema = Any
_SCALARS: Final = (
    "boolean", "int", "long", "float", "double", "string", "string", "bytes",
    {"type": "int", "logicalType": "date"}, {"type": "int", "logicalType": "time-millis"}, {"type": "long", "logicalType": "time-micros"},
    {"type": "long", "logicalType": "timestamp-millis"}, {"type": "long", "logicalType": "timestamp-micros"}, {"type": "long", "logicalType": "timestamp-nanos"},
    {"type": "long", "logicalType": "local-timestamp-millis"}, {"type": "long", "logicalType": "local-timestamp-micros"},
    {"type": "string", "logicalType": "uuid"}, {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 3},
    {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 38}, {"type": "bytes", "logicalType": "decimal", "precision": 50, "scale": 60},
    {"type": "string", "logicalType": "unknown"},
)  # fmt: skip
_FIXED: Final = (
    {"size": 0}, {"size": 1}, {"size": 20}, {"size": 12, "logicalType": "duration"}, {"size": 16, "logicalType": "uuid"},
    {"size": 5, "logicalType": "decimal", "precision": 11, "scale": 2}, {"size": 16, "logicalType": "decimal", "precision": 38}, {"size": 20, "logicalType": "decimal", "precision": 9},
)  # fmt: skip
_UNIONS: Final = (["int", "long"], ["long", "int", "null"], ["null", "float", "double"])
_TEXTS: Final = (
    "",
    "x",
    "abc-17",
    "é",
    "日本",
    "😀 and more",
    "\0",
    "a text that is longer than sixteen bytes",
    "k" * 300,
)
_PROMOTIONS: Final = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
}
_EXACT: Final = Context(prec=80)
_MILLIS_MAX: Final = (2**63 - 1) // 1000


def parsed(schema: Schema) -> AvroSchema:
    """The schema as the product reads it."""
    return parse_avro_schema(json.dumps(schema))


def without_logical(schema: Schema) -> Schema:
    """The schema with the plain types only."""
    if isinstance(schema, list):
        return [without_logical(each) for each in schema]
    if isinstance(schema, dict):
        return {key: without_logical(value) for key, value in schema.items() if key != "logicalType"}
    return schema


def written(schema: Schema, value: object) -> bytes:
    """The encoding of a record of a schema without logical types."""
    to = io.BytesIO()
    fastavro.schemaless_writer(to, fastavro.parse_schema(schema), value)
    return to.getvalue()


def read(raw: bytes, writer: Schema, reader: Schema | None = None) -> Any:
    """The record that fastavro reads, of schemas without logical types."""
    parsed_reader = None if reader is None else fastavro.parse_schema(reader)
    return fastavro.schemaless_reader(io.BytesIO(raw), fastavro.parse_schema(writer), parsed_reader)


def exact_binaries(records: list[bytes]) -> pa.Array:
    """Records in a buffer that ends where they end, so that a checked build notices a read behind them."""
    data = np.frombuffer(b"".join(records) or b" ", np.uint8).copy()
    starts = np.cumsum([0, *map(len, records)]).astype(np.int32)
    return pa.Array.from_buffers(pa.binary(), len(records), [None, pa.py_buffer(starts), pa.py_buffer(data)])


def row_of(batch: pa.RecordBatch, row: int) -> list[object]:
    """The values of a row that `expected_row` has for its record."""
    return [plain(column.slice(row, 1))[0] for column in batch.columns]


def expected_row(schema: Schema, columns: pa.Schema, record: dict[str, Any]) -> list[object]:
    """What the columns hold of a record that fastavro has read."""
    types = {each["name"]: each["type"] for each in schema["fields"]}
    names = _named(schema, {})
    values = [_column_value(types[name], record[name], names) for name in columns.names]
    return [plain(pa.array([v], _numeric(t)))[0] for v, t in zip(values, columns.types, strict=True)]


def _numeric(arrow: pa.DataType) -> pa.DataType | None:
    """The type of values that `plain` compares; None = Arrow finds it."""
    return arrow if pa.types.is_primitive(arrow) or pa.types.is_decimal(arrow) else None


def _named(schema: Schema, names: dict[str, Schema]) -> dict[str, Schema]:
    if isinstance(schema, list):
        for each in schema:
            _named(each, names)
    elif isinstance(schema, dict):
        if "name" in schema and "type" in schema and schema["type"] in ("record", "enum", "fixed"):
            names[schema["name"]] = schema
        for key in ("type", "items", "values", "fields"):
            _named(schema.get(key), names)
    return names


def _column_value(schema: Schema, value: Any, names: dict[str, Schema]) -> object:
    if value is None:
        return None
    if isinstance(schema, list):
        kinds = [each for each in schema if each != "null"]
        return _column_value(kinds[0] if len(kinds) == 1 else "long" if "long" in kinds else "double", value, names)
    if isinstance(schema, str) and schema in names:
        schema = names[schema]
    described = schema if isinstance(schema, dict) else {"type": schema}
    kind = described["type"]
    if kind == "record":
        of_fields = {f["name"]: f["default"] for f in described["fields"] if "default" in f} | value
        return {f["name"]: _column_value(f["type"], of_fields[f["name"]], names) for f in described["fields"]}
    if kind == "array":
        return [_column_value(described["items"], each, names) for each in value]
    if kind == "map":
        return [{"key": key, "value": _column_value(described["values"], each, names)} for key, each in value.items()]
    convert = _BY_MEANING.get(described.get("logicalType", kind), lambda _, each: each)
    return convert(described, value)


def _default_bytes(value: bytes | str) -> bytes:
    """Fastavro returns defaults as the schema has them."""
    return value.encode("latin-1") if isinstance(value, str) else value


def _decimal(schema: Schema, value: bytes | str) -> object:
    digits = schema["precision"]
    value = _default_bytes(value)
    is_decimal = schema.get("scale", 0) <= digits < 2.4 * schema.get("size", 99)
    if not is_decimal:
        return value
    return Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-schema.get("scale", 0), _EXACT)


_BY_MEANING: Final[dict[str, Callable[[Schema, Any], object]]] = {
    "decimal": _decimal,
    "timestamp-millis": lambda _, value: value * 1000,
    "local-timestamp-millis": lambda _, value: value * 1000,
    "uuid": lambda schema, value: str(uuid.UUID(bytes=value)) if schema["type"] == "fixed" else value,
    "float": lambda _, value: float(np.int64(value).astype(np.float32)) if isinstance(value, int) else float(value),
    "double": lambda _, value: float(value),
    "bytes": lambda _, value: _default_bytes(value),
}


class Generator:
    """Makes schemas, records and readers' schemas; each from a seed alone."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._names: dict[str, Schema] = {}
        self._count = 0

    def record(self, depth: int = 4) -> Schema:
        """A record of some fields, whose types are nested up to a depth."""
        name = self._new_name("R")
        fields = [
            {"name": self._new_name("f"), "type": self._field_type(depth - 1)} for _ in range(self.rng.randint(1, 5))
        ]
        return self._add({"type": "record", "name": name, "fields": fields})

    def recursive_field(self) -> Schema:
        """A field that no column holds, as its record contains itself."""
        name = self._new_name("Node")
        fields = [
            {"name": "value", "type": self.scalar()},
            {"name": "next", "type": ["null", name]},
            {"name": "all", "type": {"type": self.rng.choice(("array", "map")), "items": name, "values": name}},
        ]
        return {"name": self._new_name("f"), "type": self._add({"type": "record", "name": name, "fields": fields})}

    def scalar(self) -> Schema:
        """A type without parts."""
        kind = self.rng.randrange(9)
        if kind == 0:
            symbols = self.rng.choice((["A"], ["A", "bb", "a_long_symbol_of_an_enum_x"]))
            return self._add({"type": "enum", "name": self._new_name("E"), "symbols": symbols})
        if kind == 1:
            return self._add({"type": "fixed", "name": self._new_name("F"), **self.rng.choice(_FIXED)})
        return self.rng.choice(_SCALARS)

    def value(self, schema: Schema, depth: int = 6) -> Any:
        """A value as fastavro writes it."""
        rng = self.rng
        if isinstance(schema, str) and schema in self._names:
            return self.value(self._names[schema], depth)
        if isinstance(schema, list):
            branches = ["null"] if depth <= 0 and "null" in schema else schema
            branch = rng.choice(branches)
            name = branch if isinstance(branch, str) else branch.get("name", branch["type"])
            return (name, self.value(branch, depth))
        described = schema if isinstance(schema, dict) else {"type": schema}
        kind = described["type"]
        if kind == "record":
            return {f["name"]: self.value(f["type"], depth - 1) for f in described["fields"]}
        size = rng.choice((0, 0, 1, 2, 5)) if depth > 0 else 0
        if kind == "array":
            return [self.value(described["items"], depth - 1) for _ in range(size)]
        if kind == "map":
            return {self._text() + str(n): self.value(described["values"], depth - 1) for n in range(size)}
        return self._scalar(described)

    def evolved(self, schema: Schema) -> Schema:
        """A reader's schema of the same record: fields in another order, renamed, promoted, without some, with others."""
        fields = [self._evolved_field(each) for each in schema["fields"] if self.rng.random() < 0.8]
        for _ in range(self.rng.randint(0, 2) or not fields):
            made, default = self.rng.choice(
                (
                    ("int", -3), (["null", "string"], None), ("string", "é"), ({"type": "array", "items": "long"}, [1, 2]), ("bytes", "\u00ff"),
                    ({"type": "map", "values": ["null", "double"]}, {"k": 1.5, "l": None}), (["string", "null"], "x"),
                    ({"type": "record", "name": self._new_name("D"), "fields": [{"name": "x", "type": "long", "default": 7}]}, {}),
                    ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, "\u0001\u0000"),
                )
            )  # fmt: skip
            fields.append({"name": self._new_name("g"), "type": made, "default": default})
        self.rng.shuffle(fields)
        return {**schema, "fields": fields}

    def _evolved_field(self, field: Schema) -> Schema:
        changed = dict(field)
        if self.rng.random() < 0.3:
            changed |= {"name": self._new_name("h"), "aliases": ["unused", field["name"]]}
        kind = field["type"]
        if isinstance(kind, str) and kind in _PROMOTIONS and self.rng.random() < 0.6:
            changed["type"] = self.rng.choice(_PROMOTIONS[kind])
        if isinstance(kind, dict) and kind["type"] == "record" and self.rng.random() < 0.5:
            changed["type"] = self.evolved(kind)
        if not isinstance(kind, list) and self.rng.random() < 0.3:
            changed["type"] = self.rng.choice((["null", changed["type"]], [changed["type"], "null"]))
        return changed

    def _new_name(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def _add(self, schema: Schema) -> Schema:
        self._names[schema["name"]] = schema
        return schema

    def _field_type(self, depth: int) -> Schema:
        made = self._type(depth)
        kind = self.rng.randrange(5)
        if kind == 0:
            return self.rng.choice(_UNIONS)
        return ["null", made] if kind == 1 else [made, "null"] if kind == 2 else made

    def _type(self, depth: int) -> Schema:
        kind = self.rng.randrange(7) if depth > 0 else 9
        if kind == 0:
            return {"type": "array", "items": self._field_type(depth - 1)}
        if kind == 1:
            return {"type": "map", "values": self._field_type(depth - 1)}
        return self.record(depth) if kind == 2 else self.scalar()

    def _text(self) -> str:
        return self.rng.choice(_TEXTS)

    def _scalar(self, schema: Schema) -> Any:
        rng, kind, meaning = self.rng, schema["type"], schema.get("logicalType", "")
        if meaning == "decimal" and kind in {"bytes", "fixed"}:
            number = rng.randrange(-(10 ** schema["precision"]) + 1, 10 ** rng.randint(1, schema["precision"]))
            return number.to_bytes(schema.get("size", rng.randint(21, 25)), "big", signed=True)
        if meaning.endswith("timestamp-millis"):
            return rng.choice((0, -1, 1_760_000_000_123, _MILLIS_MAX, -_MILLIS_MAX))
        return {
            "null": lambda: None,
            "boolean": lambda: rng.random() < 0.5,
            "int": lambda: rng.choice((0, 1, -1, 63, 64, -65, 2**31 - 1, -(2**31), rng.randrange(-(2**31), 2**31))),
            "long": lambda: rng.choice(
                (0, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), rng.getrandbits(rng.randint(1, 63)))
            ),
            "float": lambda: rng.choice((0.0, -0.0, 1.5, float("inf"), float("nan"), float(np.float32(rng.random())))),
            "double": lambda: rng.choice((0.0, -0.0, 1e300, float("-inf"), float("nan"), rng.random())),
            "string": self._text,
            "bytes": lambda: rng.randbytes(rng.choice((0, 1, 3, 40))),
            "fixed": lambda: rng.randbytes(schema["size"]),
            "enum": lambda: rng.choice(schema["symbols"]),
        }[kind]()


def damaged(rng: random.Random, raw: bytes) -> bytes:
    """A record with some damage: cut off, changed, longer or shorter somewhere."""
    changed = bytearray(raw)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(changed) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            del changed[at:]
        elif kind == 1 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 2 and at < len(changed):
            changed[at] = rng.choice((0, 1, 2, 3, 0x7F, 0x80, 0xC3, 0xED, 0xF0, 0xFF))
        elif kind == 3:
            changed[at:at] = rng.choice(
                (b"\0", b"\1\2", b"\xff" * 9 + b"\1", b"\xfe" * 9 + b"\1", b"\x80\x80\0", b"\xff\xff\xff\xff\x7f")
            )
        elif kind == 4:
            del changed[at : at + rng.randint(1, 4)]
        else:
            changed += rng.randbytes(rng.randint(1, 3))
    return bytes(changed)
