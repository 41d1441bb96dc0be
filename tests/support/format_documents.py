"""JSON documents of all degrees of niceness, as text, for the tests of the format `json`."""

# ruff: noqa: RUF001, SIM905 - odd digits are the point, and one line for each text would be pages

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from datasources.formats.schema_text.ddl import parse_schema

__all__ = ["HOSTILE", "SCHEMAS", "WAYS_TO_WRITE", "batch_of", "document_of", "hostile_documents", "written_alike"]

SCHEMAS: Final = (
    "user BIGINT, item STRING, price DOUBLE, ts TIMESTAMP",
    "a TINYINT, b SMALLINT, c INT, d BIGINT, e FLOAT, f DOUBLE, g BOOLEAN",
    "a DECIMAL(38, 18), b DECIMAL(20, 3), c DECIMAL(2, 2), d DECIMAL(38, 0)",
    "a DECIMAL(10, 2), b DECIMAL(18, 9)",
    "a TIMESTAMP, b TIMESTAMP_NTZ, c DATE, d TIMESTAMP",
    "a STRING, b BINARY, c ARRAY<STRING>, d MAP<STRING, STRING>",
    "a INT, b STRUCT<x: INT, y: ARRAY<INT>, z: MAP<STRING, INT>>, c ARRAY<STRUCT<q: TIMESTAMP, r: DECIMAL(8, 3)>>",
    "a MAP<STRING, STRUCT<q: INT, d: DATE>>, b ARRAY<ARRAY<DOUBLE>>, `odd name` STRING, `ä.b` INT, c MAP<STRING, MAP<STRING, BOOLEAN>>",
    "a STRUCT<x: ARRAY<STRUCT<p: MAP<STRING, ARRAY<DOUBLE>>, q: BINARY>>, y: FLOAT>, b ARRAY<MAP<STRING, STRUCT<t: TIMESTAMP, n: DECIMAL(12, 2)>>>, c MAP<STRING, ARRAY<ARRAY<STRING>>>",
)

