"""Texts that are hard to read: moments, numbers, JSON, and texts for patterns."""

from __future__ import annotations

import pyarrow as pa

MOMENTS = [
    "2026-01-02 03:04:05Z", "2026-01-02T03:04:05.6z", "2026-01-02 03:04:05+1", "2026-01-02 03:04:05+01", "2026-01-02 03:04:05+1:5",
    "2026-01-02 03:04:05-01:30", "2026-01-02 03:04:05+01:30:15", "2026-01-02 03:04:05+0130", "2026-01-02 03:04:05 UTC", "2026-01-02 03:04:05UTC+3",
    "2026-01-02 03:04:05 UT-03:00", "2026-01-02 03:04:05+18:00", "2026-01-02 03:04:05+18:01", "2026-01-02 03:04:05+19", "2026-01-02 03:04Z",
    "2026-01-02 03Z", "2026-01-02Z", "2026-01-02 ", "2026-01-02T", "2026-01-02 3:4:5.123456789Z", "2026-01-02 03:04:05.Z", "2026-01-02 24:00:00Z",
    "2026-13-02 03:04:05Z", "2026-00-02Z", "2026-1-32 00:00:00Z", "2024-02-29 00:00:00Z", "2023-02-29 00:00:00Z", "0000-01-01 00:00:00Z", "-0001-01-01 00:00:00Z",
    "+12026-01-01 00:00:00Z", "999999-01-01 00:00:00Z", "-290308-12-21 19:59:05.224192Z", "294247-01-10 04:00:54.775808Z", "026-01-01 00:00:00Z", "2026-001-01 00:00:00Z",
    "2026-01-02 003:04:05Z", "2026-01-02  03:04:05Z", "\t2026-01-02 03:04:05Z\n", "2026-01-02\t03:04:05Z", "2026-01-02 03:04:05 +01:00", "2026-01-02 03:04:05Z ", "2026-01-02 03:04:05ZZ",
    "2026-01-02 03:04:60Z", "2026-01-02 03:60:05Z", "", " ", "null", "2026/01/02 00:00:00Z", "2026-01-02 03:04:05,5Z", "1767322800", "2026-01-02 03:04:05GMT", "2026-01-02 03:04:05 Etc/GMT+3",
    "2026-01-02 03:04:05+", "2026-01-02 03:04:05.5+", "2026-01-02 03:04:05-", "2026-01-02 03:04:05+1:60", "2026-01-02 03:04:05 Z", "2026-01-02 03:04:05.123456+00:00", "2026-01", "2026-1", "2026-", "12026",
    "2026-01-02 03:04:05+12:3", "2026-01-02 03:04:05+123", "2026-01-02 03:04:05UTC+0300", "2026-01-02 03:04:05.Z ", "\u00a02026-01-02 03:04:05Z", "2026-01-02 03:04:05\u2003Z", "2026-01-02 03:04:05Z\u2003", "2026-01-02 03:04:05\x7fZ", "2026-01-02 03:04:05\x1fZ\x7f",
    "2026-01-02 03:04:05+9:9:02", "2026-01-02 03:04:05+09:9:02", "2026-01-02 03:04:05UTC+9:9:02", "2026-01-02 03:04:05+9:09:02", "2026-01-02 03:04:05 Etc/GMT-14", "\uff12\uff10\uff12\uff16-01-02 03:04:05Z",
]  # fmt: skip
NUMBERS = [
    "1", "-1", "+1", "--1", "", " ", " 1 ", "\t1\n", "1 2", "1.", ".", ".5", "-.5", "+.", "1.5.5", "1e3", "0x10", "1L", "\uff11", "00012", "-0", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "2147483647", "2147483648", "-2147483648", "127", "128", "-129", "99999999999999999999999", "1_000", "1,000",
    "NaN", "true", "1.99999999999999999999", "\u00a01", "1\x7f", "+", "-", "000000000000000000000000000001", "1.a", "12.", "-12.9",
]  # fmt: skip
JSONS = [
    '{"a":{"b":"x"}}', '{"a":{"b":1}}', '{"a":{"b":-0}}', '{"a":{"b":01}}', '{"a":{"b":1.50}}', '{"a":{"b":1e2}}', '{"a":{"b":true}}', '{"a":{"b":null}}', '{"a":null}', "{}", "[]", "null", '"x"', "1",
    '{"a":[{"b":1}]}', '{"a":[1,2]}', '{"a":{"b":[1]}}', '{"a":{"b":{}}}', '{"a":"b"}', '{"a":{"B":1}}', '{"a":{"b":1},"a":{"b":2}}', '{"a":{"c":1},"a":{"b":2}}', '{"a":{"b":null,"b":2}}', "{'a':{'b':'x'}}", '{"a":{"b":"x"}} trailing', '{"a":{"b":"x"}', '{"a":{"b":"x"}}}',
    '{"a":{"b":"x"},}', "", " ", "x", '{"a":{"b":NaN}}', '{"a":{"b":Infinity}}', '{"a":{"b":"\\u0041\\n\\/"}}', '{"a":{"b":"\ttab\nline"}}', '{"a":{"b":"\\ud83d\\ude00"}}', '{"a":{"b":"\\ud83d"}}', '{"a":{"b":12345678901234567890123}}', ' {"a" : { "b" : "y" } } ', '{"a":{"b":"x"},"c":}',
    '{"c":[1,{"d":2}],"a":{"b":"after"}}', '{"a":{"b":"\\x"}}', "{a:{b:1}}", '{"a":{"b":.5}}', '{"a":{"b":+1}}', '{"a":{"b":1}} {"a":{"b":2}}', '/* c */{"a":{"b":1}}', '\ufeff{"a":{"b":1}}', '{"a":{"b":""}}', '{"a":{"b":"it\'s"}}', '{"a":{"b":tru}}', '{"a" {"b":1}}', '{"a":{"b":1}}\x00', '{"a":{"b":"x\x01"}}', '\u00a0{"a":{"b":1}}', '[{"a":{"b":1}}]', '{"a":{"b":-}}', '{"a":{"b":1.}}', '{"a":{"b":0}}', '{"a":{"b":false}',
]  # fmt: skip
PATTERNS = [
    "abc-123", "", "x", "xy", "line\n", "line\r\n", "line\r", "a\nb", "line\u2028", "line\u0085", "a\rb", "AbC", "٣", "é1", "a_b", "a b\x0bc", "😀x😀", "a.b", "aaa", "aab", "ab12cd", "-", "[x]", "a-c", "^", "\\", "line\n\n", "line\r\n\n", "\n", "tab\tx", "ß1_",
]  # fmt: skip

