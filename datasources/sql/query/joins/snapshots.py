"""`LATERAL SNAPSHOT(input => TABLE rates, ...)`: when the table counts as loaded (FLIP-579)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from datasources.grammar.lexer import TokenKind
from datasources.sql.query.block.block_context import BlockContext
from datasources.sql.query.block.temporal_request import TableTraits
from datasources.sql.query.scan.intervals import interval_us
from datasources.sql.text.query_tree import Region, Tvf

_CONDITION, _TIME, _IDLE, _TTL = (
    "LOAD_COMPLETED_CONDITION",
    "LOAD_COMPLETED_TIME",
    "LOAD_COMPLETED_IDLE_TIMEOUT",
    "STATE_TTL",
)
_PARAMETERS: Final = (_CONDITION, _TIME, _IDLE, _TTL)
_SHAPE: Final = (
    "Write SNAPSHOT(input => TABLE rates, load_completed_condition => 'user_time', load_completed_time => "
    "TIMESTAMP '2026-01-01 00:00:00', load_completed_idle_timeout => INTERVAL '1' MINUTE); only input is needed."
)
_PRECISION: Final = re.compile(r"\b(TIMESTAMP(?:_LTZ)?)\s*\(\s*\d\s*\)", re.IGNORECASE)
_EPOCH_MS: Final = re.compile(r"\bTO_TIMESTAMP_LTZ\s*\(([^(),]+),\s*3\s*\)", re.IGNORECASE)
_US_PER_MS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """See `TemporalBuild.load_time` and `TemporalBuild.idle_timeout_ms`."""

    time: str | None = None
    idle_timeout_ms: int | None = None


def loading_of(context: BlockContext, tvf: Tvf, traits: TableTraits) -> Loading:
    """Read the arguments behind the table.

    Raises:
        SqlError: one is unknown, malformed, missing or of no use here.
    """
    given = _named(context, tvf)
    if _TTL in given:
        raise context.error(
            context.words.span(given[_TTL]),
            "state_ttl is not known here: what the table holds stays, and what it deletes goes",
            "Leave it out.",
        )
    return Loading(time=_time(context, tvf, given, traits), idle_timeout_ms=_idle_timeout_ms(context, given))


def _time(context: BlockContext, tvf: Tvf, given: dict[str, Region], traits: TableTraits) -> str | None:
    words = context.words
    is_users = _is_users(context, given)
    if not is_users and _TIME in given:
        span = words.span(given[_TIME])
        raise context.error(span, "load_completed_time needs load_completed_condition => 'user_time'", _SHAPE)
    if not is_users:
        return None
    if _TIME not in given:
        raise context.error(tvf.name_span, "'user_time' needs load_completed_time", _SHAPE)
    if not traits.rowtimes:
        raise context.error(
            words.span(given[_TIME]),
            f"load_completed_time is reached by a watermark, and table '{tvf.data.name}' has none",
            "Declare one with WATERMARK FOR in its CREATE TABLE, or leave condition and time out.",
        )
    written = _PRECISION.sub(r"\1", words.text(given[_TIME]))
    return _EPOCH_MS.sub(r"timestamp_millis(\1)", written)


def _is_users(context: BlockContext, given: dict[str, Region]) -> bool:
    """Whether the user defines when the table is loaded; by default, its content at the start."""
    if _CONDITION not in given:
        return False
    token = context.words[given[_CONDITION].first]
    known = {"'compile_time'": False, "'user_time'": True}
    if token.kind is not TokenKind.STRING or token.text.lower() not in known:
        raise context.error(
            context.words.span(given[_CONDITION]),
            "load_completed_condition is 'compile_time' or 'user_time'",
            "'compile_time', the default: loaded when that was read which the table held as the query began.",
        )
    return known[token.text.lower()]


def _idle_timeout_ms(context: BlockContext, given: dict[str, Region]) -> int | None:
    if _IDLE not in given:
        return None
    us = interval_us(context.words, given[_IDLE], "load_completed_idle_timeout")
    if us < _US_PER_MS:
        raise context.error(context.words.span(given[_IDLE]), "load_completed_idle_timeout must be more than 0")
    return us // _US_PER_MS


def _named(context: BlockContext, tvf: Tvf) -> dict[str, Region]:
    given: dict[str, Region] = {}
    for number, (written, region) in enumerate(tvf.arguments):
        name = written or (_PARAMETERS[number] if number < len(_PARAMETERS) else "")
        if name not in _PARAMETERS:
            what = f"SNAPSHOT has no argument {name}" if name else "SNAPSHOT has too many arguments"
            raise context.error(context.words.span(region), what, _SHAPE)
        if name in given:
            raise context.error(context.words.span(region), f"{name} is given twice", _SHAPE)
        given[name] = region
    if tvf.partition:
        span = context.words.span(tvf.partition[0])
        raise context.error(span, "SNAPSHOT takes no PARTITION BY", "The join's condition gives the key.")
    return given
