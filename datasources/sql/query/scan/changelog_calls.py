"""Parses the arguments of TO_CHANGELOG and FROM_CHANGELOG (Flink's functions, FLIP-564)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from datasources.grammar.lexer import TokenKind
from datasources.sql.text.query_tree import Region, Tvf
from datasources.sql.text.word_cursor import Words

OPERATIONS: Final = {"INSERT": "+I", "UPDATE_BEFORE": "-U", "UPDATE_AFTER": "+U", "DELETE": "-D", "TRUNCATE": "T"}
"""The names of the kinds of changes; TRUNCATE is known to TO_CHANGELOG only."""

_READABLE: Final = [name for name in OPERATIONS if name != "TRUNCATE"]
_FROM_SHAPE: Final = (
    "Write FROM_CHANGELOG(input => TABLE t), and if need be PARTITION BY id behind the table, op => DESCRIPTOR(name) "
    "and op_mapping => MAP['c, r', 'INSERT', ...]."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsRequest:
    """What FROM_CHANGELOG says of the rows of its table.

    Attributes:
        operation: the column with the operation.
        kinds: the operations and their kinds: +I, -U, +U, -D. Others stop the query.
        key: the columns by which an update replaces a row; empty: each change names the row that it removes.
    """

    operation: str
    kinds: tuple[tuple[str, str], ...]
    key: tuple[str, ...] = ()


def descriptor(words: Words, region: Region, shape: str) -> str:
    """Return the column that an argument names: DESCRIPTOR(name).

    Raises:
        SqlError: it names none; ``shape`` says what to write.
    """
    inside = words.inside(region.first + 1) if words.word(region.first) == "DESCRIPTOR" else Region(0, 0)
    if inside.last - inside.first != 1 or not words.is_name(inside.first):
        raise words.source.error(words.span(region), "op names the column of the operation", shape)
    return words[inside.first].value


def mapping(words: Words, region: Region, shape: str) -> list[tuple[list[str], str]]:
    """Return the entries of MAP['a, b', 'c', ...]: the texts of a key between its commas, and the value.

    Raises:
        SqlError: it is no such map; ``shape`` says what to write.
    """
    texts = [words[at].value for at in region if words[at].kind is TokenKind.STRING]
    if words.word(region.first) != "MAP" or not texts or len(texts) % 2:
        raise words.source.error(words.span(region), "op_mapping is a map of texts", shape)
    return [
        ([part.strip() for part in key.split(",")], value) for key, value in zip(texts[::2], texts[1::2], strict=True)
    ]


def events_request(words: Words, tvf: Tvf) -> EventsRequest:
    """Return what a call of FROM_CHANGELOG says of the rows of its table.

    Raises:
        SqlError: an argument is wrong.
    """
    operation, kinds = "op", {name: OPERATIONS[name] for name in _READABLE}
    for argument, region in tvf.arguments:
        if argument == "OP":
            operation = descriptor(words, region, _FROM_SHAPE)
        elif argument == "OP_MAPPING":
            kinds = _kinds(words, region)
        else:
            problem = f"FROM_CHANGELOG has no argument {argument}".rstrip()
            raise words.source.error(words.span(region), problem, _FROM_SHAPE)
    keys = tuple(_column(words, region) for region in tvf.partition)
    has_updates, has_before = ("+U" in kinds.values()), ("-U" in kinds.values())
    if has_updates and not has_before and not keys:
        raise words.source.error(
            tvf.name_span,
            "an update replaces the row of its key, and this FROM_CHANGELOG has no key",
            "Write PARTITION BY id behind the table, or map an operation to UPDATE_BEFORE.",
        )
    return EventsRequest(operation=operation, kinds=tuple(kinds.items()), key=() if has_before else keys)


def _kinds(words: Words, region: Region) -> dict[str, str]:
    found: dict[str, str] = {}
    for codes, name in mapping(words, region, _FROM_SHAPE):
        if name not in _READABLE:
            raise words.source.error(
                words.span(region), f"the operation '{name}' is none of {', '.join(_READABLE)}", _FROM_SHAPE
            )
        for code in codes:
            if code in found:
                raise words.source.error(words.span(region), f"'{code}' is mapped twice", _FROM_SHAPE)
            found[code] = OPERATIONS[name]
    return found


def _column(words: Words, region: Region) -> str:
    if region.last - region.first != 1 or not words.is_name(region.first):
        raise words.source.error(words.span(region), "PARTITION BY takes columns of the table", _FROM_SHAPE)
    return words[region.first].value