SCHEMA = pa.schema(
    [("id", pa.int32()), ("moment", pa.string()), ("number", pa.string()), ("json", pa.string()), ("text", pa.string())]
)

EXPRESSIONS = r"""
to_timestamp(moment)
try_to_timestamp(moment)
CAST(moment AS TIMESTAMP_NTZ)
TRY_CAST(moment AS TIMESTAMP_NTZ)
to_timestamp_ntz(moment)
CAST(number AS BIGINT)
CAST(number AS INT)
CAST(number AS TINYINT)
TRY_CAST(number AS BIGINT)
TRY_CAST(number AS SMALLINT)
get_json_object(json, '$.a.b')
get_json_object(json, '$.a')
get_json_object(json, '$.c')
text RLIKE 'line$'
text RLIKE '^line.'
text RLIKE 'a.b'
text RLIKE '^$'
text RLIKE r'\d'
text RLIKE r'\w\d'
text RLIKE r'a\sb'
text RLIKE r'\W'
text RLIKE r'^\S+$'
text RLIKE r'[^a-z]'
text RLIKE r'[\[\]]'
text RLIKE r'[-x]'
text RLIKE r'[a\-c]{2}'
text RLIKE r'a|b'
text RLIKE r'\\'
text RLIKE r'\t'
text RLIKE r'(?:ab)+'
regexp_extract(text, r'(a+)(b?)', 2)
regexp_extract(text, r'(a+?)(a*)', 1)
regexp_extract(text, r'(a|aa)(a?)', 0)
regexp_extract(text, r'([a-z]+)$', 1)
regexp_extract(text, r'(.)', 1)
regexp_extract(text, r'(x)?y', 1)
regexp_extract(text, r'([^\d]*)(\d+)', 2)
regexp_extract(text, r'(a)|(b)', 2)
text LIKE 'line%'
text LIKE '%_b'
text LIKE 'a_b'
text LIKE '_x_'
substring(text, 2, 2)
substring(text, -2)
length(text)
trim(text)
split_part(text, 'a', 2)
split_part(text, '-', -1)
concat(text, number)
text || json
text < number
text = moment
upper(text)
lower(text)
""".strip().splitlines()


def batch() -> pa.RecordBatch:
    rows = max(map(len, (MOMENTS, NUMBERS, JSONS, PATTERNS)))
    columns = [texts + [None] * (rows - len(texts)) for texts in (MOMENTS, NUMBERS, JSONS, PATTERNS)]
    return pa.record_batch(
        [pa.array(range(rows), pa.int32()), *(pa.array(column, pa.string()) for column in columns)], schema=SCHEMA
    )
