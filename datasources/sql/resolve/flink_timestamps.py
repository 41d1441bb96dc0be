"""TO_TIMESTAMP and TO_TIMESTAMP_LTZ with Flink's results, written in Spark's functions.

Flink reads text with `yyyy-[MM][M]-[dd][d][ [HH][H]:[mm][m]:[ss][s][.fraction]]`, cuts it to milliseconds and gives
NULL for any other text: no `T`, no zone, no blanks around it. A day that its month lacks is the month's last one, and
24:00:00 is the next midnight. Numbers count seconds (precision 0) or milliseconds (3) since 1970 in UTC; outside of the
years 0 to 9999 they are NULL.

The generated expressions use only functions that the reader evaluates as well, so that a watermark over it can be
pushed down. Text for a moment (TIMESTAMP_LTZ) gets its zone as text: nothing here depends on the session's zone.
"""

from __future__ import annotations

import re
from typing import Final

from datasources.grammar.literals import literal
from datasources.sql.text.substitute import in_parentheses

_YEAR: Final = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9]|[+][1-9][0-9]{4,5})"
_DATE: Final = f"{_YEAR}-[0-9]{{1,2}}-[0-9]{{1,2}}"
_TIME: Final = "[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}"
_SHORT_MONTH_END: Final = f"({_YEAR}-(?:0?[2469]|11)-)(?:29|30|31)"
_MIDNIGHT: Final = " 00:00:00"
_A_DAY: Final = " + INTERVAL '12' HOUR + INTERVAL '12' HOUR"
"""Of a moment, a whole day would be one of the session's zone."""
_LAST_DAYS: Final = ("30", "29", "28")
_SECONDS: Final = (-62_167_219_200, 253_402_300_799)
_MILLIS: Final = (-62_167_219_200_000, 253_402_300_799_999)
_SMALL: Final = frozenset({"TINYINT", "SMALLINT", "INT"})
_RUNS: Final = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']")
_FIELDS: Final = {"y": "1970", "u": "1970", "M": "01", "d": "01", "H": "00", "m": "00", "s": "00"}
_SYNTAX: Final = frozenset("[]{}#'")
_UNQUOTABLE: Final = frozenset("\\'")
_ESCAPED: Final = frozenset(".^$*+?()[]{}|")
_PAIR: Final = 2
_YEAR_DIGITS: Final = 4
_FRACTION_DIGITS: Final = 9


class UnsupportedFormat(ValueError):
    """A format holds something whose meaning in Flink has no counterpart here; the text names it."""


def wall_clock_of_text(text: str, pattern: str | None = None) -> str:
    """Return TO_TIMESTAMP(text[, pattern]): a TIMESTAMP_NTZ.

    Args:
        text: Spark SQL of type STRING.
        pattern: a format of Java's DateTimeFormatter; None = Flink's own.

    Raises:
        UnsupportedFormat: the pattern.
    """
    return _read(in_parentheses(text), pattern, "", "TIMESTAMP_NTZ")


def moment_of_text(text: str, pattern: str | None = None, zone: str = "UTC") -> str:
    """Return TO_TIMESTAMP_LTZ(text[, pattern[, zone]]): a TIMESTAMP.

    A time in a gap of the zone moves forward by the gap; one that the zone has twice is the earlier.

    Raises:
        UnsupportedFormat: the pattern.
    """
    return _read(in_parentheses(text), pattern, "Z" if zone == "UTC" else f" {zone}", "TIMESTAMP_LTZ")


