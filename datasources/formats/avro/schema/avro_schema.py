"""The JSON text of an Avro schema, read by the rules of Avro 1.12.

Attributes that the specification does not name are ignored, and so is a logical type that is unknown or does not fit
its type, a decimal of an impossible precision for example. A name may have letters of any script, as in Avro's library
for Java.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from datasources.errors import SchemaError
from datasources.formats.avro.schema.avro_defaults import InvalidDefault, encode_default
from datasources.formats.avro.schema.avro_types import (
    MAX_DEPTH,
    NAMED,
    AvroField,
    AvroKind,
    AvroType,
    Default,
    LogicalType,
)

_NAME: Final = re.compile(r"[^\W\d]\w*\Z")
_PRIMITIVES: Final = frozenset(
    (
        AvroKind.NULL,
        AvroKind.BOOLEAN,
        AvroKind.INT,
        AvroKind.LONG,
        AvroKind.FLOAT,
        AvroKind.DOUBLE,
        AvroKind.BYTES,
        AvroKind.STRING,
    )
)
_KINDS: Final = {each.value: each for each in AvroKind if each is not AvroKind.UNION}
_TIMESTAMPS: Final = frozenset(
    f"{clock}-{unit}" for clock in ("timestamp", "local-timestamp") for unit in ("millis", "micros", "nanos")
)
_LOGICAL: Final = {
    AvroKind.INT: frozenset(("date", "time-millis")),
    AvroKind.LONG: _TIMESTAMPS | {"time-micros"},
    AvroKind.STRING: frozenset(("uuid",)),
}
_LOGICAL_FIXED: Final = {"duration": 12, "uuid": 16}
_ORDERS: Final = ("ascending", "descending", "ignore")


@dataclass(frozen=True, slots=True)
class AvroSchema:
    """A schema that was read; it is pickled as its text.

    Attributes:
        text: its JSON text.
        references: the texts of the schemas whose types it uses.
        has_valid_defaults: whether its defaults were validated.
        type: what it declares.
    """

    text: str
    references: tuple[str, ...] = ()
    has_valid_defaults: bool = True
    type: AvroType = field(compare=False, repr=False, kw_only=True)

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self.text, self.references, self.has_valid_defaults)


def parse_avro_schema(text: str, references: Sequence[str] = (), *, validate_defaults: bool = True) -> AvroSchema:
    """Return the schema of a JSON text.

    Args:
        text: as a registry or a `.avsc` file has it.
        references: the texts of schemas whose named types it uses, in any order.
        validate_defaults: False accepts defaults that are no values of their types, as writers before Avro 1.9 have
            them; only those of a reader's schema are ever used.

    Raises:
        SchemaError: a text is no valid schema; the message names the field.
    """
    names = _referenced(references)
    parser = _Parser(names)
    avro = parser.parse(_json(text), "", "")
    if validate_defaults:
        parser.validate_defaults()
    return AvroSchema(text, tuple(references), validate_defaults, type=avro)


def _unpickled(text: str, references: tuple[str, ...], validate_defaults: bool) -> AvroSchema:  # noqa: FBT001
    return parse_avro_schema(text, references, validate_defaults=validate_defaults)


class _UnknownName(SchemaError):
    """A type is not declared, or not yet."""


def _referenced(texts: Sequence[str]) -> dict[str, AvroType]:
    """Return the named types of schemas that may use each other's."""
    names: dict[str, AvroType] = {}
    waiting = [_json(text) for text in texts]
    while waiting:
        later = []
        problem: SchemaError | None = None
        for document in waiting:
            parser = _Parser(dict(names))
            try:
                parser.parse(document, "", "")
            except _UnknownName as error:
                problem = error
                later.append(document)
            else:
                names = parser.names
        if problem is not None and len(later) == len(waiting):
            raise SchemaError(f"a referenced schema cannot be used: {problem.message}")
        waiting = later
    return names


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise SchemaError("the Avro schema is nested too deeply") from None
    except (TypeError, ValueError) as error:
        raise SchemaError(f"the Avro schema is no JSON text: {error}") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _fail(path: str, reason: str) -> NoReturn:
    raise SchemaError(_message(path, reason))


