"""The slow path: record by record, in Python, for documents that the native path does not decode.

A record is bad here exactly when Spark's `from_json` fails on it in FAILFAST mode, and also when there is anything but
blanks after the object, when a column declared NOT NULL gets no value, and in the cases that docs/formats.md lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import pyarrow as pa

from datasources.formats.json.text.json_scanner import Malformed, Members
from datasources.formats.json.text.json_syntax import parse
from datasources.formats.json.text.json_text import without_surrogates
from datasources.formats.json.text.json_values import BadValue, Convert, refusal, scalar_converter
from datasources.formats.values.excerpt import excerpt
from datasources.grammar.zones import Zone


class BadRecord(ValueError):
    """The record cannot be decoded; the message is the reason."""


# Java takes a surrogate that was written as UTF-8 for one wrong character, Python for two or three.
_ENCODED_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_REPLACEMENT = "\ufffd".encode()


class SlowPathDecoder:
    """Decodes single records; thread-safe, built once per process."""

    def __init__(self, schema: pa.Schema, zone: Zone | None) -> None:
        self._row = _members_reader(schema, zone, "")

    def row(self, raw: bytes) -> list[object]:
        """Return the record's values, one for each field of the schema, as `pa.array` takes them.

        Raises:
            BadRecord: it cannot be decoded.
        """
        text = _decoded(raw)
        if not text.strip(" \t\r\n"):
            raise BadRecord("the value is empty")
        try:
            document = parse(text)
        except Malformed as problem:
            raise BadRecord(str(problem)) from None
        if type(document) is not Members:
            raise BadRecord(f"the document is {_kind(document)}, not an object: {excerpt(text)}")
        return self._row(document)


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _ENCODED_SURROGATE.sub(_REPLACEMENT, raw).decode(errors="replace")


def _kind(document: object) -> str:
    if document is None:
        return "null"
    return "an array" if isinstance(document, list) else "a single value"


def _members_reader(fields: Iterable[pa.Field], zone: Zone | None, path: str) -> Callable[[Members], list[object]]:
    """Return the function that arranges an object's members into a list of the fields' values."""
    declared = list(fields)
    readers = {f.name: (at, _converter(f.type, zone, path + f.name)) for at, f in enumerate(declared)}
    required = [(at, path + f.name) for at, f in enumerate(declared) if not f.nullable]

    def read(members: Members) -> list[object]:
        values: list[object] = [None] * len(declared)
        for name, value in members:
            reader = readers.get(name)
            if reader is not None:
                # As in Spark, the last of several members counts, and each of them has to fit.
                at, convert = reader
                values[at] = None if value is None else convert(value)
        for at, name in required:
            if values[at] is None:
                raise BadRecord(f"column '{name}' is NOT NULL and the record has no value for it")
        return values

    return read


def _converter(arrow: pa.DataType, zone: Zone | None, path: str) -> Convert:
    build = next((build for is_kind, build in _NESTED if is_kind(arrow)), None)
    convert = scalar_converter(arrow, zone) if build is None else build(arrow, zone, path)

    def convert_or_name(value: object) -> object:
        try:
            return convert(value)
        except BadValue as reason:
            raise BadRecord(f"column '{path}' {reason}") from None

    return convert_or_name


def _struct(arrow: pa.StructType, zone: Zone | None, path: str) -> Convert:
    names = [f.name for f in arrow]
    read = _members_reader(arrow, zone, f"{path}.")

    def convert(value: object) -> dict[str, object]:
        if type(value) is not Members:
            raise refusal(arrow, value)
        return dict(zip(names, read(value), strict=True))

    return convert


def _list(arrow: pa.ListType, zone: Zone | None, path: str) -> Convert:
    convert_item = _converter(arrow.value_type, zone, f"{path}[]")

    def convert(value: object) -> list[object]:
        if type(value) is not list:
            raise refusal(arrow, value)
        return [None if item is None else convert_item(item) for item in value]

    return convert


def _map(arrow: pa.MapType, zone: Zone | None, path: str) -> Convert:
    convert_item = _converter(arrow.item_type, zone, f"{path}[]")

    def convert(value: object) -> list[tuple[str, object]]:
        if type(value) is not Members:
            raise refusal(arrow, value)
        return [(without_surrogates(name), None if item is None else convert_item(item)) for name, item in value]

    return convert


_NESTED: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType, Zone | None, str], Convert]], ...] = (
    (pa.types.is_struct, _struct),
    (pa.types.is_list, _list),
    (pa.types.is_map, _map),
)
