"""The steps that lead from a writer's schema to columns, by Avro's rules of schema resolution.

Without a reader's schema each column takes the field of its name. With one, names, aliases, defaults and promotions
are those that Avro 1.12 has for writer and reader, and the column takes the reader's field of its name. Where several
branches of a reader's union take a value, the first of the writer's own kind is used, else the first that a promotion
reaches, as in Avro's library for Java.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from datasources.errors import SchemaError
from datasources.formats.avro.resolution.conversions import PROMOTIONS, Incompatible, conversion
from datasources.formats.avro.resolution.steps import PREFIXED, Form, Plan, Step
from datasources.formats.avro.schema.avro_defaults import InvalidDefault, encode_default
from datasources.formats.avro.schema.avro_schema import AvroSchema
from datasources.formats.avro.schema.avro_types import NAMED, AvroField, AvroKind, AvroType, base_name
from datasources.formats.columns.column_tree import ColumnTree, parts_of
from datasources.formats.schema_text.ddl_types import type_text

_KEY: Final = AvroType(AvroKind.STRING)
_SKIPPED: Final = {
    AvroKind.NULL: Form.NULL,
    AvroKind.BOOLEAN: Form.BOOLEAN,
    AvroKind.INT: Form.INTEGER,
    AvroKind.LONG: Form.INTEGER,
    AvroKind.FLOAT: Form.FLOAT,
    AvroKind.DOUBLE: Form.DOUBLE,
    AvroKind.BYTES: Form.BYTES,
    AvroKind.STRING: Form.BYTES,
    AvroKind.FIXED: Form.BYTES,
    AvroKind.ENUM: Form.ENUM,
    AvroKind.RECORD: Form.RECORD,
    AvroKind.ARRAY: Form.ARRAY,
    AvroKind.MAP: Form.MAP,
    AvroKind.UNION: Form.UNION,
}
_SIZES: Final = {AvroKind.INT: 4, AvroKind.LONG: 8, AvroKind.BYTES: PREFIXED, AvroKind.STRING: PREFIXED}
_BYTES: Final = frozenset((AvroKind.BYTES, AvroKind.STRING, AvroKind.FIXED))
_IS_NULL: Final = "it is null and the column is NOT NULL"


def resolve(writer: AvroSchema, columns: pa.Schema, reader: AvroSchema | None = None) -> Plan:
    """Return the steps that decode a writer's records into columns.

    Args:
        writer: the schema that the records were written with.
        columns: the columns, with their nullability.
        reader: the schema that the user expects; its names, aliases and defaults count. None = there is none.

    Raises:
        SchemaError: a column cannot take the writer's values; the message names the field and why.
    """
    tree = ColumnTree(columns)
    for schema, whose in ((writer, "writer"), (reader, "reader")):
        if schema is not None and schema.type.kind is not AvroKind.RECORD:
            raise SchemaError(f"the {whose}'s Avro schema is {schema.type}, not a record, and has no columns")
    try:
        root = _Resolver(tree).link(_Pair(writer.type, None if reader is None else reader.type), 0, "")
    except Incompatible as problem:
        where = f"field '{problem.path}'" if problem.path else "the record"
        raise SchemaError(f"the Avro schema does not fit the columns: {where}: {problem}") from None
    return Plan(root, tree)


@dataclass(frozen=True, slots=True)
class _Pair:
    """The type of a writer, and what the reader's schema declares for it, if there is one."""

    writer: AvroType
    reader: AvroType | None