_WHOLES: Final = (
    "0 1 -1 -0 7 42 99 100 127 128 255 256 -128 -129 32767 32768 -32769 65535 999999999 2147483647 2147483648 -2147483649 16777217 "
    "123456789012345678 1234567890123456789 9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775808 "
    "-9223372036854775809 123456789012345678901234567890 1767225600 1767225600000 9223372036854 9223372036855 18014399583223809"
).split()
_FRACTIONS: Final = (
    "0.5 -0.5 1.5 12.5 12.50 1.10 -0.0 0.0 1.0 1e3 1E3 1e-3 1E+2 2e-3 0.001 0.0001 0.00012 1e7 1e22 1E400 -1e400 1e-400 4.9e-324 "
    "1.0000000000000000000001 0.1 0.30000000000000004 99999999.99 99999999.994 99999999.995 1.005 1.015 -1.005 1e-18 5e-19 4e-19 "
    "3.4e39 1e-46 7.1e-46 1.000000178813934326171875 1.00000017881393432617 1.000000178813934326171874999999 1.000000059604644775390625000001 "
    "3.4028235677973365e38 12345678901234567.1234 123456789.012345 0.99 0.995 0.005 1e16 1e17 1e20 1e37 1e38 NaN Infinity -Infinity "
    "+Infinity -INF +INF 12345678.05 1234567890.12345 1234567890.123456 1e15 123456789012345.5 0.000001 9.99999"
).split()
_BROKEN_NUMBERS: Final = "01 -01 00 +1 1. .5 1e 1e+ - 0x1 1_0 INF nan inf 1d 1f 1L 1.e5 --1 ١ 1,5".split()
_WORDS: Final = ("true", "false", "null", "True", "nul", "tru", "NULL", "undefined", "truex")
_TIMES: Final = (
    "2026-01-01T00:00:00.123Z|2026-07-01T01:02:03Z|2026-07-01 01:02:03Z|2026-07-01T01:02:03|2026-07-01 01:02:03.5|2026-07-01T01:02:03.123456|"
    "2026-07-01T01:02:03.1234567Z|2026-07-01T01:02:03+01:00|2026-07-01T01:02:03-08:00|2026-07-01T01:02:03.5+05:30|2026-07-01T01:02:03+0100|"
    "2026-07-01T01:02:03+01|2026-07-01T01:02:03+1|2026-07-01T01:02:03+1:0|2026-07-01T01:02:03+01:00:30|2026-07-01T01:02:03-18:00|2026-07-01T01:02:03+18:01|"
    "2026-07-01T01:02:03 Europe/Paris|2026-07-01T01:02:03Europe/Paris|2026-07-01T01:02:03 PST|2026-07-01T01:02:03 UTC+1|2026-07-01T01:02:03GMT+02:00|"
    "2026-07-01T01:02:03 GMT|2026-07-01T01:02:03z|2026-07-01T01:02:03GMTZ|2026-07-01T01:02:03 est|2026-07-01T01:02:03 SystemV/PST8|2026-07-01T01:02:03 -8|"
    "2026-07-01T01:02:03[Europe/Paris]|2026-07-01T01:02Z|2026-07-01Z|2026-07-01|2026-7-1|2026|2026-07|2026-07-01T|2026-07-01 | 2026-07-01|2026-07-01T1:2:3|"
    "2026-07-01T01|2026-07-01T01:02|2026-07-01T24:00:00|2026-07-01T23:59:60|2026-02-28T12:00:00Z|2026-02-29T12:00:00Z|2024-02-29T12:00:00Z|2026-02-30|"
    "2026-04-31T00:00:00Z|2026-13-01|2026-00-10|2026-03-29T01:59:59.999999|2026-03-29T02:00:00|2026-03-29T02:30:00|2026-03-29T03:00:00|2026-10-25T01:59:59|"
    "2026-10-25T02:30:00|2026-10-25T03:00:00|1880-01-01T00:00:00|1893-04-01T00:05:00|1999-12-31T23:59:59|1000-01-01T00:00:00Z|0999-12-31T23:59:59Z|"
    "0001-01-01T00:00:00|0000-01-01|-0044-03-15T00:00:00Z|9999-12-31T23:59:59.999999|10000-07-01T00:00:00|99999-12-31T23:59:59Z|+2026-07-01|"
    "294247-01-10T04:00:54.775807Z|294247-01-10T04:00:54.775808Z|-290308-12-21T19:59:05.224192Z|999999-01-01|1234567-01-01|T12:30|12:30|12:30:15.5|"
    "now|today|epoch|1767225600|18000|-5|12|12345678|-100000000|99999999999|2026/07/01|2026-07-01t01:02:03|2026-07-01T01:02:03,5|"
    "2026-07-01T01:02:03.|2026-07-01T01:02:03.Z|2100-07-01T00:00:00|2038-01-20T00:00:00|2026-01-01Tgarbage|2026-01-01x|5881580-07-11|5881580-07-12|GMT2026|"
    "1582-10-10|2026-07-01T01:02:03\\n|\\u00002026-07-01|2026-07-01T01:02:03\\u00a0Z|20260701|2026-W01|2026-07-01T01:02:03Zulu|2026-07-01T01:02:03-17:59"
).split("|")
_STRINGS: Final = (
    '|x|abc-17|é|日本|😀|a b|\\n|\\t|\\"|\\\\|\\/|\\b\\f\\r|\\u0041|\\u00e9|\\u0000|\\ud83d\\ude00|\\ud83d|\\ude00\\ud83d|\\ud83dx|\\ud83d\\ud83d\\ude00|\\x|\\u12|\\u12g4|'
    "\\'|\t|\x01|\x7f|\u2028|\uffff|AQID|AQ==|AQI=|AQ|A|AQ-_|AQ+/|A Q I D| AQID|AQID |AQI=AQI=|AR==|====|AQID\\n|NaN|Infinity|-Infinity|+INF|INF|-INF|inf|1|1.5|-1.50|"
    "1,000.5|1e2|+1.5|.5|1.|,| 1|0x1|١|1e-5|1_0|true|null|{}|[1]|12345678.05|99999999.995|0.000000000000000001|1e200000|"
    + "x"
    * 300
).split("|")