def moment_of_number(number: str, precision: int, kind: str) -> str:
    """Return TO_TIMESTAMP_LTZ(number, precision): a TIMESTAMP.

    Args:
        number: Spark SQL.
        precision: 0 = seconds, 3 = milliseconds.
        kind: the number's type in Spark's DDL; "" = not known, any number.
    """
    value = in_parentheses(number)
    unit, (low, high) = ("timestamp_seconds", _SECONDS) if precision == 0 else ("timestamp_millis", _MILLIS)
    if kind in _SMALL:
        return f"{unit}({number})"
    if kind == "BIGINT":
        return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {unit}({value}) END"
    whole = f"CASE WHEN {value} > {low - 1} AND {value} < {high + 1} THEN {unit}(CAST({value} AS BIGINT)) END"
    if precision or kind not in {"", "DOUBLE"}:
        return whole
    # Of a DOUBLE Flink keeps the milliseconds, of other numbers it does not.
    millis = f"timestamp_millis(CAST({value} * 1000 AS BIGINT))"
    exact = f"CASE WHEN {value} >= {low} AND {value} <= {high} THEN {millis} END"
    return exact if kind else f"CASE WHEN typeof({value}) = 'double' THEN {exact} ELSE {whole} END"


def _read(value: str, pattern: str | None, zone: str, kind: str) -> str:
    usual = _usual(value, zone, kind)
    if pattern is None:
        return f"coalesce({', '.join(usual)})"
    # Text that is not of the format may still be of the usual one: Flink then reads it with java.sql's classes.
    return (
        f"coalesce({', '.join((*_formatted(value, pattern, zone, kind), *_usual(f'trim({value})', zone, kind)[:2]))})"
    )


def _usual(value: str, zone: str, kind: str) -> tuple[str, ...]:
    """Return what to try one after the other: each is NULL for text of other forms."""
    timed, cut = rf"^({_DATE} {_TIME}(?:|[.][0-9]{{0,3}}))\z", rf"^({_DATE} {_TIME}[.][0-9]{{3}})[0-9]{{1,6}}\z"
    late = rf"^{_SHORT_MONTH_END}(?:|( {_TIME}(?:|[.][0-9]{{0,3}}))|( {_TIME}[.][0-9]{{3}})[0-9]{{1,6}})\z"
    next_day = rf"^({_DATE}) 24:0{{1,2}}:0{{1,2}}(?:|[.]0{{0,9}})\z"
    before, times = _group(value, late, 1), f"concat({_group(value, late, 2)}, {_group(value, late, 3)})"
    time = f"coalesce(nullif({times}, ''), '{_MIDNIGHT}')"
    return (
        _cast([_group(value, timed)], zone, kind),
        _cast([_group(value, rf"^({_DATE})\z"), f"'{_MIDNIGHT}'"], zone, kind),
        _cast([_group(value, cut)], zone, kind),
        *(_cast([before, f"'{day}'", time], zone, kind) for day in _LAST_DAYS),
        _cast_next_day([_group(value, next_day)], zone, kind),
    )


def _cast(parts: list[str], zone: str, kind: str) -> str:
    """Return the moment of texts put together, NULL where the first is empty: its form is another one."""
    first, *others = parts
    texts = [f"nullif({first}, '')", *others, *([literal(zone)] if zone else [])]
    text = texts[0] if len(texts) == 1 else f"concat({', '.join(texts)})"
    return f"TRY_CAST({text} AS {kind})"


def _cast_next_day(date: list[str], zone: str, kind: str) -> str:
    """Return the midnight after a date: a day later by the wall clock, before any zone."""
    midnight = [*date, literal(_MIDNIGHT)]
    if zone in {"", "Z"}:
        return _cast(midnight, zone, kind) + _A_DAY
    wall = _cast(midnight, "", "TIMESTAMP_NTZ") + _A_DAY
    return f"CAST(concat(CAST({wall} AS STRING), {literal(zone)}) AS {kind})"


def _group(value: str, pattern: str, number: int = 1) -> str:
    return f"regexp_extract({value}, r'{pattern}', {number})"


