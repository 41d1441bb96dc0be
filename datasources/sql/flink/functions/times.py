"""Functions of dates, times and timestamps.

Flink rounds towards 1970 what is before 1970; such results (the year of 1969-12-31 23:00 is 1970) are not repeated
here. A TIMESTAMP is computed without the session's zone; Spark's own functions would read it as a moment of that zone,
where the hour that daylight saving skips is another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from datasources.grammar.sql_types import SqlType
from datasources.sql.flink.casts import bound, date_of_text, timestamp_text
from datasources.sql.flink.functions.numbers import CEILING, FLOORING
from datasources.sql.flink.functions.signature import Function, Signature, function, overloads
from datasources.sql.flink.logical_types import BIGINT, DATE, INT, LTZ, STRING, TIMESTAMP
from datasources.sql.flink.parse.syntax import Call
from datasources.sql.flink.typed_value import (
    ADDITIVE,
    ATOM,
    MULTIPLICATIVE,
    Refused,
    Value,
    spark_type,
    text_literal,
)
from datasources.sql.resolve.flink_timestamps import (
    UnsupportedFormat,
    moment_of_number,
    moment_of_text,
    wall_clock_of_text,
)

_MICROS: Final = 6
_EPOCH: Final = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
_FIELDS: Final = {
    "YEAR": "year({0})",
    "QUARTER": "quarter({0})",
    "MONTH": "month({0})",
    "WEEK": "weekofyear({0})",
    "DAY": "day({0})",
    "DOY": "dayofyear({0})",
    "DOW": "dayofweek({0})",
    "ISODOW": "(weekday({0}) + 1)",
    "ISOYEAR": "extract(YEAROFWEEK FROM {0})",
    "DECADE": "(year({0}) div 10)",
    "CENTURY": "((year({0}) + 99) div 100)",
    "MILLENNIUM": "((year({0}) + 999) div 1000)",
    "HOUR": "hour({0})",
    "MINUTE": "minute({0})",
    "SECOND": "second({0})",
    "MILLISECOND": "(extract(SECOND FROM {0}) * 1000 % 1000)",
    "MICROSECOND": "(extract(SECOND FROM {0}) * 1000000 % 1000000)",
    "NANOSECOND": "(extract(SECOND FROM {0}) * 1000000 % 1000000 * 1000)",
}
"""Spark SQL of the value of a unit."""
_OF_DAYS: Final = ("HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND")
_NAMED: Final = {
    "YEAR": "YEAR", "QUARTER": "QUARTER", "MONTH": "MONTH", "WEEK": "WEEK", "DAYOFYEAR": "DOY", "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW", "HOUR": "HOUR", "MINUTE": "MINUTE", "SECOND": "SECOND",
}  # fmt: skip
_UNIT_MONTHS: Final = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_UNIT_MICROS: Final = {
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
_FLOOR_FORMS: Final = {"HOUR": 13, "MINUTE": 16, "SECOND": 19}
"""To so many characters of a timestamp's text a unit reaches."""
_REST_OF_CLOCK: Final = "0000-00-00 00:00:00"
_ZONED: Final = re.compile(r"[^yMdHhmsSaEDQqKkGLF\W\d_]")
_OF_CLOCK: Final = re.compile(r"[HhmsSaKk]")
_CLOCK_FIELDS: Final = {
    "H": "hour({0})",
    "k": "((hour({0}) + 23) % 24 + 1)",
    "K": "(hour({0}) % 12)",
    "h": "((hour({0}) + 11) % 12 + 1)",
    "m": "minute({0})",
    "s": "CAST(second({0}) AS INT)",
}
"""Numbers of a format by their letters."""
_RUNS: Final = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']")
_GROUPS: Final = {"yyyy": "$1", "MM": "$2", "dd": "$3", "HH": "$4", "mm": "$5", "ss": "$6"}
_LAYOUT: Final = "yyyy-MM-dd HH:mm:ss"
"""How a timestamp begins as text."""
_FULL_TEXT: Final = r"r'^(....)-(..)-(..) (..):(..):(..)[.](.)(.)(.)(.)(.)(.)\z'"