WAYS_TO_WRITE: Final = (("", ":", ","), ("", ": ", ", "), (" ", " : ", " ,\n\t"))
"""Blanks that producers put after an opening bracket, around a colon and after a comma."""


_USUAL: Final = 2.0
"""More than tame: no odd value at all."""


def _quoted(text: str) -> str:
    return f'"{text}"'


_OF_TYPE: Final[dict[pa.DataType, tuple[str, ...]]] = {
    pa.bool_(): ("true", "false"),
    pa.string(): (*map(_quoted, _STRINGS), "1", "1.50", "true", "[1, 2.50]", '{"k" : [ ]}'),
    pa.binary(): ('"AQID"', '"AQ=="', '"AQI="', '""', '"AQIDBA=="'),
    pa.float32(): (*_WHOLES, *_FRACTIONS),
    pa.float64(): (*_WHOLES, *_FRACTIONS),
    pa.date32(): tuple(map(_quoted, _TIMES)),
    pa.timestamp("us"): tuple(map(_quoted, _TIMES)),
    pa.timestamp("us", tz="UTC"): (*map(_quoted, _TIMES), *_WHOLES),
}
_FOREIGN: Final = (
    *_WHOLES, *_FRACTIONS, *_BROKEN_NUMBERS, *_WORDS, *map(_quoted, _TIMES), *map(_quoted, _STRINGS),
    "[]", "{}", "[1]", "[null]", '{"k":1}', '{"q":1}', '[{"q":1}]', "[[]]", '{"k":{}}', "'q'", "'q\"r'", "[1,]", "[,1]", '{"k":1,}', "/**/1", "",
)  # fmt: skip


def _number(rng: random.Random, whole_digits: int, fraction_digits: int) -> str:
    whole = str(rng.randrange(10 ** rng.randint(1, whole_digits)))
    fraction = "".join(rng.choices("0123456789", k=rng.randint(0, fraction_digits)))
    return rng.choice(("", "", "-")) + whole + ("." + fraction if fraction else "")


def _moment(rng: random.Random) -> str:
    text = f"{rng.randint(1000, 9999)}-{rng.randint(1, 12):02}-{rng.randint(1, 31):02}{rng.choice('T ')}"
    text += f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
    return text + rng.choice(("", f".{rng.randrange(1000):03}", f".{rng.randrange(10**6):06}"))


def _usual_decimal(rng: random.Random, arrow: pa.DataType) -> str:
    text = _number(rng, max(arrow.precision - arrow.scale, 1), arrow.scale)
    return text if rng.random() < 0.8 else f'"{text}"'


def _usual_fraction(rng: random.Random, arrow: pa.DataType) -> str:
    exponent = rng.choice(("", "", "", f"e{rng.randint(-30, 30)}")) if arrow == pa.float64() else ""
    return _number(rng, rng.choice((3, 9, 18)), rng.choice((2, 6, 7, 20))) + exponent


def _usual_string(rng: random.Random, arrow: pa.DataType) -> str:
    parts = ("a", " ", "é", "😀", "\\n", "\\u00e9", "\\ud83d\\ude00", "{", ",")
    return '"' + "".join(rng.choices(parts, k=rng.randrange(8))) + '"'


def _usual_timestamp(rng: random.Random, arrow: pa.DataType) -> str:
    zone = rng.choice(("Z", "Z", "+01:00", "-17:59", "+05:30")) if arrow.tz else ""
    return f'"{_moment(rng)}{zone}"'


_USUAL_OF: Final = (
    (pa.types.is_decimal, _usual_decimal),
    (pa.types.is_floating, _usual_fraction),
    (pa.types.is_integer, lambda rng, arrow: _number(rng, {8: 2, 16: 4, 32: 9, 64: 18}[arrow.bit_width], 0)),
    (pa.types.is_timestamp, _usual_timestamp),
    (pa.types.is_date, lambda rng, _: f'"{_moment(rng)[:10]}"'),
    (pa.types.is_string, _usual_string),
    (pa.types.is_boolean, lambda rng, arrow: rng.choice(_OF_TYPE[arrow])),
    (pa.types.is_binary, lambda rng, arrow: rng.choice(_OF_TYPE[arrow])),
)


