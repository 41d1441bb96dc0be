"""Templates: a regular expression for the documents of one producer, derived from a sample of them.

Theory of operation: whether the fast path may decode a document depends on its whole text: the names of its members
must be distinct and known, and both decoders must read each value's text alike. Producers write the members of a
record in a fixed order, so a regular expression can decide: the members in order, those that some documents lack as
optional, each value with the pattern of its column's type. Members that the schema does not have are included, because
their syntax must be checked. A document that no template matches only takes longer.

Rules of this file: a template never holds a name twice; a member of a NOT NULL column is never optional nor null.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from datasources.arrow_types import TIMESTAMP
from datasources.formats.json.fast_path.composite_patterns import (
    UnsupportedTemplate,
    array_pattern,
    map_pattern,
    member_pattern,
    object_pattern,
    sequence_pattern,
)
from datasources.formats.json.fast_path.value_patterns import (
    ANY_SCALAR,
    NULL,
    SPACE,
    TimestampText,
    scalar_pattern,
    timestamp_pattern,
)
from datasources.formats.json.text.json_scanner import Members, Whole

__all__ = ["Template", "TimestampKinds", "merged", "template_of"]

_MAX_VARIANTS = 6
_MAX_DEPTH = 20
_MAX_ALL_OPTIONAL = 10
_MAX_GROWTH = 4_000
"""Characters by which a pattern may be longer than the longer one of the two that it is made of."""


@dataclass(frozen=True, slots=True)
class TimestampKinds:
    """How the TIMESTAMP columns are written; determined by the first value of each column.

    Attributes:
        columns: name of a top-level column -> its kind; filled while templates are built.
        is_utc: texts without a zone mean UTC.
        has_zone: texts without a zone can be read.
    """

    columns: dict[str, TimestampText]
    is_utc: bool
    has_zone: bool

    def pattern(self, column: str | None, value: object) -> str:
        """Return the pattern for a column (None: nested, where nothing is converted afterwards), given one value.

        Raises:
            UnsupportedTemplate: the column has no kind yet and the value has none either.
        """
        if column is None:
            return timestamp_pattern(TimestampText.ZONED, is_utc=self.is_utc)
        if column not in self.columns:
            self.columns[column] = self._kind(value)
        return timestamp_pattern(self.columns[column], is_utc=self.is_utc)

    def _kind(self, value: object) -> TimestampText:
        text = str(value) if type(value) is Whole else f'"{value}"' if type(value) is str else ""
        for kind in TimestampText:
            is_readable = kind is not TimestampText.LOCAL or self.has_zone
            if is_readable and re.fullmatch(timestamp_pattern(kind, is_utc=self.is_utc), text):
                return kind
        raise UnsupportedTemplate


@dataclass(frozen=True, slots=True)
class TemplateMember:
    """A member of the documents: the patterns of its values, and whether every document has it."""

    patterns: tuple[str, ...]
    is_required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The documents whose members come in one order.

    Attributes:
        members: name -> member, in the order of the documents.
        is_total: no document lacks a field of the schema, nested ones included.
        pattern: the regular expression that matches the whole text of these documents.

    Raises:
        UnsupportedTemplate: the pattern would be too long.
    """

    members: Mapping[str, TemplateMember] = field(compare=False)
    is_total: bool
    pattern: str = field(init=False)

    def __post_init__(self) -> None:
        items = [(member_pattern(name, m.patterns), m.is_required) for name, m in self.members.items()]
        object.__setattr__(self, "pattern", SPACE + object_pattern(sequence_pattern(items)) + SPACE)


def template_of(document: object, fields: Mapping[str, pa.Field], kinds: TimestampKinds) -> Template:
    """Return the template of one document.

    ``kinds`` is extended by new columns.

    Raises:
        UnsupportedTemplate: the document is no object, repeats a member, lacks a value for a NOT NULL column, or the
            template would be too large.
    """
    builder = _TemplateBuilder(kinds)
    items = builder.members(document, fields, is_top=True)
    return _checked(Template(members={n: TemplateMember((p,), True) for n, p in items}, is_total=builder.is_total))