def _formatted(value: str, pattern: str, zone: str, kind: str) -> tuple[str, ...]:
    """Return what to try for a text of a format of one's own: the day as it is, then the month's last one."""
    expression, spans = _expression(pattern)
    fields = {
        name: _group(value, expression, spans[name]) if name in spans else f"'{default}'"
        for name, default in _FIELDS.items()
    }
    year = fields["u"] if "u" in spans else fields["y"]
    fraction = []
    if "S" in spans:
        fields["S"] = _group(value, expression, spans["S"])
        fraction = ["'.'", fields["S"]]
    time = ["' '", fields["H"], "':'", fields["m"], "':'", fields["s"], *fraction]
    # The whole text first: where the format is another one, it is empty and all is NULL.
    is_whole = f"CASE WHEN {value} RLIKE r'{expression}' THEN"
    days = [fields["d"], *(f"CASE WHEN {fields['d']} IN ('29', '30', '31') THEN '{day}' END" for day in _LAST_DAYS)]
    texts = [[year, "'-'", fields["M"], "'-'", day, *time] for day in days]
    ending = [literal(zone)] if zone else []
    tried = [f"TRY_CAST(concat({', '.join([*parts, *ending])}) AS {kind})" for parts in texts]
    if "H" in spans:
        tried.append(_late_midnight(fields, [year, "'-'", fields["M"], "'-'", fields["d"]], spans, zone, kind))
    return tuple(f"{is_whole} {each} END" for each in tried)


def _late_midnight(fields: dict[str, str], date: list[str], spans: dict[str, int], zone: str, kind: str) -> str:
    """Return the moment of 24:00:00; without a date there is no next day, and it is 00:00."""
    rest = [f"{fields[name]} IN ('0', '00')" for name in ("m", "s")]
    if "S" in spans:
        rest.append(f"{fields['S']} RLIKE '^0+$'")
    has_date = {"M", "d"} <= spans.keys() and {"y", "u"} & spans.keys()
    moment = _cast_next_day(date, zone, kind) if has_date else _cast([*date, literal(_MIDNIGHT)], zone, kind)
    conditions = " AND ".join([f"{fields['H']} = '24'", *rest])
    return f"CASE WHEN {conditions} THEN {moment} END"


def _expression(pattern: str) -> tuple[str, dict[str, int]]:
    """Return a format as a regular expression, and the number of each field's group."""
    runs = [match[0] for match in _RUNS.finditer(pattern)]
    if "".join(runs) != pattern:
        raise UnsupportedFormat("a quote without its pair")
    pieces: list[str] = []
    spans: dict[str, int] = {}
    for index, run in enumerate(runs):
        following = runs[index + 1] if index + 1 < len(runs) else ""
        if run[0].isalpha():
            if run[0] in spans or (run[0] in "yu" and {"y", "u"} & spans.keys()):
                raise UnsupportedFormat(f"'{run[0]}' twice")
            spans[run[0]] = len(spans) + 1
            pieces.append(_field(run, is_before_digits=following[:1].isalpha()))
        else:
            pieces.append(_plain(run))
    if not spans:
        raise UnsupportedFormat("no field")
    return rf"^{''.join(pieces)}\z", spans


def _field(run: str, *, is_before_digits: bool) -> str:
    letter, length = run[0], len(run)
    if letter in "yu" and length == _YEAR_DIGITS:
        return f"({_YEAR})"
    if letter == "S" and length <= _FRACTION_DIGITS:
        return f"([0-9]{{{min(length, 3)}}})" + (f"[0-9]{{{length - 3}}}" if length > 3 else "")  # noqa: PLR2004
    if letter in "MdHms" and (length == _PAIR or (length == 1 and not is_before_digits)):
        return "([0-9]{2})" if length == _PAIR else "([0-9]{1,2})"
    raise UnsupportedFormat(f"'{run}'")


def _plain(run: str) -> str:
    is_quoted = len(run) > 1
    text = (run[1:-1].replace("''", "'") or "'") if is_quoted else run
    if (not is_quoted and run in _SYNTAX) or not text.isascii() or not text.isprintable() or set(text) & _UNQUOTABLE:
        raise UnsupportedFormat(f"the text {text!r}")
    return "".join(f"\\{c}" if c in _ESCAPED else c for c in text)