def _usual(rng: random.Random, arrow: pa.DataType) -> str:
    """Return a value such as most records have, within and at the limits of its type."""
    if rng.random() < 0.03:
        return "null"
    return next(write(rng, arrow) for is_kind, write in _USUAL_OF if is_kind(arrow))


def _map(rng: random.Random, arrow: pa.MapType, way: tuple[str, str, str], tame: float) -> str:
    names = rng.choices(("k", "l", "m", "", "é", "\\u006b"), weights=(6, 6, 6, 1, 1, 1), k=rng.randrange(3))
    if tame == _USUAL:
        names = list(dict.fromkeys(names))
    return "{" + way[2].join(f'"{n}"{way[1]}{_value(rng, arrow.item_type, way, tame)}' for n in names) + "}"


def _scalar(rng: random.Random, arrow: pa.DataType, tame: float) -> str:
    if tame == _USUAL or rng.random() < 0.5:
        return _usual(rng, arrow)
    if pa.types.is_decimal(arrow):
        text = rng.choice((*_WHOLES, *_FRACTIONS))
        return text if rng.random() < 0.7 else f'"{text}"'
    return rng.choice(_OF_TYPE.get(arrow, _WHOLES))


def _value(rng: random.Random, arrow: pa.DataType, way: tuple[str, str, str], tame: float) -> str:
    if rng.random() > tame:
        return rng.choice(_FOREIGN)
    opened, _, comma = way
    if pa.types.is_struct(arrow):
        return _object(rng, list(arrow), way, tame)
    if pa.types.is_list(arrow):
        items = (_value(rng, arrow.value_type, way, tame) for _ in range(rng.randrange(4)))
        return f"[{opened}{comma.join(items)}]"
    return _map(rng, arrow, way, tame) if pa.types.is_map(arrow) else _scalar(rng, arrow, tame)


def _object(rng: random.Random, fields: Sequence[pa.Field], way: tuple[str, str, str], tame: float) -> str:
    opened, colon, comma = way
    members = [(f.name, _value(rng, f.type, way, tame)) for f in fields if rng.random() < max(min(tame, 1.0), 0.9)]
    if rng.random() > tame:
        rng.shuffle(members)
    if rng.random() > tame:
        members.insert(
            rng.randrange(len(members) + 1), (rng.choice(("zz", "a", "A", "", "user")), rng.choice(_FOREIGN))
        )
    if rng.random() > tame and members:
        members.append(rng.choice(members))
    return "{" + opened + comma.join(f'"{name}"{colon}{value}' for name, value in members) + "}"


def _mutated(rng: random.Random, raw: bytes) -> bytes:
    at = rng.randrange(len(raw) + 1)
    cut = at + rng.randrange(3)
    return (
        raw[:at]
        + rng.choice((b"", b" ", b",", b'"', b"'", b"}", b"]", b"\\", b"0", b"\x00", b"\xff", b"\xed\xa0\x80", b"1"))
        + raw[cut:]
    )


def document_of(rng: random.Random, ddl: str) -> bytes:
    """Return a document for the schema: tame, odd or broken."""
    tame = rng.choice((1.0, 0.97, 0.9, 0.7))
    text = _object(rng, list(parse_schema(ddl)), rng.choice(WAYS_TO_WRITE), tame)
    raw = text.encode("utf-8", "surrogatepass")
    return _mutated(rng, raw) if rng.random() < 0.15 else raw


def written_alike(rng: random.Random, ddl: str, count: int) -> list[bytes]:
    """Return documents of one producer: nearly always the same members in the same order, written in the same way."""
    way = rng.choice(WAYS_TO_WRITE)
    fields = list(parse_schema(ddl))
    return [
        _object(rng, fields, way, rng.choice((_USUAL, _USUAL, _USUAL, 1.0, 0.98))).encode("utf-8", "surrogatepass")
        for _ in range(count)
    ]


def batch_of(rng: random.Random, ddl: str, count: int) -> list[bytes | None]:
    """Return a batch: some documents of one producer, some of nobody in particular, some without a value."""
    share = rng.choice((0.5, 0.9, 1.0))
    alike = written_alike(rng, ddl, int(count * share))
    mixed: list[bytes | None] = [*alike, *(document_of(rng, ddl) for _ in range(count - len(alike)))]
    rng.shuffle(mixed)
    return [None if rng.random() < 0.01 else value for value in mixed]