class _Resolver:
    def __init__(self, tree: ColumnTree) -> None:
        self._tree = tree
        self._skipped: dict[AvroType, Step] = {}

    def link(self, pair: _Pair, column: int, path: str) -> Step:
        """Return the step for a value that a column receives.

        Raises:
            Incompatible: it does not fit.
        """
        if pair.writer.is_union:
            return self._union(pair, column, path)
        if pair.reader is not None:
            pair = _Pair(pair.writer, _readers_type(pair.writer, pair.reader, path))
        arrow = self._tree.fields[column].type
        if pair.writer.is_null:
            if not self._tree.fields[column].nullable:
                raise Incompatible(path, _IS_NULL)
            return Step(Form.NULL, pair.writer)
        nested = _NESTED.get(pair.writer.kind)
        if nested is None:
            step = conversion(pair.writer, pair.reader, arrow, path)
            if pair.reader is not None and step.form == Form.ENUM:
                step.symbols = _readers_symbols(pair.writer, pair.reader)
            step.column = column
            return step
        if not nested.is_kind(arrow):
            raise Incompatible(path, f"the writer's {pair.writer} does not fit a column of type {type_text(arrow)}")
        return nested.link(self, pair, column, path)

    def skip(self, avro: AvroType) -> Step:
        """Return the step for a value that no column needs; a type that contains itself gives a step that does."""
        if avro not in self._skipped:
            self._skipped[avro] = _unlinked(avro)
            waiting = [avro]
            while waiting:
                each = waiting.pop()
                inner = list(_inner_types(each))
                waiting += [other for other in dict.fromkeys(inner) if other not in self._skipped]
                self._skipped |= {other: _unlinked(other) for other in inner if other not in self._skipped}
                self._skipped[each].children = [self._skipped[other] for other in inner]
        return self._skipped[avro]

    def _union(self, pair: _Pair, column: int, path: str) -> Step:
        steps = []
        problems: list[tuple[AvroType, Incompatible]] = []
        for branch in pair.writer.items:
            try:
                steps.append(self.link(_Pair(branch, pair.reader), column, path))
            except Incompatible as problem:
                steps.append(Step(Form.REFUSED, branch, reason=_branch_reason(branch, problem)))
                problems.append((branch, problem))
        is_useful = any(step.form not in {Form.REFUSED, Form.NULL} for step in steps)
        if problems and not is_useful:
            raise next((problem for branch, problem in problems if not branch.is_null), problems[0][1])
        return Step(Form.UNION, pair.writer, children=steps)

    def _array(self, pair: _Pair, column: int, path: str) -> Step:
        items = _Pair(pair.writer.items[0], None if pair.reader is None else pair.reader.items[0])
        child = self.link(items, self._tree.first_parts[column], f"{path}[]")
        return Step(Form.ARRAY, pair.writer, column, children=[child])

    def _map(self, pair: _Pair, column: int, path: str) -> Step:
        first = self._tree.first_parts[column]
        values = _Pair(pair.writer.items[0], None if pair.reader is None else pair.reader.items[0])
        key = conversion(_KEY, None, self._tree.fields[first].type, f"{path}[]")
        key.column = first
        return Step(Form.MAP, pair.writer, column, children=[key, self.link(values, first + 1, f"{path}[]")])

    def _record(self, pair: _Pair, column: int, path: str) -> Step:
        parts = parts_of(self._tree.fields[column].type)
        links = _FieldLinks(pair.writer)
        for position, part in enumerate(parts):
            inner, child = f"{path}.{part.name}" if path else part.name, self._tree.first_parts[column] + position
            declared = None if pair.reader is None else _field(pair.reader, part.name)
            written = _field(pair.writer, part.name) if pair.reader is None else _written(pair.writer, declared)
            if written is not None:
                types = _Pair(written.type, None if declared is None else declared.type)
                links.add(written, position, self.link(types, child, inner), inner)
            elif (step := self._default(declared, child, inner)) is not None:
                links.defaults.append((part.name, position, step))
        steps = links.steps(self.skip)
        return Step(
            Form.RECORD,
            pair.writer,
            column,
            names=tuple(name for name, _, _ in steps),
            positions=tuple(position for _, position, _ in steps),
            columns=tuple(part.name for part in parts),
            children=[step for _, _, step in steps],
        )

    def _default(self, declared: AvroField | None, column: int, path: str) -> Step | None:
        """Return the step for a column that the writer's record lacks; None = it is null."""
        is_nullable = self._tree.fields[column].nullable
        if declared is None or declared.default is None:
            if is_nullable:
                return None
            raise Incompatible(path, "the column is NOT NULL and the writer's schema has no such field")
        if declared.default.value is None and not is_nullable:
            raise Incompatible(path, "the column is NOT NULL and the reader's default is null")
        avro = declared.type
        try:
            content = encode_default(avro, declared.default.value)
        except InvalidDefault as reason:
            raise Incompatible(path, f"the reader's default cannot be used: {reason}") from None
        return Step(Form.DEFAULT, avro, children=[self.link(_Pair(avro, avro), column, path)], content=content)


