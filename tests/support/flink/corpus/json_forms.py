"""JSON: IS JSON, JSON_EXISTS, JSON_VALUE and JSON_QUERY with their clauses, and constructors."""

from __future__ import annotations

from typing import Final

from tests.support.flink.corpus.forms import each, lines

_IS: Final = tuple(
    each(
        "{x} IS {n}JSON{k}",
        x=("js", "s", "num", "'1'", "'null'", "CAST(NULL AS STRING)"),
        n=("", "NOT "),
        k=("", " VALUE", " SCALAR", " ARRAY", " OBJECT"),
    )
)
_PATHS: Final = tuple(
    each(
        """
        JSON_EXISTS(js, {p})
        JSON_VALUE(js, {p})
        JSON_QUERY(js, {p})
        """,
        p=("'$'", "'$.a'", "'lax $.a'", "'strict $.a'", "'$.b'", "'$.c[0]'", "'$.c[*]'", "'$.c[2].d'", "'$.c[-1]'", "'$.e.f'", "'$.e.*'",
           "'$.e[''g h'']'", "'$[\"a\"]'", "'$..f'", "'$.a.b'", "'$[0]'", "'$[1]'", "'$[3]'", "'$.u'", "'$.zz'", "'strict $.zz'", "'a'", "''", "'$.'",
           "'$.c.length()'", "'$.c[?(@ > 1)]'", "'$.c[0,1]'", "'$.c[0:2]'", "CAST(NULL AS STRING)"),
    )
)  # fmt: skip
_ON_ERROR: Final = tuple(
    each(
        """
        JSON_EXISTS(js, 'strict $.a' {x} ON ERROR)
        JSON_EXISTS(js, 'lax $.a' {x} ON ERROR)
        """,
        x=("TRUE", "FALSE", "UNKNOWN", "ERROR"),
    )
)
_VALUES: Final = tuple(
    each(
        """
        JSON_VALUE(js, '$.a' RETURNING {t})
        JSON_VALUE(js, '$.c[0]' RETURNING {t})
        JSON_VALUE(js, '$.b' RETURNING {t})
        JSON_VALUE(js, '$.e.f' RETURNING {t})
        JSON_VALUE('{"a": "5"}', '$.a' RETURNING {t})
        JSON_VALUE('{"a": 1.9}', '$.a' RETURNING {t})
        JSON_VALUE('{"a": true}', '$.a' RETURNING {t})
        JSON_VALUE('{"a": null}', '$.a' RETURNING {t})
        JSON_VALUE('{"a": 12345678901}', '$.a' RETURNING {t})
        """,
        t=(
            "STRING",
            "VARCHAR(3)",
            "CHAR(5)",
            "BOOLEAN",
            "INT",
            "INTEGER",
            "BIGINT",
            "DOUBLE",
            "DECIMAL(10, 2)",
            "DATE",
            "ARRAY<INT>",
        ),
    )
)
_VALUE_CLAUSES: Final = tuple(
    each(
        """
        JSON_VALUE(js, '{p}' {e} {r})
        """,
        p=("lax $.a", "strict $.a", "lax $.c", "lax $.zz"),
        e=("", "NULL ON EMPTY", "ERROR ON EMPTY", "DEFAULT 'empty' ON EMPTY"),
        r=("", "NULL ON ERROR", "ERROR ON ERROR", "DEFAULT 'error' ON ERROR"),
    )
)
_QUERY_CLAUSES: Final = tuple(
    each(
        """
        JSON_QUERY(js, '{p}' {w})
        JSON_QUERY(js, '{p}' {w} {e} ON EMPTY)
        JSON_QUERY(js, '{p}' {w} {e} ON ERROR)
        """,
        p=("lax $.a", "lax $.c", "strict $.zz", "lax $.c[*]"),
        w=("WITHOUT ARRAY WRAPPER", "WITH CONDITIONAL ARRAY WRAPPER", "WITH UNCONDITIONAL ARRAY WRAPPER"),
        e=("NULL", "ERROR", "EMPTY ARRAY", "EMPTY OBJECT"),
    )
)
_STRINGS: Final = tuple(
    each(
        """
        JSON_STRING({x})
        JSON_OBJECT('k' VALUE {x})
        JSON_ARRAY({x})
        """,
        x=("i", "l", "f", "d", "dec1", "big", "b", "s", "c", "bin", "dt", "tm", "ts", "ts6", "ltz", "ai", "as_", "m", "r", "NULL", "js",
           "INTERVAL '1' DAY", "INTERVAL '14' MONTH", "ARRAY[d, d2]"),
    )
)  # fmt: skip
_SPECIAL: Final = lines(
    r"""
    # IS JSON
    '{}' IS JSON
    '[]' IS JSON ARRAY
    '{}' IS JSON OBJECT
    '"abc"' IS JSON SCALAR
    'abc' IS JSON
    '' IS JSON
    ' ' IS JSON
    '{"a": 1} x' IS JSON
    '{"a": 1}{"b": 2}' IS JSON
    '{a: 1}' IS JSON
    '{''a'': 1}' IS JSON
    '[1,]' IS JSON
    '01' IS JSON
    '1.' IS JSON
    '-' IS JSON
    'NaN' IS JSON
    '1e5' IS JSON SCALAR
    'true' IS JSON SCALAR
    'True' IS JSON
    '"a' IS JSON
    '/* c */ 1' IS JSON
    NULL IS JSON
    i IS JSON
    # JSON_EXISTS
    JSON_EXISTS('{"a": true}', '$.a')
    JSON_EXISTS('{"a": true}', '$.b')
    JSON_EXISTS('{"a": [{ "b": 1 }]}', '$.a[0].b')
    JSON_EXISTS('{"a": true}', 'strict $.b' TRUE ON ERROR)
    JSON_EXISTS('{"a": true}', 'strict $.b' FALSE ON ERROR)
    JSON_EXISTS('{"a": true}', 'strict $.b' ERROR ON ERROR)
    JSON_EXISTS('{"a": true}', 'strict $.b' UNKNOWN ON ERROR)
    JSON_EXISTS('{"a": null}', '$.a')
    JSON_EXISTS('not json', '$.a')
    JSON_EXISTS('not json', '$.a' ERROR ON ERROR)
    JSON_EXISTS(js, s)
    # JSON_VALUE
    JSON_VALUE('{"a": true}', '$.a')
    JSON_VALUE('{"a": true}', '$.a' RETURNING BOOLEAN)
    JSON_VALUE('{"a": true}', 'lax $.b' DEFAULT FALSE ON EMPTY)
    JSON_VALUE('{"a": true}', 'strict $.b' DEFAULT FALSE ON ERROR)
    JSON_VALUE('{"a.b": [0.998,0.996]}', '$.["a.b"][0]' RETURNING DOUBLE)
    JSON_VALUE('{"contains blank": "right"}', 'strict $.[''contains blank'']' NULL ON EMPTY DEFAULT 'wrong' ON ERROR)
    JSON_VALUE('{"a": 1}', '$.a' RETURNING INT DEFAULT 5 ON EMPTY)
    JSON_VALUE('{"b": 1}', '$.a' RETURNING INT DEFAULT 5 ON EMPTY)
    JSON_VALUE('{"b": 1}', '$.a' RETURNING INT DEFAULT 'x' ON EMPTY)
    JSON_VALUE('{"b": 1}', '$.a' DEFAULT NULL ON EMPTY)
    JSON_VALUE('{"a": "x"}', '$.a' RETURNING INT DEFAULT -1 ON ERROR)
    JSON_VALUE('{"a": "x"}', '$.a' RETURNING INT ERROR ON ERROR)
    JSON_VALUE('{"a": "x"}', '$.a' RETURNING INT NULL ON ERROR)
    JSON_VALUE('{"a": [1]}', '$.a' ERROR ON ERROR)
    JSON_VALUE('{"a": [1]}', '$.a' DEFAULT 'd' ON ERROR)
    JSON_VALUE('{"a": null}', '$.a' DEFAULT 'd' ON EMPTY)
    JSON_VALUE('{"a": null}', 'strict $.a' ERROR ON EMPTY)
    JSON_VALUE('not json', '$.a' ERROR ON ERROR)
    JSON_VALUE('not json', '$.a' DEFAULT 'd' ON ERROR)
    JSON_VALUE('not json', '$.a' DEFAULT 'd' ON EMPTY)
    JSON_VALUE('', '$')
    JSON_VALUE('1', '$')
    JSON_VALUE('"x"', '$')
    JSON_VALUE('{"a": 1.10}', '$.a')
    JSON_VALUE('{"a": 1e2}', '$.a')
    JSON_VALUE('{"a": 12345678901234567890}', '$.a')
    JSON_VALUE('{"a": 0.1234567890123456789}', '$.a')
    JSON_VALUE('{"a": "\u00e9\n"}', '$.a')
    JSON_VALUE('{"a": ""}', '$.a')
    JSON_VALUE('{"a": 1, "a": 2}', '$.a')
    JSON_VALUE('[1, 2, 3]', '$[1]' RETURNING INT)
    JSON_VALUE('[1, 2, 3]', '$[*]')
    JSON_VALUE('[1, 2, 3]', '$[last]')
    JSON_VALUE('{"a": {"b": "x"}}', '$.a.b')
    JSON_VALUE('{"a": [{"b": 1}, {"b": 2}]}', '$.a.b')
    JSON_VALUE('{"a": [{"b": 1}]}', '$.a[*].b')
    JSON_VALUE(js, s)
    JSON_VALUE(js, '$.a' RETURNING INT DEFAULT 5 ON EMPTY DEFAULT 6 ON ERROR)
    JSON_VALUE(js, '$.a' DEFAULT s ON EMPTY)
    JSON_VALUE(i, '$')
    JSON_VALUE(js)
    # JSON_QUERY
    JSON_QUERY('{ "a": { "b": 1 } }', '$.a')
    JSON_QUERY('[1, 2]', '$')
    JSON_QUERY(CAST(NULL AS STRING), '$')
    JSON_QUERY('{"a":[{"c":"c1"},{"c":"c2"}]}', 'lax $.a[*].c')
    JSON_QUERY('{"a":[{"c":"c1"},{"c":"c2"}]}', 'lax $.a[*].c' RETURNING ARRAY<STRING>)
    JSON_QUERY('{"a":[1, 2, null]}', '$.a' RETURNING ARRAY<STRING>)
    JSON_QUERY('{"a":[1, 2, null]}', '$.a' RETURNING ARRAY<INT>)
    JSON_QUERY('{"a":[[1], {"x": 1}]}', '$.a' RETURNING ARRAY<STRING>)
    JSON_QUERY('{"a":1}', '$.a' RETURNING ARRAY<STRING>)
    JSON_QUERY('{"a":1}', '$.a' RETURNING ARRAY<STRING> WITH CONDITIONAL ARRAY WRAPPER)
    JSON_QUERY('{"a":1}', '$.b' RETURNING ARRAY<STRING> EMPTY ARRAY ON EMPTY)
    JSON_QUERY('{"a":1}', '$.b' RETURNING ARRAY<STRING> EMPTY OBJECT ON EMPTY)
    JSON_QUERY(js, '$.c' RETURNING ARRAY<STRING>)
    JSON_QUERY('{}', '$' WITH CONDITIONAL ARRAY WRAPPER)
    JSON_QUERY('[1, 2]', '$' WITH CONDITIONAL ARRAY WRAPPER)
    JSON_QUERY('[1, 2]', '$' WITH UNCONDITIONAL ARRAY WRAPPER)
    JSON_QUERY('[1, 2]', '$' WITH ARRAY WRAPPER)
    JSON_QUERY('[1, 2]', '$' WITH WRAPPER)
    JSON_QUERY(1, '$')
    JSON_QUERY('1', '$')
    JSON_QUERY('1', '$' WITH CONDITIONAL ARRAY WRAPPER)
    JSON_QUERY('1', '$' ERROR ON ERROR)
    JSON_QUERY('{}', 'lax $.invalid' EMPTY OBJECT ON EMPTY)
    JSON_QUERY('{}', 'strict $.invalid' EMPTY ARRAY ON ERROR)
    JSON_QUERY('not json', '$')
    JSON_QUERY('not json', '$' ERROR ON ERROR)
    JSON_QUERY('{"a": 1.50, "b": "\u00e9", "c": 1e2}', '$')
    JSON_QUERY('{"b": 1, "a": 2}', '$')
    JSON_QUERY(' { "a" : [ 1 ,2 ] } ', '$')
    # JSON_OBJECT and JSON_ARRAY
    JSON_OBJECT()
    JSON_OBJECT('K1' VALUE 'V1', 'K2' VALUE 'V2')
    JSON_OBJECT(KEY 'K1' VALUE CAST(NULL AS STRING) NULL ON NULL)
    JSON_OBJECT(KEY 'K1' VALUE CAST(NULL AS STRING) ABSENT ON NULL)
    JSON_OBJECT(KEY 'K1' VALUE JSON_OBJECT(KEY 'K2' VALUE 'V'))
    JSON_OBJECT('k' VALUE JSON_ARRAY(1, 2))
    JSON_OBJECT('k' VALUE JSON(js))
    JSON_OBJECT('k' VALUE JSON('{"a": 1}'))
    JSON_OBJECT('k' VALUE JSON('not json'))
    JSON_OBJECT('b' VALUE 1, 'a' VALUE 2)
    JSON_OBJECT('a' VALUE 1, 'a' VALUE 2)
    JSON_OBJECT('a' VALUE i, 'b' VALUE s ABSENT ON NULL)
    JSON_OBJECT(s VALUE 1)
    JSON_OBJECT('a': 1)
    JSON_OBJECT('k' VALUE JSON_STRING(ai))
    JSON_OBJECT('a"b' VALUE 'c"d')
    JSON_ARRAY()
    JSON_ARRAY(1, '2')
    JSON_ARRAY(i, s, b, d)
    JSON_ARRAY(CAST(NULL AS STRING) NULL ON NULL)
    JSON_ARRAY(CAST(NULL AS STRING) ABSENT ON NULL)
    JSON_ARRAY(CAST(NULL AS STRING))
    JSON_ARRAY(JSON_ARRAY(1))
    JSON_ARRAY(JSON_OBJECT('a' VALUE 1), 2)
    JSON_ARRAY(JSON(js))
    JSON(js)
    JSON_STRING('Hello, World!')
    JSON_STRING(1)
    JSON_STRING(1.50)
    JSON_STRING(1e0)
    JSON_STRING(1e20)
    JSON_STRING(TRUE)
    JSON_STRING(ARRAY[1, 2])
    JSON_STRING(MAP['a', 1, 'b', NULL])
    JSON_STRING(ROW(1, 'a'))
    JSON_STRING(CAST(ROW(1, 'a') AS ROW<x INT, y STRING>))
    JSON_STRING('é😀"\/')
    JSON_STRING(TIMESTAMP '2024-02-29 12:34:56.789')
    JSON_LENGTH(js)
    JSON_TYPE(js)
    JSON_KEYS(js)
    JSON_DEPTH(js)
    """
)
EXPRESSIONS: Final = (*_IS, *_PATHS, *_ON_ERROR, *_VALUES, *_VALUE_CLAUSES, *_QUERY_CLAUSES, *_STRINGS, *_SPECIAL)
