"""Calls with words between their arguments: `EXTRACT(unit FROM x)`, `TRIM(BOTH x FROM y)`, JSON_VALUE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from datasources.sql.flink.parse.syntax import Call, Cast, Node
from datasources.sql.flink.parse.token_reader import TokenReader
from datasources.sql.text.query_tree import Region

UNITS: Final = frozenset(
    {"MILLENNIUM", "CENTURY", "DECADE", "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"}
    | {"MILLISECOND", "MICROSECOND", "NANOSECOND", "EPOCH", "DOW", "ISODOW", "DOY", "ISOYEAR", "FRAC_SECOND"}
    | {"SQL_TSI_" + unit for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")}
)
_SIDES: Final = frozenset({"BOTH", "LEADING", "TRAILING"})
_NULL_CLAUSES: Final = frozenset({"NULL", "ABSENT"})

_Special = Callable[[TokenReader, Region], Node]


def _call(parser: TokenReader, name: Region, arguments: tuple[Node, ...], words: tuple[str, ...] = ()) -> Call:
    return Call(
        name=parser.words[name.first].value.upper(),
        name_region=name,
        arguments=arguments,
        words=words,
        region=Region(name.first, parser.last + 1),
    )


def _cast(parser: TokenReader, name: Region) -> Node:
    operand = parser.operand(0)
    parser.expect("AS")
    kind = parser.type_until(parser.last)
    is_try = parser.words.word(name.first) == "TRY_CAST"
    return Cast(operand=operand, type=kind, is_try=is_try, region=Region(name.first, parser.last + 1))


def _extract(parser: TokenReader, name: Region) -> Node:
    unit = _unit(parser)
    parser.expect("FROM")
    return _call(parser, name, (parser.operand(0),), (unit,))


def _trim(parser: TokenReader, name: Region) -> Node:
    side = parser.word() if parser.word() in _SIDES else ""
    parser.at += bool(side)
    if side and parser.skip("FROM"):
        return _call(parser, name, (parser.operand(0),), (side,))
    first = parser.operand(0)
    if parser.skip("FROM"):
        return _call(parser, name, (parser.operand(0), first), (side or "BOTH",))
    more = (first, *parser.arguments()) if parser.skip_symbol(",") else (first,)
    return _call(parser, name, more, (side,) if side else ())


def _substring(parser: TokenReader, name: Region) -> Node:
    operand = parser.operand(0)
    if not parser.skip("FROM"):
        more = parser.arguments() if parser.skip_symbol(",") else ()
        return _call(parser, name, (operand, *more))
    start = parser.operand(0)
    length = (parser.operand(0),) if parser.skip("FOR") else ()
    return _call(parser, name, (operand, start, *length))


def _position(parser: TokenReader, name: Region) -> Node:
    wanted = parser.operand(32)
    parser.expect("IN")
    text = parser.operand(0)
    start = (parser.operand(0),) if parser.skip("FROM") else ()
    return _call(parser, name, (wanted, text, *start))


def _overlay(parser: TokenReader, name: Region) -> Node:
    operand = parser.operand(0)
    if not parser.skip("PLACING"):
        more = parser.arguments() if parser.skip_symbol(",") else ()
        return _call(parser, name, (operand, *more))
    placed = parser.operand(0)
    parser.expect("FROM")
    start = parser.operand(0)
    length = (parser.operand(0),) if parser.skip("FOR") else ()
    return _call(parser, name, (operand, placed, start, *length))


def _rounded(parser: TokenReader, name: Region) -> Node:
    operand = parser.operand(0)
    words = (_unit(parser),) if parser.skip("TO") else ()
    return _call(parser, name, (operand,), words)


def _with_unit(parser: TokenReader, name: Region) -> Node:
    unit = _unit(parser)
    parser.expect_symbol(",")
    return _call(parser, name, parser.arguments(), (unit,))


def _unit(parser: TokenReader) -> str:
    unit = parser.word()
    if unit not in UNITS:
        raise parser.unexpected("a unit such as SECOND")
    parser.at += 1
    return unit.removeprefix("SQL_TSI_")


def _json_value(parser: TokenReader, name: Region) -> Node:
    """`words` has "RETURNING type", "NULL ON EMPTY", "DEFAULT ON ERROR", ...; each DEFAULT adds an argument."""
    arguments = [*parser.arguments()]
    words: list[str] = []
    while parser.at < parser.last:
        if parser.skip("RETURNING"):
            words.append("RETURNING " + _returned(parser))
        elif parser.word() in {"WITH", "WITHOUT"}:
            words.append(_wrapper(parser))
        else:
            words.append(_on(parser, arguments))
    return _call(parser, name, tuple(arguments), tuple(words))


def _returned(parser: TokenReader) -> str:
    first = parser.at
    stops = {"NULL", "ERROR", "DEFAULT", "WITH", "WITHOUT", "EMPTY", "TRUE", "FALSE", "UNKNOWN"}
    while parser.at < parser.last and parser.word() not in stops:
        parser.at = parser.words.after(parser.at)
    return parser.words.text(Region(first, parser.at))


def _wrapper(parser: TokenReader) -> str:
    found: list[str] = []
    while parser.word() in {"WITH", "WITHOUT", "CONDITIONAL", "UNCONDITIONAL", "ARRAY", "WRAPPER"}:
        found.append(parser.word())
        parser.at += 1
    return " ".join(found)


def _on(parser: TokenReader, arguments: list[Node]) -> str:
    found: list[str] = []
    if parser.skip("DEFAULT"):
        found.append("DEFAULT")
        arguments.append(parser.operand(0))
    while parser.word() in {"NULL", "ERROR", "EMPTY", "ARRAY", "OBJECT", "TRUE", "FALSE", "UNKNOWN"}:
        found.append(parser.word())
        parser.at += 1
    parser.expect("ON")
    if parser.word() not in {"EMPTY", "ERROR"}:
        raise parser.unexpected("EMPTY or ERROR")
    found += ["ON", parser.word()]
    parser.at += 1
    return " ".join(found)


def _json_object(parser: TokenReader, name: Region) -> Node:
    """Keys and values in turns; `words` has "NULL ON NULL" or "ABSENT ON NULL"."""
    arguments: list[Node] = []
    while parser.at < parser.last and not _is_null_clause(parser):
        parser.skip("KEY")
        arguments.append(parser.operand(0))
        if not parser.skip_symbol(":"):
            parser.expect("VALUE")
        arguments.append(parser.operand(0))
        if not parser.skip_symbol(","):
            break
    return _call(parser, name, tuple(arguments), _null_clause(parser))


def _json_array(parser: TokenReader, name: Region) -> Node:
    arguments: list[Node] = []
    while parser.at < parser.last and not _is_null_clause(parser):
        arguments.append(parser.operand(0))
        if not parser.skip_symbol(","):
            break
    return _call(parser, name, tuple(arguments), _null_clause(parser))


def _is_null_clause(parser: TokenReader) -> bool:
    return parser.word() in _NULL_CLAUSES and parser.word(1) == "ON"


def _null_clause(parser: TokenReader) -> tuple[str, ...]:
    if not _is_null_clause(parser):
        return ()
    word = parser.word()
    parser.at += 1
    parser.expect("ON", "NULL")
    return (f"{word} ON NULL",)


SPECIAL_CALLS: Final[dict[str, _Special]] = {
    **dict.fromkeys(("CAST", "TRY_CAST"), _cast),
    "EXTRACT": _extract,
    "TRIM": _trim,
    **dict.fromkeys(("SUBSTRING", "SUBSTR"), _substring),
    "POSITION": _position,
    "OVERLAY": _overlay,
    **dict.fromkeys(("CEIL", "CEILING", "FLOOR"), _rounded),
    **dict.fromkeys(("TIMESTAMPADD", "TIMESTAMPDIFF"), _with_unit),
    **dict.fromkeys(("JSON_VALUE", "JSON_QUERY", "JSON_EXISTS"), _json_value),
    **dict.fromkeys(("JSON_OBJECT", "JSON_OBJECTAGG"), _json_object),
    **dict.fromkeys(("JSON_ARRAY", "JSON_ARRAYAGG"), _json_array),
}
"""How the arguments of such a function are read."""
