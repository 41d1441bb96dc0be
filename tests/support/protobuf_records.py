"""Message types, records of them as Google's package writes and reads them, and the columns' values that they stand for."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from google.protobuf import descriptor_pb2, message_factory
from google.protobuf.message import DecodeError, Message
from google.protobuf.timestamp_pb2 import DESCRIPTOR as TIMESTAMP
from google.protobuf.wrappers_pb2 import DESCRIPTOR as WRAPPERS

from datasources.formats.protobuf.schema.message_type import MessageType, message_type
from tests.support.decoded_values import plain

__all__ = ["Generator", "compiled", "damaged", "expected_row", "google", "in_map_order", "message_of", "parsed"]

Field = descriptor_pb2.FieldDescriptorProto
_SCALARS: Final = tuple(number for number in range(1, 19) if number not in (10, 11, 14))
_KEYS: Final = (3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 17, 18)
_PACKABLE_TYPES: Final = frozenset(_SCALARS) - {9, 12} | {14}
_SYNTAXES: Final = ("proto2", "proto3", "editions")
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
_INT32: Final = (0, 1, -1, 127, 128, 2**31 - 1, -(2**31))
_INT64: Final = (0, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
_MICROS_MAX: Final = 2**63


@cache
def compiled(text: str) -> bytes:
    """The descriptors of a .proto text, with those that it imports."""
    from grpc_tools import protoc

    own = Path(protoc.__file__).with_name("_proto")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test.proto").write_text(text, encoding="utf-8")
        to = Path(folder) / "out"
        arguments = [f"-I{folder}", f"-I{own}", f"--descriptor_set_out={to}", "--include_imports", "test.proto"]
        assert protoc.main(["protoc", *arguments]) == 0
        return to.read_bytes()


def message_of(text: str, name: str = "M") -> MessageType:
    """A message of a .proto text; of proto3 unless it names another syntax."""
    has_syntax = text.lstrip().startswith(("syntax", "edition"))
    return message_type(compiled(text if has_syntax else f'syntax = "proto3"; {text}'), name)


def google(message: MessageType) -> Any:
    """Google's class of a message type."""
    return message_factory.GetMessageClass(message.descriptor)


def parsed(message: MessageType, raw: bytes) -> Any:
    """What Google's package reads; None if it refuses the record, or if it lacks a required field."""
    found = google(message)()
    try:
        found.ParseFromString(raw)
    except DecodeError:
        return None
    return found if found.IsInitialized() else None


class _Unfit(ValueError):
    """Google accepts the record, and no column holds it."""


def expected_row(record: Any, columns: pa.Schema, *, reads_defaults: bool = False) -> list[object] | None:
    """What the columns hold of a message that Google's package has read; None if one of them cannot."""
    try:
        row = _Expected(reads_defaults=reads_defaults).struct(record, [f.name for f in columns])
    except _Unfit:
        return None
    values = [row[f.name] for f in columns]
    return [in_map_order(plain(pa.array([v], f.type))[0], f.type) for v, f in zip(values, columns, strict=True)]


def in_map_order(value: Any, arrow: pa.DataType) -> Any:
    """A plain value whose maps are ordered: Google's have an order of their own."""
    if value is None:
        return None
    if pa.types.is_map(arrow):
        entries = [{"key": each["key"], "value": in_map_order(each["value"], arrow.item_type)} for each in value]
        return sorted(entries, key=lambda entry: repr(entry["key"]))
    if pa.types.is_list(arrow):
        return [in_map_order(each, arrow.value_type) for each in value]
    if pa.types.is_struct(arrow):
        return {f.name: in_map_order(value[f.name], f.type) for f in arrow}
    return value


class _Expected:
    """The values that columns have."""

    def __init__(self, *, reads_defaults: bool) -> None:
        self.reads_defaults = reads_defaults

    def struct(self, record: Any, names: list[str]) -> dict[str, object]:
        """The values of some of a message's fields."""
        return {name: self._field(record, record.DESCRIPTOR.fields_by_name[name]) for name in names}

    def _field(self, record: Any, field: Any) -> object:
        value = getattr(record, field.name) if field.name.isidentifier() else None
        if field.is_repeated and field.message_type is not None and field.message_type.GetOptions().map_entry:
            of_value = field.message_type.fields_by_name["value"]
            of_key = field.message_type.fields_by_name["key"]
            return [(self._one(of_key, key), self._one(of_value, value[key])) for key in sorted(value)]
        if field.is_repeated:
            return [self._one(field, each) for each in value]
        is_absent = field.has_presence and not record.HasField(field.name)
        if is_absent and (field.message_type is not None or not self.reads_defaults):
            return None
        return self._one(field, value)

    def _one(self, field: Any, value: Any) -> object:
        if field.enum_type is not None:
            known = field.enum_type.values_by_number
            return known[value].name if value in known else f"UNKNOWN_ENUM_VALUE_{field.enum_type.name}_{value}"
        if field.message_type is None:
            if field.type == Field.TYPE_STRING and isinstance(value, bytes):
                raise _Unfit
            return Decimal(value) if field.type in (Field.TYPE_UINT64, Field.TYPE_FIXED64) else value
        name = field.message_type.full_name
        if name == "google.protobuf.Timestamp":
            return _micros(value)
        if name.startswith("google.protobuf.") and name.endswith("Value"):
            return self._one(field.message_type.fields_by_number[1], value.value)
        return self.struct(value, [f.name for f in field.message_type.fields])