def _message(path: str, reason: str) -> str:
    return f"the Avro schema is wrong at field '{path}': {reason}" if path else f"the Avro schema is wrong: {reason}"


class _Parser:
    """Reads the types of one text; `names` are the named types that it may use, and receives its own."""

    def __init__(self, names: dict[str, AvroType]) -> None:
        self.names = names
        self._defaults: list[tuple[str, AvroField]] = []
        self._depth = 0

    def parse(self, node: Any, namespace: str, path: str) -> AvroType:
        """Return the type that a JSON value declares in a namespace."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            _fail(path, f"types are nested more than {MAX_DEPTH} levels deep")
        if isinstance(node, str):
            avro = self._named(node, namespace, path)
        elif isinstance(node, list):
            avro = self._union(node, namespace, path)
        elif isinstance(node, dict):
            avro = self._object(node, namespace, path)
        else:
            _fail(path, f"{json.dumps(node)} is no type")
        self._depth -= 1
        return avro

    def validate_defaults(self) -> None:
        """Refuse a default that is no value of its field's type."""
        for path, each in self._defaults:
            assert each.default is not None
            try:
                encode_default(each.type, each.default.value)
            except InvalidDefault as reason:
                _fail(path, f"its default cannot be used: {reason}")

    def _named(self, name: str, namespace: str, path: str) -> AvroType:
        kind = _KINDS.get(name)
        if kind in _PRIMITIVES:
            return AvroType(kind)
        found = self.names.get(_full_name(name, namespace)) or self.names.get(name)
        if found is not None:
            return found
        if kind is not None:
            _fail(path, f'a type {name} is declared by an object, as in {{"type": "{name}", ...}}')
        raise _UnknownName(_message(path, f"there is no type '{name}'; declare it before its use or give its schema"))

    def _union(self, nodes: list[Any], namespace: str, path: str) -> AvroType:
        branches = tuple(self.parse(node, namespace, path) for node in nodes)
        if not branches:
            _fail(path, "a union needs at least one type")
        seen = set()
        for branch in branches:
            if branch.is_union:
                _fail(path, "a union cannot contain a union directly")
            key = branch.name or branch.kind.value
            if key in seen:
                _fail(path, f"a union cannot contain {branch} twice")
            seen.add(key)
        return AvroType(AvroKind.UNION, items=branches)

    def _object(self, node: dict[str, Any], namespace: str, path: str) -> AvroType:
        declared = node.get("type")
        if declared is None:
            _fail(path, 'an object without "type" is no type')
        kind = _KINDS.get(declared) if isinstance(declared, str) else None
        if kind is None:
            return self.parse(declared, namespace, path)
        avro = AvroType(kind)
        if kind in NAMED:
            self._named_object(avro, node, namespace, path)
        elif kind is AvroKind.ARRAY:
            avro.items = (self.parse(_required(node, "items", path), namespace, f"{path}[]"),)
        elif kind is AvroKind.MAP:
            avro.items = (self.parse(_required(node, "values", path), namespace, f"{path}[]"),)
        avro.logical = _logical(avro, node)
        return avro

    def _named_object(self, avro: AvroType, node: dict[str, Any], namespace: str, path: str) -> None:
        avro.name, inner = _declared_name(node, namespace, path)
        avro.aliases = tuple(_full_name(_name(each, path), inner) for each in _texts(node, "aliases", path))
        if avro.name in self.names:
            _fail(path, f"the name '{avro.name}' is declared twice")
        self.names[avro.name] = avro
        if avro.kind is AvroKind.RECORD:
            self._fields(avro, _required(node, "fields", path), inner, path)
        elif avro.kind is AvroKind.ENUM:
            _read_symbols(avro, node, path)
        else:
            avro.size = _required(node, "size", path)
            if type(avro.size) is not int or not 0 <= avro.size < 2**31:
                _fail(path, f"the size of a fixed is a number of bytes, not {json.dumps(avro.size)}")

    def _fields(self, record: AvroType, nodes: Any, namespace: str, path: str) -> None:
        if not isinstance(nodes, list):
            _fail(path, 'the "fields" of a record are a list')
        for node in nodes:
            each = self._field(node, namespace, path)
            if any(each.name == other.name for other in record.fields):
                _fail(path, f"the record {record.name} has two fields '{each.name}'")
            record.fields.append(each)

    def _field(self, node: Any, namespace: str, path: str) -> AvroField:
        if not isinstance(node, dict):
            _fail(path, f"a field is an object, not {json.dumps(node)}")
        name = _simple_name(_required(node, "name", path), path)
        inner = f"{path}.{name}" if path else name
        order = node.get("order", _ORDERS[0])
        if order not in _ORDERS:
            _fail(inner, f'the "order" of a field is one of {", ".join(_ORDERS)}')
        default = Default(node["default"]) if "default" in node else None
        aliases = tuple(_simple_name(each, inner) for each in _texts(node, "aliases", inner))
        made = AvroField(name, self.parse(_required(node, "type", inner), namespace, inner), aliases, default)
        if default is not None:
            self._defaults.append((inner, made))
        return made


