"""Options: one declaration gives the key, the type, the default, the documentation and the error.

Theory of operation. A group of options is a frozen pydantic model whose fields carry the option key as alias.
`parse_options` takes the user's mapping and several such groups, matches keys without regard to case (Spark lowers
them on its way to Python), refuses unknown ones with near matches, and turns pydantic's complaints into one
`OptionError` that names the key. `render_options` makes the reference table in docs/ from the same declaration.
"""

from __future__ import annotations

import difflib
import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import PydanticUndefined

from datasources.durations import format_duration_ms, parse_duration_ms, warn_of_missing_unit
from datasources.errors import OptionError

__all__ = [
    "SECRET_MARK",
    "Choices",
    "DurationMs",
    "OptionGroup",
    "Secret",
    "is_marked",
    "lower_keys",
    "parse_group",
    "reject_unknown",
    "render_options",
]


class OptionGroup(BaseModel):
    """Base of a group of options; fields have `alias` = the option's key and `description` = its documentation."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=False, strict=False)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Return the fields to show of the group: every value but a secret's."""
        fields = type(self).model_fields
        for name, value in super().__repr_args__():
            is_secret = name is not None and is_marked(fields.get(name), SECRET_MARK)
            yield name, _MASK if is_secret and value is not None else value


G = TypeVar("G", bound=OptionGroup)


class _DurationMarker:
    """Marks a field as a duration, for the reference table."""


class Choices:
    """Marks a text field that takes one of some names, for the reference table."""

    def __init__(self, names: Callable[[], list[str]]) -> None:
        self.names = names


class _SecretMarker:
    """Marks a field whose value must never be shown."""


_UNNAMED = ""
"""Replaces the key where pydantic does not report it."""


def _duration(value: object) -> object:
    if isinstance(value, str):
        try:
            return parse_duration_ms(value, key=_UNNAMED)
        except OptionError as error:
            raise ValueError(error.message.removeprefix(f"option '{_UNNAMED}' = '{value}' ")) from None
    return value


DurationMs = Annotated[int, BeforeValidator(_duration), _DurationMarker()]
Secret = Annotated[str, _SecretMarker()]
SECRET_MARK: type[object] = _SecretMarker
"""What `is_marked` finds at the options of type `Secret`."""
_MASK = "******"
_NOTHING: Mapping[str, str] = MappingProxyType({})


def lower_keys(options: Mapping[str, str]) -> dict[str, str]:
    """Return `options` with lower-case keys; two spellings of one key with different values are an error."""
    lowered: dict[str, str] = {}
    for key, value in options.items():
        folded = key.lower()
        if folded in lowered and lowered[folded] != value:
            raise OptionError(f"option '{key}' is given twice with different values; keys ignore case.")
        lowered[folded] = value
    return lowered


def parse_group(group: type[G], options: Mapping[str, str]) -> G:
    """Return the group filled from those of `options` that belong to it.

    Keys are in lower case; those of other groups are left alone.

    Raises:
        OptionError: naming the key, the value (never a secret's) and the accepted values.
    """
    aliases = {_alias(name, field): field for name, field in group.model_fields.items()}
    own = {alias: options[alias.lower()] for alias in aliases if alias.lower() in options}
    try:
        parsed = group.model_validate(own)
    except ValidationError as error:
        raise OptionError(_explain(error, aliases)) from None
    for alias, value in own.items():
        if is_marked(aliases[alias], _DurationMarker) and isinstance(value, str):
            warn_of_missing_unit(value, key=alias)
    return parsed


def reject_unknown(  # noqa: PLR0913 - keywords, most of them optional
    options: Mapping[str, str],
    groups: Iterable[type[OptionGroup]],
    *,
    prefixes: Iterable[str] = (),
    refused: Mapping[str, str] = _NOTHING,
    what: str,
    page: str | None = None,
) -> None:
    """Raise for the first key of `options` that no group declares.

    Keys are in lower case. Those that begin with one of ``prefixes`` are handed through, such as ``kafka.``; of
    ``refused`` keys, which users bring from elsewhere, the message says what to do instead. ``page`` of the
    documentation has the options; None = that of all sources.
    """
    known = {_alias(name, f).lower(): _alias(name, f) for g in groups for name, f in g.model_fields.items()}
    foreign = {key.lower(): key for key in refused}
    heads = tuple(prefixes)
    for key in options:
        if key in known or key.startswith(heads):
            continue
        if key in foreign:
            raise OptionError(f"option '{foreign[key]}' {refused[foreign[key]]}")
        near = difflib.get_close_matches(key, known, n=3, cutoff=0.6)
        hint = f" Did you mean {_quoted(known[n] for n in near)}?" if near else ""
        listed = page or f"docs/options.md, or `tidemark options {what}`"
        raise OptionError(f"unknown option '{key}' for {what}.{hint} All options: {listed}.")


def render_options(group: type[OptionGroup]) -> list[tuple[str, str, str, str]]:
    """Return (key, type, default, description) of each option of a group, in the order of declaration."""
    return [
        (_alias(name, field), _type_name(field), _default(field), field.description or "")
        for name, field in group.model_fields.items()
    ]


def is_marked(field: Any, marker: type[object]) -> bool:
    """Whether a field's type is marked, also as one side of ``... | None``, where pydantic leaves the mark inside."""
    if field is None:
        return False
    inside = (mark for side in get_args(field.annotation) for mark in getattr(side, "__metadata__", ()))
    return any(isinstance(mark, marker) for mark in (*field.metadata, *inside))


def _alias(name: str, field: Any) -> str:
    return str(field.alias or name)


def _explain(error: ValidationError, aliases: Mapping[str, Any]) -> str:
    problem = error.errors(include_url=False, include_context=False)[0]
    if not problem["loc"]:
        return str(problem["msg"]).removeprefix("Value error, ")
    key = str(problem["loc"][0])
    if problem["type"] == "missing":
        return f"option '{key}' is required: {aliases[key].description}"
    field = aliases.get(key)
    shown = _MASK if is_marked(field, SECRET_MARK) else problem["input"]
    return f"option '{key}' = '{shown}': {_reason(problem, field)}"


def _reason(problem: Any, field: Any) -> str:
    if problem["type"] == "enum" and field is not None:
        return f"use one of {_quoted(_choices(field.annotation))}."
    if problem["type"].startswith("bool"):
        return "use 'true' or 'false'."
    text = str(problem["msg"]).removeprefix("Value error, ")
    return text if text.endswith(".") else f"{text}."


def _choices(annotation: Any) -> list[str]:
    types = [annotation, *get_args(annotation)]
    return [str(m.value) for t in types if isinstance(t, type) and issubclass(t, enum.Enum) for m in t]


def _type_name(field: Any) -> str:
    if is_marked(field, _DurationMarker):
        return "duration"
    named = [name for mark in field.metadata if isinstance(mark, Choices) for name in mark.names()]
    choices = named or _choices(field.annotation)
    if choices:
        return " \\| ".join(choices)
    types = [t for t in (get_args(field.annotation) or (field.annotation,)) if t is not type(None)]
    return {"str": "text", "int": "number", "bool": "true \\| false"}.get(getattr(types[0], "__name__", "text"), "text")


def _default(field: Any) -> str:
    value = field.default
    if value is PydanticUndefined:
        return "(required)"
    if value is None:
        return "(none)"
    if is_marked(field, _DurationMarker):
        return format_duration_ms(value)
    if isinstance(value, enum.Enum):
        return str(value.value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