def _micros(value: Any) -> int:
    found = value.seconds * 1_000_000 + value.nanos // 1_000
    if not 0 <= value.nanos < 10**9 or not value.seconds * 1_000_000 >= -_MICROS_MAX or not found < _MICROS_MAX:
        raise _Unfit
    return found


class Generator:
    """Makes message types and records; each from a seed alone."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.syntax = rng.choice(_SYNTAXES)
        self._count = 0
        self._file = descriptor_pb2.FileDescriptorProto(name="made.proto", package="made")
        if self.syntax == "editions":
            self._file.edition = descriptor_pb2.EDITION_2023
            self._file.syntax = "editions"
            self._file.options.features.enum_type = rng.choice((1, 2))
        elif self.syntax == "proto3":
            self._file.syntax = "proto3"
        self._file.dependency.extend([TIMESTAMP.name, WRAPPERS.name])

    def message(self) -> MessageType:
        """A message of some fields, whose types are nested up to a depth."""
        name = self._message(self._file.message_type, "made", 3)
        files = descriptor_pb2.FileDescriptorSet(file=[self._file])
        for imported in (TIMESTAMP, WRAPPERS):
            imported.CopyToProto(files.file.add())
        return message_type(files.SerializeToString(), name)

    def record(self, message: MessageType) -> Any:
        """A message with values."""
        found = google(message)()
        self._fill(found)
        return found

    def _name(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def _message(self, into: Any, scope: str, depth: int) -> str:
        made = into.add(name=self._name("M"))
        scope = f"{scope}.{made.name}"
        numbers = self.rng.sample([*range(1, 30), 1_000, 2**29 - 1], self.rng.randint(1, 6))
        if self.rng.random() < 0.4:
            self._oneof(made, scope, depth - 1)  # before those of optional fields, which are no oneofs in a .proto text
        for number in numbers:
            self._field(made, scope, number, depth - 1)
        return scope

    def _field(self, message: Any, scope: str, number: int, depth: int) -> None:
        made = message.field.add(name=self._name("f"), number=number, label=Field.LABEL_OPTIONAL)
        kind = self.rng.randrange(10)
        if kind == 0:
            self._map(message, made, scope, depth)
            return
        self._set_type(message, made, scope, depth)
        if kind in (1, 2, 3):
            made.label = Field.LABEL_REPEATED
            if made.type in _PACKABLE_TYPES and self.rng.random() < 0.5:
                self._set_packed(made)
        elif made.type != Field.TYPE_GROUP:
            self._set_optional(message, made)

    def _set_packed(self, made: Any) -> None:
        if self.syntax == "editions":
            made.options.features.repeated_field_encoding = self.rng.choice((1, 2))
        else:
            made.options.packed = self.rng.random() < 0.5

    def _set_optional(self, message: Any, made: Any) -> None:
        is_required = self.rng.random() < 0.1
        if self.syntax == "proto2" and is_required:
            made.label = Field.LABEL_REQUIRED
        elif self.syntax == "proto3" and made.type != Field.TYPE_MESSAGE and self.rng.random() < 0.3:
            made.proto3_optional = True
            made.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=f"_{made.name}")
        elif self.syntax == "editions":
            kinds = (1, 3) if made.type == Field.TYPE_MESSAGE else (1, 2, 3)
            made.options.features.field_presence = 3 if is_required else self.rng.choice(kinds[:-1])
        if self.syntax == "proto2" and not is_required and made.type == Field.TYPE_SINT64:
            made.default_value = "-7"
        if self.syntax == "proto2" and not is_required and made.type == Field.TYPE_STRING:
            made.default_value = "a default é"

    def _oneof(self, message: Any, scope: str, depth: int) -> None:
        index = len(message.oneof_decl)
        message.oneof_decl.add(name=self._name("o"))
        for number in range(100, 100 + self.rng.randint(1, 3)):
            made = message.field.add(name=self._name("f"), number=number, label=Field.LABEL_OPTIONAL, oneof_index=index)
            self._set_type(message, made, scope, depth)

    def _set_type(self, message: Any, made: Any, scope: str, depth: int) -> None:
        kind = self.rng.randrange(12)
        if kind == 0 and depth > 0:
            made.type, made.type_name = Field.TYPE_MESSAGE, f".{self._message(message.nested_type, scope, depth)}"
            if self.syntax == "proto2" and self.rng.random() < 0.5:
                made.type = Field.TYPE_GROUP
            elif self.syntax == "editions" and self.rng.random() < 0.5:
                made.options.features.message_encoding = 2
        elif kind == 1:
            made.type, made.type_name = Field.TYPE_ENUM, f".{self._enum(message, scope)}"
        elif kind in (2, 3):
            name = self.rng.choice(
                ("Timestamp", "Timestamp", "Int32Value", "UInt64Value", "StringValue", "DoubleValue")
            )
            made.type, made.type_name = Field.TYPE_MESSAGE, f".google.protobuf.{name}"
        else:
            made.type = self.rng.choice(_SCALARS)

    def _enum(self, message: Any, scope: str) -> str:
        made = message.enum_type.add(name=self._name("E"))
        for number in (0, 1, 5, -3, 2**31 - 1)[: self.rng.randint(1, 5)]:
            made.value.add(name=self._name("V"), number=number)
        return f"{scope}.{made.name}"

    def _map(self, message: Any, made: Any, scope: str, depth: int) -> None:
        entry = message.nested_type.add(name=f"{made.name.capitalize()}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=Field.LABEL_OPTIONAL, type=self.rng.choice(_KEYS))
        value = entry.field.add(name="value", number=2, label=Field.LABEL_OPTIONAL)
        self._set_type(message, value, scope, depth)
        if value.type == Field.TYPE_GROUP:
            value.type = Field.TYPE_MESSAGE
        value.ClearField("options")
        made.label, made.type, made.type_name = Field.LABEL_REPEATED, Field.TYPE_MESSAGE, f".{scope}.{entry.name}"

    def _fill(self, record: Any) -> None:
        for field in record.DESCRIPTOR.fields:
            is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
            if is_map:
                self._fill_map(getattr(record, field.name), field)
            elif field.is_repeated:
                self._fill_list(getattr(record, field.name), field)
            elif field.is_required or self.rng.random() < 0.7:
                self._set(record, field)

    def _fill_map(self, target: Any, field: Any) -> None:
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        for number in range(self.rng.choice((0, 1, 3))):
            made = f"{self.scalar(key)}{number}" if key.type == Field.TYPE_STRING else self.scalar(key)
            if value.message_type is None:
                target[made] = self.scalar(value)
            else:
                self._fill_message(target[made])

    def _fill_list(self, target: Any, field: Any) -> None:
        for _ in range(self.rng.choice((0, 1, 2, 5))):
            if field.message_type is None:
                target.append(self.scalar(field))
            else:
                self._fill_message(target.add())

    def _set(self, record: Any, field: Any) -> None:
        if field.message_type is None:
            setattr(record, field.name, self.scalar(field))
        else:
            inner = getattr(record, field.name)
            inner.SetInParent()
            self._fill_message(inner)

    def _fill_message(self, inner: Message) -> None:
        if inner.DESCRIPTOR.full_name == "google.protobuf.Timestamp":
            inner.seconds = self.rng.choice((0, -1, 1_760_000_000, 253_402_300_799, -62_135_596_800))
            inner.nanos = self.rng.choice((0, 1_000, 999_999_999, 123_456_789))
        else:
            self._fill(inner)

    def scalar(self, field: Any) -> Any:
        """A value of a field without parts."""
        rng = self.rng
        if field.enum_type is not None:
            known = [each.number for each in field.enum_type.values]
            return rng.choice(known)
        return _VALUES[field.type](rng)


_VALUES: Final[dict[int, Callable[[random.Random], Any]]] = {
    **dict.fromkeys((5, 15, 17), lambda rng: rng.choice((*_INT32, rng.randrange(-(2**31), 2**31)))),
    **dict.fromkeys((3, 16, 18), lambda rng: rng.choice((*_INT64, rng.getrandbits(rng.randint(1, 63))))),
    **dict.fromkeys((13, 7), lambda rng: rng.choice((0, 1, 2**32 - 1, rng.getrandbits(32)))),
    **dict.fromkeys((4, 6), lambda rng: rng.choice((0, 1, 2**64 - 1, rng.getrandbits(64)))),
    1: lambda rng: rng.choice((0.0, -0.0, 1e300, float("-inf"), float("nan"), rng.random())),
    2: lambda rng: rng.choice((0.0, -0.0, 1.5, float("inf"), float("nan"), float(np.float32(rng.random())))),
    8: lambda rng: rng.random() < 0.5,
    9: lambda rng: rng.choice(_TEXTS),
    12: lambda rng: rng.randbytes(rng.choice((0, 1, 3, 40))),
}


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
            changed[at] = rng.choice((0, 1, 2, 3, 8, 0x0A, 0x0B, 0x0C, 0x7F, 0x80, 0xC3, 0xED, 0xFF))
        elif kind == 3:
            changed[at:at] = rng.choice(
                (b"\0", b"\x08\1", b"\x0b\x0c", b"\x0b\x08\1\x0c", b"\xff" * 9 + b"\1", b"\x80\x80\0", b"\x12\0")
            )
        elif kind == 4:
            del changed[at : at + rng.randint(1, 4)]
        else:
            changed += rng.choice((rng.randbytes(rng.randint(1, 3)), raw[: rng.randrange(len(raw) + 1)]))
    return bytes(changed)