def _field_text(unit: str, value: Value) -> str:
    if unit == "EPOCH":
        return _epoch(value)
    template = _FIELDS.get(unit)
    if template is None:
        raise Refused(f"EXTRACT of {unit} is not there", f"It takes {', '.join((*_FIELDS, 'EPOCH'))}.")
    if value.type.root == "DATE" and unit in _OF_DAYS:
        raise Refused(f"a DATE has no {unit}", "CAST it to TIMESTAMP(3) first.")
    return f"CAST({template.format(value.text)} AS BIGINT)"


def _epoch(value: Value) -> str:
    if value.type.root == "DATE":
        return f"({_days(value)} * 86400L)"
    # Of a moment, Flink counts the seconds of the wall clock.
    local = value.text if value.type.root == "TIMESTAMP" else f"CAST({value.text} AS TIMESTAMP_NTZ)"
    return f"CAST(CAST(({local} - {_EPOCH}) AS INTERVAL SECOND) AS BIGINT)"


def _days(value: Value) -> str:
    return f"unix_date({value.text})"


def _extract(arguments: Sequence[Value], call: Call) -> str:
    value = arguments[0]
    return _field_text(call.words[0] if call.words else "", value)


def _named_field(name: str, unit: str) -> Function:
    def text(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001 - texts are made alike
        return _field_text(unit, arguments[0])

    return overloads(name, ("datetime", BIGINT, text))


# FLOOR and CEIL to a unit.


def _floored(value: Value, unit: str) -> str:
    day = value.text if value.type.root == "DATE" else f"CAST({value.text} AS DATE)"
    kind = spark_type(value.type)
    if unit == "DAY":
        return day if value.type.root == "DATE" else f"CAST({day} AS {kind})"
    if unit == "WEEK":  # begins on Sunday
        found = f"(trunc({day} + 1, 'WEEK') - 1)"
    elif unit in _UNIT_MONTHS:
        found = f"trunc({day}, '{unit}')"
    elif value.type.root == "DATE":
        raise Refused(f"a DATE has no {unit}", "CAST it to TIMESTAMP(3) first.")
    elif value.type.root == "TIMESTAMP_LTZ":
        return _floored_moment(value, unit)
    else:
        length = _FLOOR_FORMS.get(unit)
        if length is None:
            raise Refused(f"FLOOR to {unit} is not there", f"It takes {', '.join((*_UNIT_MICROS, *_UNIT_MONTHS))}.")
        text = f"left(CAST({value.text} AS STRING), {length})"
        rest = _REST_OF_CLOCK[length:]
        return f"CAST({text} AS {kind})" if not rest else f"CAST(concat({text}, '{rest}') AS {kind})"
    return found if value.type.root == "DATE" else f"CAST({found} AS {kind})"


def _floored_moment(value: Value, unit: str) -> str:
    if unit not in _FLOOR_FORMS:
        raise Refused(f"FLOOR to {unit} is not there", f"It takes {', '.join((*_UNIT_MICROS, *_UNIT_MONTHS))}.")
    size = _UNIT_MICROS[unit]
    if unit != "HOUR":
        return f"timestamp_micros(unix_micros({value.text}) div {size} * {size})"
    return f"date_trunc('HOUR', {value.text})"


def _steps(unit: str) -> str:
    if unit in _UNIT_MONTHS:
        return f"INTERVAL '{_UNIT_MONTHS[unit]}' MONTH"
    return "INTERVAL '7' DAY" if unit == "WEEK" else f"INTERVAL '1' {unit}"


def _floor(arguments: Sequence[Value], call: Call) -> str:
    return _floored(arguments[0], _unit_of(call))


def _ceil(arguments: Sequence[Value], call: Call) -> str:
    unit = _unit_of(call)

    def made(x: Value) -> str:
        low = _floored(x, unit)
        if x.type.root == "TIMESTAMP_LTZ" and unit not in _FLOOR_FORMS:
            local = Value(text=f"CAST({x.text} AS TIMESTAMP_NTZ)", type=TIMESTAMP)
            high = f"CAST({_floored(local, unit)} + {_steps(unit)} AS TIMESTAMP_LTZ)"
        else:
            high = f"{low} + {_steps(unit)}"
        if x.type.root == "DATE":
            high = f"CAST({high} AS DATE)"
        return f"CASE WHEN {x.text} = {low} THEN {x.text} ELSE {high} END"

    return bound(arguments[0], made)


def _unit_of(call: Call) -> str:
    if not call.words:
        raise Refused(f"{call.name} of a timestamp needs a unit", f"Write {call.name}(ts TO HOUR).")
    return call.words[0]


def _with_units(known: Function, name: str, text: Callable[[Sequence[Value], Call], str]) -> Function:
    units = Signature(parameters=("datetime",), result=lambda arguments: arguments[0].type, text=text)
    return Function(name=name, signatures=(*known.signatures, units), differs=known.differs)


# Sums and differences.


def _add(arguments: Sequence[Value], call: Call) -> str:
    amount, value = arguments
    unit = call.words[0]
    if unit in _UNIT_MONTHS:
        return _with_months(amount, value, _UNIT_MONTHS[unit])
    if unit not in _UNIT_MICROS:
        raise Refused(f"TIMESTAMPADD of {unit} is not there", f"It takes {', '.join((*_UNIT_MICROS, *_UNIT_MONTHS))}.")
    if value.type.root == "DATE":
        if unit not in {"DAY", "WEEK"}:
            raise Refused(f"a DATE has no {unit}", "CAST it to TIMESTAMP(6) first.")
        count = amount.inside(MULTIPLICATIVE) + (" * 7" if unit == "WEEK" else "")
        return f"date_add({value.text}, {count})"
    if value.type.root == "TIMESTAMP_LTZ":
        return f"timestamp_micros(unix_micros({value.text}) + {amount.inside(MULTIPLICATIVE)} * {_UNIT_MICROS[unit]}L)"
    return f"({value.inside(ADDITIVE)} + {_steps(unit)} * {amount.inside(ATOM)})"


def _with_months(amount: Value, value: Value, months: int) -> str:
    if value.type.root == "TIMESTAMP_LTZ":
        raise Refused("Flink counts the months of a TIMESTAMP_LTZ in UTC", "CAST it to TIMESTAMP(3) first.")
    count = amount.inside(MULTIPLICATIVE) + (f" * {months}" if months > 1 else "")
    if value.type.root == "DATE":
        return f"add_months({value.text}, {count})"
    return f"({value.inside(ADDITIVE)} + INTERVAL '{months}' MONTH * {amount.inside(ATOM)})"


def _difference(arguments: Sequence[Value], call: Call) -> str:
    first, second = arguments
    unit = call.words[0]
    roots = {each.type.root for each in arguments}
    if "TIMESTAMP_LTZ" in roots and (unit in _UNIT_MONTHS or len(roots) > 1):
        raise Refused(f"TIMESTAMPDIFF({unit}) of a TIMESTAMP_LTZ is not there", "CAST both to TIMESTAMP(3) first.")
    if unit in _UNIT_MONTHS:
        return _months_between(first, second, _UNIT_MONTHS[unit])
    if unit not in _UNIT_MICROS:
        raise Refused(f"TIMESTAMPDIFF of {unit} is not there", f"It takes {', '.join((*_UNIT_MICROS, *_UNIT_MONTHS))}.")
    if roots == {"DATE"} and unit in {"DAY", "WEEK"}:
        days = f"datediff({second.text}, {first.text})"
        return days if unit == "DAY" else f"CAST({days} div 7 AS INT)"
    size = _UNIT_MICROS[unit] // 1_000_000
    if roots == {"TIMESTAMP_LTZ"}:
        return f"CAST((unix_micros({second.text}) - unix_micros({first.text})) div {size}000000L AS INT)"
    ends = (each.inside(MULTIPLICATIVE) if each.type.root == "TIMESTAMP" else _midnight(each) for each in arguments)
    start, end = ends
    seconds = f"CAST(CAST(({end} - {start}) AS INTERVAL SECOND) AS BIGINT)"
    return f"CAST({seconds} div {size} AS INT)" if size > 1 else f"CAST({seconds} AS INT)"


def _midnight(value: Value) -> str:
    return f"CAST({value.text} AS TIMESTAMP_NTZ)"


def _months_between(first: Value, second: Value, months: int) -> str:
    """Whole months as Flink counts them: those between the dates, and one less where the same day is not complete."""

    def made(start: Value, end: Value) -> str:
        d1, d0 = start.text, end.text
        count = f"((year({d0}) - year({d1})) * 12 + month({d0}) - month({d1}))"
        forth = f"{count} - if(add_months({d1}, {count}) > {d0}, 1, 0)"
        back = f"{count} + if(add_months({d0}, -{count}) > {d1}, 1, 0)"
        whole = f"if({d0} >= {d1}, {forth}, {back})"
        if {first.type.root, second.type.root} != {"DATE"}:
            whole = bound(Value(text=whole, type=INT), lambda months: _less_of_a_day(months, start, end), "months")
        return f"{whole} div {months}" if months > 1 else whole

    def _less_of_a_day(months: Value, start: Value, end: Value) -> str:
        is_short = f"{_clock_of(second)} < {_clock_of(first)}"
        return f"{months.text} - if(add_months({start.text}, {months.text}) = {end.text} AND {is_short}, 1, 0)"

    days = [replace(each, text=_day_of(each)) for each in (first, second)]
    inner = bound(days[0], lambda start: bound(days[1], lambda end: made(start, end), "ending"))
    return f"CAST({inner} AS INT)"


def _day_of(value: Value) -> str:
    return value.text if value.type.root == "DATE" else f"CAST({value.text} AS DATE)"


def _clock_of(value: Value) -> str:
    return "''" if value.type.root == "DATE" else f"substr(CAST({value.text} AS STRING), 11)"


# Text.


def _date_format(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    value, form = arguments
    pattern = form.constant
    if pattern is None:
        return f"date_format({value.text}, {form.text})"
    _require_format(pattern)
    if value.type.root == "TIMESTAMP" and (pieces := _pieces(pattern)) is not None:
        return bound(value, lambda x: _text_of_pieces(x, pieces))
    if value.type.root == "TIMESTAMP" and _OF_CLOCK.search(_unquoted(pattern)):
        replacement = _replacement(pattern)
        if replacement is not None:
            return f"regexp_replace({timestamp_text(value, _MICROS)}, {_FULL_TEXT}, r'{replacement}')"
        return bound(value, lambda x: _day_and_clock(x, pattern))
    return f"date_format({value.text}, {form.text})"


def _day_and_clock(value: Value, pattern: str) -> str:
    """Return the texts of the days and of the clock one after the other: only those of days see the session's zone."""
    texts, days = [], ""
    for match in _RUNS.finditer(pattern):
        if _OF_CLOCK.match(match[0]):
            texts += [*_of_day(value, days), _of_clock(value, match[0])]
            days = ""
        else:
            days += match[0]
    return f"concat({', '.join([*texts, *_of_day(value, days)])})"


def _of_day(value: Value, pattern: str) -> list[str]:
    if re.search("[A-Za-z]", _unquoted(pattern)):
        return [f"date_format(CAST({value.text} AS DATE), {text_literal(pattern)})"]
    runs = [match[0] for match in _RUNS.finditer(pattern)]
    text = "".join((run[1:-1].replace("''", "'") or "'") if len(run) > 1 else run for run in runs)
    return [text_literal(text)] if text else []


def _of_clock(value: Value, run: str) -> str:
    letter, length = run[0], len(run)
    if letter == "a":
        return f"if(hour({value.text}) < 12, 'AM', 'PM')"
    if letter == "S":
        return f"substr({timestamp_text(value, _MICROS)}, {len(_LAYOUT) + 2}, {length})"
    number = f"CAST({_CLOCK_FIELDS[letter].format(value.text)} AS STRING)"
    return number if length == 1 else f"lpad({number}, {length}, '0')"


def _pieces(pattern: str) -> list[str | tuple[int, int]] | None:
    """Return a format as texts and positions in `yyyy-MM-dd HH:mm:ss`, with lengths; None for another format."""
    pieces: list[str | tuple[int, int]] = []
    for match in _RUNS.finditer(pattern):
        run = match[0]
        if run in _GROUPS:
            first, end = _LAYOUT.index(run), _LAYOUT.index(run) + len(run)
            if len(pieces) > 1 and isinstance(before := pieces[-2], tuple) and _between(before, first) == pieces[-1]:
                first = before[0]
                del pieces[-2:]
            pieces.append((first, end - first))
        elif run[0].isalpha() or "''" in run:
            return None
        else:
            pieces.append(run[1:-1] if run.startswith("'") else run)
    return pieces if any(isinstance(each, tuple) for each in pieces) else None


def _between(piece: tuple[int, int], first: int) -> str:
    return _LAYOUT[sum(piece) : first]


def _text_of_pieces(value: Value, pieces: Sequence[str | tuple[int, int]]) -> str:
    texts = [
        text_literal(each)
        if isinstance(each, str)
        else f"substr(CAST({value.text} AS STRING), {each[0] + 1}, {each[1]})"
        for each in pieces
    ]
    return texts[0] if len(texts) == 1 else f"concat({', '.join(texts)})"


def _unquoted(pattern: str) -> str:
    return "".join(match[0] for match in _RUNS.finditer(pattern) if not match[0].startswith("'"))


def _require_format(pattern: str) -> None:
    found = _ZONED.search(_unquoted(pattern))
    if found is not None:
        raise Refused(f"the letter '{found[0]}' of the format is not there", "It takes y M d H h m s S a E D Q G.")


def _replacement(pattern: str) -> str | None:
    """Return what puts the digits of a full timestamp into a format of digits; None for another format."""
    pieces = []
    for match in _RUNS.finditer(pattern):
        run = match[0]
        if run in _GROUPS:
            pieces.append(_GROUPS[run])
        elif run[0] == "S" and len(run) <= _MICROS:
            pieces += [f"${at}" for at in range(7, 7 + len(run))]
        elif run[0].isalpha() or "''" in run:
            return None
        else:
            text = run[1:-1] if run.startswith("'") else run
            pieces += [each if each.isalpha() else f"\\{each}" for each in text]
    return "".join(pieces)


def _to_date(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    if len(arguments) == 1:
        return date_of_text(arguments[0].text)
    names, expression = _lenient_expression(_constant_format(arguments[1]))
    if not {"y", "M", "d"} <= names.keys():
        raise Refused("the format has no year, month and day")

    def made(x: Value) -> str:
        fields = ", '-', ".join(f"regexp_extract({x.text}, r'{expression}', {names[each]})" for each in "yMd")
        return f"TRY_CAST(concat({fields}) AS DATE)"

    return bound(arguments[0], made)


def _format_of_text(arguments: Sequence[Value], call: Call) -> str:
    wall = Value(text=bound(arguments[0], lambda x: wall_clock_of_text(x.text)), type=TIMESTAMP)
    return _date_format((wall, arguments[1]), call)


def _constant_format(form: Value) -> str:
    if form.constant is None:
        raise Refused("the format is a constant here", "Write it as 'yyyy-MM-dd'.")
    return form.constant


def _lenient_expression(pattern: str) -> tuple[dict[str, int], str]:
    """Flink reads such text with java.text.SimpleDateFormat: other text may follow."""
    names: dict[str, int] = {}
    expression = "^ *"
    runs = [match[0] for match in _RUNS.finditer(pattern)]
    for at, run in enumerate(runs):
        if not run[0].isalpha():
            expression += re.escape(run.strip("'")).replace("'", "''") if run != "''" else ""
            continue
        is_before_digits = at + 1 < len(runs) and runs[at + 1][0].isalpha()
        wanted = _digits_of(run, is_before_digits=is_before_digits)
        if wanted is None or run[0] in names:
            raise Refused(f"'{run}' of the format is not there", "It takes yyyy, MM, dd, HH, mm, ss and SSS.")
        names[run[0]] = len(names) + 1
        expression += wanted
    return names, expression


def _digits_of(run: str, *, is_before_digits: bool) -> str | None:
    if run[0] == "y":
        return "([0-9]{4})" if run == "yyyy" else None
    if run[0] not in "MdHmsS" or (run[0] == "M" and len(run) > 2):  # noqa: PLR2004 - MMM is a name
        return None
    return f"([0-9]{{{len(run)}}})" if is_before_digits else "([0-9]{1,3})" if run[0] == "S" else "([0-9]{1,2})"


def _unix_timestamp(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    pattern = _constant_format(arguments[1]) if len(arguments) > 1 else "yyyy-MM-dd HH:mm:ss"
    names, expression = _lenient_expression(pattern)
    if not {"y", "M", "d"} <= names.keys():
        raise Refused("the format has no year, month and day")

    def made(x: Value) -> str:
        found = {each: f"regexp_extract({x.text}, r'{expression}', {names[each]})" for each in names if each != "S"}
        texts = [found.get(each, "'00'") for each in "yMdHms"]
        pieces = [piece for pair in zip(texts, ("'-'", "'-'", "' '", "':'", "':'"), strict=False) for piece in pair]
        return f"unix_seconds(TRY_CAST(concat({', '.join([*pieces, texts[-1]])}) AS TIMESTAMP_LTZ))"

    return bound(arguments[0], made)


def _from_unixtime(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    if len(arguments) > 1:
        _require_format(_constant_format(arguments[1]))
        return f"from_unixtime({arguments[0].text}, {arguments[1].text})"
    return f"from_unixtime({arguments[0].text}, 'yyyy-MM-dd HH:mm:ss')"


def _to_timestamp(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    pattern = _constant_format(arguments[1]) if len(arguments) > 1 else None
    return _supported(lambda: bound(arguments[0], lambda x: wall_clock_of_text(x.text, pattern)))


def _supported(made: Callable[[], str]) -> str:
    try:
        return made()
    except UnsupportedFormat as problem:
        raise Refused(f"{problem} of the format is not there", "It takes yyyy, MM, dd, HH, mm, ss and SSS.") from None


def _moment_of_text(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    pattern = _constant_format(arguments[1]) if len(arguments) > 1 else None
    zone = _zone(arguments[2]) if len(arguments) > 2 else "UTC"  # noqa: PLR2004
    return _supported(lambda: bound(arguments[0], lambda x: moment_of_text(x.text, pattern, zone)))


def _zone(value: Value) -> str:
    if value.constant is None:
        raise Refused("the zone is a constant here", "Write it as 'Asia/Tokyo'.")
    return value.constant


def _moment_of_number(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    precision = arguments[1].constant if len(arguments) > 1 else "3"
    if precision not in {"0", "3"}:
        raise Refused("the precision of TO_TIMESTAMP_LTZ is 0 (seconds) or 3 (milliseconds)")
    kind = spark_type(arguments[0].type)
    return bound(arguments[0], lambda x: moment_of_number(x.text, int(precision or 3), kind))


def _convert_tz(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001
    value, source, target = arguments
    zones = ", ".join(text_literal(_zone(each)) for each in (source, target))
    wall = bound(value, lambda x: wall_clock_of_text(x.text))
    moved = Value(text=f"convert_timezone({zones}, {wall})", type=TIMESTAMP)
    return timestamp_text(moved, 0)


def _typed(name: str, kind: SqlType, text: str) -> Function:
    return function(name, "", kind, text, is_deterministic=False)


TIMES: Final[tuple[Function, ...]] = (
    *(_named_field(name, unit) for name, unit in _NAMED.items()),
    overloads("EXTRACT", ("datetime", BIGINT, _extract)),
    _with_units(CEILING, "CEIL", _ceil),
    _with_units(CEILING, "CEILING", _ceil),
    _with_units(FLOORING, "FLOOR", _floor),
    overloads("TIMESTAMPADD", ("INT datetime", lambda arguments: arguments[1].type, _add)),
    overloads("TIMESTAMPDIFF", ("datetime datetime", INT, _difference), differs="Spark's result is a BIGINT"),
    overloads("DATE_FORMAT", ("timestamp text", STRING, _date_format), ("text text", STRING, _format_of_text)),
    overloads("TO_DATE", ("text text?", DATE, _to_date)),
    overloads("TO_TIMESTAMP", ("text text?", TIMESTAMP, _to_timestamp), differs="Spark's fails where Flink's is NULL"),
    overloads(
        "TO_TIMESTAMP_LTZ",
        ("text text? text?", LTZ, _moment_of_text),
        ("numeric INT?", LTZ, _moment_of_number),
    ),
    overloads(
        "UNIX_TIMESTAMP",
        ("", BIGINT, "unix_timestamp()"),
        ("text text?", BIGINT, _unix_timestamp),
    ),
    overloads("FROM_UNIXTIME", ("BIGINT text?", STRING, _from_unixtime)),
    overloads("CONVERT_TZ", ("text text text", STRING, _convert_tz)),
    _typed("CURRENT_DATE", DATE, "current_date()"),
    _typed("CURRENT_TIMESTAMP", LTZ, "current_timestamp()"),
    _typed("NOW", LTZ, "current_timestamp()"),
    _typed("CURRENT_ROW_TIMESTAMP", LTZ, "current_timestamp()"),
    _typed("LOCALTIMESTAMP", TIMESTAMP, "localtimestamp()"),
    _typed("PROCTIME", LTZ, "PROCTIME()"),
)
"""By Flink's names."""