HOSTILE: Final = (
    "{}", " {} ", "null", "", "  ", "[]", '[{"a":1}]', '[{"a":1},{"a":2}]', "1", '"x"', "true", '{"a":1', '{"a":1}}', '{"a":1} x', '{"a":1}{"a":2}',
    '{"a":1,}', '{"a":1 "b":null}', "{,}", '{"a"}', '{"a":}', "{a:1}", "{'a':1}", '{"a":1/*c*/}', '{"a":1}//c', '#c\n{"a":1}', '\ufeff{"a":1}',
    '{"A":1}', '{"a":1,"a":2}', '{"a":1,"a":null}', '{"a":"x","a":1}', '{"a":1,"a":"x"}', '{"zz":[1,{"a":2}],"a":3}', '{"zz":"\\q","a":3}',
    '{"zz":"\t","a":3}', '{"a":7\x00}', '\x00{"a":7}', '{"a":7}\x00', '{"a":\x0b7}', '{"a":\u00a07}', '{"a": \r\n\t7 }', "nullx", '{"a":null ,"b" : null}',
    '{"zz":NaN,"a":1}', '{"zz":+1,"a":1}', '{"zz":01,"a":1}', '{"zz":1.,"a":1}', '{"zz":truex,"a":1}', '{"zz":1"a":1}', '{"a":1;}',
    '{"b":{"x":1},"b":{"y":[2]}}', '{"b":{"x":1},"b":null}', '{"zz":"\\ud83d","a":1}', '{"zz":"\\u12g4","a":1}', "{'a':1,'zz':'\\''}",
    '{"zz":"\\\'","a":1}', "{'zz':'x\"y',\"a\":1}", "{'a\":1}", '{"a":1]', '{"c":[1}', '{"c":[{"q":1},]}', '{"c":[,]}', '{"":1,"a":2}', '{"\\u0061":7}',
    '{"zz":' + "[" * 999 + "]" * 999 + ',"a":3}', '{"zz":' + "[" * 1000 + "]" * 1000 + ',"a":3}', '{"a":' + '{"a":' * 400 + "1" + "}" * 400 + "}",
    '{"zz":' + "9" * 1000 + ',"a":3}', '{"zz":' + "9" * 1001 + ',"a":3}', '{"zz":0.' + "9" * 1000 + ',"a":3}', '{"zz":0.' + "9" * 1001 + ',"a":3}',
    '{"zz":1e' + "9" * 999 + ',"a":3}', '{"zz":1e' + "9" * 1000 + ',"a":3}', '{"' + "x" * 50_000 + '":1,"a":3}', '{"' + "x" * 50_001 + '":1,"a":3}',
    '{"a":"' + "x" * 100_000 + '"}', '{"a":' + "[" * 999 + "]" * 999 + "}", '{"a":[' + "1," * 5_000 + "1]}",
)  # fmt: skip
"""Documents that no schema expects."""

_HOSTILE_BYTES: Final = (
    b'{"a":"\xff"}', b'{"a":"\xc3"}', b'{"a":"\xe2\x82"}', b'{"a":"\xed\xa0\x80"}', b'{"a":"\xed\xa0"}', b'{"a":"\xf0\x9f\x98"}', b'{"a":"\xc0\x80"}',
    b'{"a":"\xf5\x80\x80\x80"}', b'{"a":"\xe0\x80\x80"}', b'{"a":"\xf4\x90\x80\x80"}', b'{"a":"\xc3(\xe2\x82(\xf0\x9f(\xf0\x9f\x98("}', b'{"\xff":1}', b"\xff{}",
    b'\xef\xbb\xbf{"a":"1"}', b'{"a":"\xed\xb0\x80\xed\xa0\xbd"}', b'{"a":1,"zz":"\xff"}',
)  # fmt: skip


def hostile_documents() -> list[bytes]:
    """Return all hand-made documents as bytes."""
    return [*(text.encode() for text in HOSTILE), *_HOSTILE_BYTES]