def _required(node: dict[str, Any], key: str, path: str) -> Any:
    if key not in node:
        _fail(path, f'"{key}" is missing')
    return node[key]


def _texts(node: dict[str, Any], key: str, path: str) -> list[str]:
    found = node.get(key, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        _fail(path, f'"{key}" is a list of texts')
    return found


def _simple_name(name: object, path: str) -> str:
    if not isinstance(name, str) or not _NAME.match(name):
        _fail(path, f"{json.dumps(name)} is no name: it has letters, digits and '_', and does not begin with a digit")
    return name


def _name(name: object, path: str) -> str:
    """Return a name that may have a namespace."""
    if not isinstance(name, str):
        _fail(path, f"{json.dumps(name)} is no name")
    for each in name.split("."):
        _simple_name(each, path)
    return name


def _full_name(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


def _declared_name(node: dict[str, Any], namespace: str, path: str) -> tuple[str, str]:
    """Return the full name of a type that is declared, and its namespace."""
    name = _name(_required(node, "name", path), path)
    if "." not in name:
        namespace = node.get("namespace", namespace)
        if namespace:
            _name(namespace, path)
        elif namespace != "":
            _fail(path, '"namespace" is a text')
    full = _full_name(name, namespace)
    if full in _KINDS and _KINDS[full] in _PRIMITIVES:
        _fail(path, f"a type cannot have the name '{full}'")
    return full, full.rpartition(".")[0]


def _read_symbols(avro: AvroType, node: dict[str, Any], path: str) -> None:
    _required(node, "symbols", path)
    avro.symbols = tuple(_simple_name(each, path) for each in _texts(node, "symbols", path))
    if len(set(avro.symbols)) != len(avro.symbols):
        _fail(path, f"the enum {avro.name} has a symbol twice")
    avro.default_symbol = node.get("default")
    if avro.default_symbol is not None and avro.default_symbol not in avro.symbols:
        _fail(path, f"the default {json.dumps(avro.default_symbol)} is no symbol of the enum {avro.name}")


def _logical(avro: AvroType, node: dict[str, Any]) -> LogicalType | None:
    name = node.get("logicalType")
    if not isinstance(name, str):
        return None
    if name == "decimal":
        return _decimal(avro, node)
    is_known = name in _LOGICAL.get(avro.kind, ()) or (
        avro.kind is AvroKind.FIXED and _LOGICAL_FIXED.get(name) == avro.size
    )
    return LogicalType(name) if is_known else None


def _decimal(avro: AvroType, node: dict[str, Any]) -> LogicalType | None:
    precision, scale = node.get("precision"), node.get("scale", 0)
    if avro.kind not in {AvroKind.BYTES, AvroKind.FIXED} or type(precision) is not int or type(scale) is not int:
        return None
    if not 0 <= scale <= precision or precision == 0:
        return None
    if avro.kind is AvroKind.FIXED and precision > max_digits(avro.size):
        return None
    return LogicalType("decimal", precision, scale)


def max_digits(size: int) -> int:
    """Return how many decimal digits always fit in a number of so many bytes."""
    return math.floor((8 * size - 1) * math.log10(2)) if size else 0