def merged(one: Template, other: Template, fields: Mapping[str, pa.Field]) -> Template | None:
    """Return the template for documents that either one matches, and for mixtures of them.

    Returns:
        It, or None if their orders contradict each other, or if its pattern would be much longer than one of theirs.
    """
    common = [name for name in one.members if name in other.members]
    if common != [name for name in other.members if name in one.members]:
        return None
    members: dict[str, TemplateMember] = {}
    for name in _interleaved(list(one.members), list(other.members), set(common)):
        joined = _joined(one.members.get(name), other.members.get(name))
        if not joined.is_required and name in fields and not fields[name].nullable:
            return None
        members[name] = joined
    try:
        lacks = any(name not in members or not members[name].is_required for name in fields)
        both = _checked(Template(members=members, is_total=one.is_total and other.is_total and not lacks))
    except UnsupportedTemplate:
        return None
    # Matching cost grows with the pattern: a few documents with unusual members must not slow down all others.
    shorter, longer = sorted((len(one.pattern), len(other.pattern)))
    return both if len(both.pattern) <= min(2 * shorter, longer) + _MAX_GROWTH else None


class _TemplateBuilder:
    """Builds the patterns of one document's values."""

    def __init__(self, kinds: TimestampKinds) -> None:
        self.is_total = True
        self._kinds = kinds
        self._depth = 0

    def members(self, value: object, fields: Mapping[str, pa.Field], *, is_top: bool = False) -> list[tuple[str, str]]:
        """Return name and pattern of each member of an object."""
        if type(value) is not Members or len({name for name, _ in value}) < len(value):
            raise UnsupportedTemplate
        items = [(name, self._member(name, item, fields.get(name), is_top=is_top)) for name, item in value]
        missing = fields.keys() - {name for name, _ in items}
        if any(not fields[name].nullable for name in missing):
            raise UnsupportedTemplate
        self.is_total = self.is_total and not missing
        return items

    def _member(self, name: str, value: object, field: pa.Field | None, *, is_top: bool) -> str:
        if field is None:
            return self._unknown(value)
        if value is None:
            if not field.nullable:
                raise UnsupportedTemplate
            return NULL
        pattern = self._typed(value, field.type, name if is_top else None)
        return f"{pattern}|{NULL}" if field.nullable else pattern

    def _typed(self, value: object, arrow: pa.DataType, column: str | None) -> str:
        if pa.types.is_struct(arrow):
            return self._object(value, {f.name: f for f in arrow})
        if pa.types.is_list(arrow):
            if type(value) is not list:
                raise UnsupportedTemplate
            return array_pattern(self._items(value, arrow.value_type))
        if pa.types.is_map(arrow):
            if type(value) is not Members:
                raise UnsupportedTemplate
            return map_pattern(self._items([item for _, item in value], arrow.item_type))
        if arrow == TIMESTAMP:
            return self._kinds.pattern(column, value)
        return scalar_pattern(arrow)

    def _object(self, value: object, fields: Mapping[str, pa.Field]) -> str:
        members = self.members(value, fields)
        return object_pattern(sequence_pattern([(member_pattern(name, (p,)), True) for name, p in members]))

    def _items(self, values: list[object], arrow: pa.DataType) -> list[str]:
        patterns = dict.fromkeys(self._typed(v, arrow, None) for v in values if v is not None)
        return [*patterns, NULL]

    def _unknown(self, value: object) -> str:
        if not isinstance(value, list):
            return ANY_SCALAR
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise UnsupportedTemplate
        if type(value) is Members:
            pattern = self._object(value, {})
        else:
            pattern = array_pattern(dict.fromkeys(map(self._unknown, value)) or [NULL])
        self._depth -= 1
        return pattern


def _joined(one: TemplateMember | None, other: TemplateMember | None) -> TemplateMember:
    patterns = dict.fromkeys((*(one.patterns if one else ()), *(other.patterns if other else ())))
    is_required = one is not None and other is not None and one.is_required and other.is_required
    return TemplateMember(tuple(patterns), is_required)


def _interleaved(one: list[str], other: list[str], common: set[str]) -> Iterator[str]:
    """Yield the names of both in an order that contradicts neither; the common ones come in the same order in both."""
    remaining = iter(other)
    for name in one:
        if name in common:
            for between in remaining:
                yield between
                if between == name:
                    break
        else:
            yield name
    yield from remaining


def _checked(template: Template) -> Template:
    has_required = any(m.is_required for m in template.members.values())
    if not has_required and len(template.members) > _MAX_ALL_OPTIONAL:
        raise UnsupportedTemplate
    if any(len(m.patterns) > _MAX_VARIANTS for m in template.members.values()):
        raise UnsupportedTemplate
    return template