class _FieldLinks:
    """The steps of a record: those of its fields in the writer's order, and defaults."""

    def __init__(self, writer: AvroType) -> None:
        self._writer = writer
        self._linked: dict[str, tuple[int, Step]] = {}
        self.defaults: list[tuple[str, int, Step]] = []

    def add(self, written: AvroField, position: int, step: Step, path: str) -> None:
        """Add the step for a field that a column receives."""
        if written.name in self._linked:
            raise Incompatible(path, f"another column takes the writer's field '{written.name}' already")
        self._linked[written.name] = position, step

    def steps(self, skip: Callable[[AvroType], Step]) -> list[tuple[str, int, Step]]:
        """Return names, positions in the STRUCT and steps."""
        found = []
        for each in self._writer.fields:
            position, step = self._linked.get(each.name, (-1, None))
            found.append((each.name, position, skip(each.type) if step is None else step))
        return found + self.defaults


@dataclass(frozen=True, slots=True)
class _Nested:
    """Types whose values have parts: which columns hold them, and how they are linked."""

    is_kind: Callable[[pa.DataType], bool]
    link: Callable[[_Resolver, _Pair, int, str], Step]


_NESTED: Final = {
    AvroKind.RECORD: _Nested(pa.types.is_struct, _Resolver._record),  # noqa: SLF001 - of this file
    AvroKind.ARRAY: _Nested(pa.types.is_list, _Resolver._array),  # noqa: SLF001
    AvroKind.MAP: _Nested(pa.types.is_map, _Resolver._map),  # noqa: SLF001
}


def _branch_reason(branch: AvroType, problem: Incompatible) -> str:
    return str(problem) if branch.is_null else f"its value is of the union's branch {branch}: {problem}"


def _inner_types(avro: AvroType) -> Iterator[AvroType]:
    if avro.kind is AvroKind.MAP:
        yield _KEY
    yield from avro.items
    yield from (each.type for each in avro.fields)


def _unlinked(avro: AvroType) -> Step:
    return Step(
        _SKIPPED[avro.kind],
        avro,
        size=avro.size if avro.kind is AvroKind.FIXED else _SIZES.get(avro.kind, 0),
        factor=0 if avro.kind in _BYTES else 1,
        symbols=avro.symbols,
        names=tuple(each.name for each in avro.fields),
        positions=(-1,) * len(avro.fields),
    )


def _field(record: AvroType, name: str) -> AvroField | None:
    return next((each for each in record.fields if each.name == name), None)


def _written(writer: AvroType, declared: AvroField | None) -> AvroField | None:
    """Return the writer's field for one of the reader's: that of its name, or of one of its aliases."""
    if declared is None:
        return None
    found = (_field(writer, name) for name in (declared.name, *declared.aliases))
    return next((each for each in found if each is not None), None)


def _readers_type(writer: AvroType, reader: AvroType, path: str) -> AvroType:
    """Return what takes a writer's values, the reader's type or a branch of it."""
    same = (each for each in reader.branches if _is_same(writer, each))
    wider = (each for each in reader.branches if each.kind in PROMOTIONS.get(writer.kind, ()))
    found = next(same, None) or next(wider, None)
    if found is None:
        raise Incompatible(path, f"the writer's {writer} does not match the reader's {reader}")
    return found


def _is_same(writer: AvroType, reader: AvroType) -> bool:
    if writer.kind is not reader.kind or writer.size != reader.size:
        return False
    names = {base_name(each) for each in (reader.name, *reader.aliases)}
    return writer.kind not in NAMED or base_name(writer.name) in names


def _readers_symbols(writer: AvroType, reader: AvroType) -> tuple[str | None, ...]:
    return tuple(each if each in reader.symbols else reader.default_symbol for each in writer.symbols)
