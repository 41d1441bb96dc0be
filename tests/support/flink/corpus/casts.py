"""CAST and TRY_CAST of every pair of types, of texts that are nearly values, and of collections and rows."""

from __future__ import annotations

from typing import Final

from tests.support.flink.corpus.forms import INTERVALS, each, lines

_SOURCES: Final = (
    "ti", "si", "i", "l", "f", "d", "dec1", "big", "b", "s", "num", "tst", "c", "vc", "bin", "dt", "tm", "ts", "ts6", "ltz", "ai", "as_", "m", "r",
    *INTERVALS, "NULL",
)  # fmt: skip
_TARGETS: Final = (
    "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "DECIMAL(5, 0)", "DECIMAL(38, 18)", "BOOLEAN",
    "STRING", "CHAR(5)", "VARCHAR(4)", "BYTES", "BINARY(4)", "VARBINARY(2)", "DATE", "TIME", "TIMESTAMP(3)", "TIMESTAMP(0)",
    "TIMESTAMP_LTZ(3)", "ARRAY<BIGINT>", "ARRAY<STRING>", "MAP<STRING, BIGINT>", "ROW<x BIGINT, y STRING, z ROW<w FLOAT>>",
    "INTERVAL YEAR TO MONTH", "INTERVAL DAY TO SECOND(3)",
)  # fmt: skip
_FALLIBLE: Final = ("s", "num", "tst", "vc", "bin", "d", "dec1", "as_")
_MATRIX: Final = (
    *each("CAST({x} AS {t})", x=_SOURCES, t=_TARGETS),
    *each("TRY_CAST({x} AS {t})", x=_FALLIBLE, t=_TARGETS),
)
_INTEGER_TEXTS: Final = (
    "'0'", "'42'", "' 42'", "'42 '", "' 42 '", "'+42'", "'-42'", "'- 42'", "'--42'", "'042'", "'4.2'", "'4.9'", "'-4.9'", "'.5'", "'5.'", "'.'",
    "'1e3'", "'1E3'", "'0x1F'", "'1_000'", "'1,000'", "'128'", "'-129'", "'32768'", "'2147483648'", "'9223372036854775808'",
    "'99999999999999999999999999999999999999999'", "''", "' '", "'abc'", "'4a'", "'٣'", "'4\u00a0'", "'true'", "'NaN'", "'1L'",
)  # fmt: skip
_INTEGERS_OF_TEXTS: Final = tuple(
    each(
        "TRY_CAST({x} AS {t})",
        x=_INTEGER_TEXTS,
        t=("TINYINT", "INT", "BIGINT", "DECIMAL(10, 2)", "DOUBLE", "FLOAT", "BOOLEAN"),
    )
)
_REAL_TEXTS: Final = tuple(
    each(
        "TRY_CAST({x} AS {t})",
        x=("'1e400'", "'-1e400'", "'1e-400'", "'Infinity'", "'-Infinity'", "'inf'", "'nan'", "'+NaN'", "'1.5f'", "'1.5d'", "'0x1p3'",
           "'1e'", "'e1'", "'1.5 '", "'1e39'", "'1.005'", "'-1.005'", "'1.004999'", "'99999999.995'", "'123456789.1'", "'1e2'", "'1E-2'"),
        t=("DOUBLE", "FLOAT", "DECIMAL(10, 2)", "INT"),
    )
)  # fmt: skip
_BOOLEAN_TEXTS: Final = tuple(
    each("TRY_CAST({x} AS BOOLEAN)", x=("'true'", "'TRUE'", "'True'", "'t'", "'T'", "'yes'", "'y'", "'on'", "'1'", "'false'", "'f'", "'no'",
                                        "'n'", "'off'", "'0'", "' true '", "'tru'", "'2'", "'null'"))
)  # fmt: skip
_TIME_TEXTS: Final = tuple(
    each(
        "TRY_CAST({x} AS {t})",
        x=(
            "'2024-02-29'", "'2024-2-9'", "'2024-02-30'", "'2023-02-29'", "'2024-13-01'", "'2024-00-01'", "'2024'", "'2024-02'", "'20240229'",
            "'2024/02/29'", "' 2024-02-29 '", "'2024-02-29 '", "'24-02-29'", "'0000-01-01'", "'0001-01-01'", "'-0001-01-01'", "'10000-01-01'",
            "'1582-10-10'", "'2024-02-29 12'", "'2024-02-29 12:34'", "'2024-02-29 12:34:56'", "'2024-02-29 12:34:56.7'",
            "'2024-02-29 12:34:56.7895'", "'2024-02-29 12:34:56.789123456'", "'2024-02-29 12:34:56.7891234567'", "'2024-02-29T12:34:56'",
            "'2024-02-29T12:34:56Z'", "'2024-02-29 12:34:56Z'", "'2024-02-29 12:34:56+02:00'", "'2024-02-29 12:34:56 Europe/Berlin'",
            "'2024-02-29 24:00:00'", "'2024-02-29 23:60:00'", "'2024-02-29 23:59:60'", "'2024-02-29 1:2:3'", "'2024-02-29  12:34:56'",
            "'2025-03-09 02:30:00'", "'2025-11-02 01:30:00'", "'12:34:56'", "'12:34'", "'12'", "'1:2:3'", "'24:00:00'", "'23:59:60'",
            "'12:34:56.789'", "' 12:34:56 '", "'12:34:56Z'", "''", "'abc'", "'0'", "'1700000000'",
        ),
        t=("DATE", "TIME", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP_LTZ(3)"),
    )
)  # fmt: skip
_SPECIAL: Final = lines(
    r"""
    # errors
    CAST('abc' AS INT)
    CAST('' AS INT)
    CAST(' 42 ' AS INT)
    CAST('4.9' AS INT)
    CAST('300' AS TINYINT)
    CAST('abc' AS DOUBLE)
    CAST('abc' AS DECIMAL(10, 2))
    CAST('123456789.1' AS DECIMAL(10, 2))
    CAST('x' AS BOOLEAN)
    CAST('x' AS DATE)
    CAST('2024-02-30' AS DATE)
    CAST('x' AS TIME)
    CAST('x' AS TIMESTAMP(3))
    CAST('x' AS TIMESTAMP_LTZ(3))
    CAST('x' AS BYTES)
    # narrowing of numbers
    CAST(300 AS TINYINT)
    TRY_CAST(300 AS TINYINT)
    CAST(-129 AS TINYINT)
    CAST(70000 AS SMALLINT)
    CAST(3000000000 AS INT)
    TRY_CAST(3000000000 AS INT)
    CAST(1e10 AS INT)
    CAST(1e20 AS BIGINT)
    CAST(1.9e0 AS INT)
    CAST(-1.9e0 AS INT)
    CAST(1.9 AS INT)
    CAST(-1.9 AS INT)
    CAST(2.5 AS INT)
    CAST(300.7 AS TINYINT)
    CAST(CAST('NaN' AS DOUBLE) AS INT)
    CAST(CAST('Infinity' AS DOUBLE) AS BIGINT)
    CAST(1e300 AS FLOAT)
    CAST(16777217 AS FLOAT)
    CAST(9007199254740993 AS DOUBLE)
    CAST(0.1 AS FLOAT)
    CAST(CAST(0.1 AS FLOAT) AS DOUBLE)
    CAST(0.1e0 AS DECIMAL(20, 18))
    CAST(CAST(0.1 AS FLOAT) AS DECIMAL(20, 18))
    CAST(1e20 AS DECIMAL(10, 2))
    CAST(CAST('NaN' AS DOUBLE) AS DECIMAL(10, 2))
    CAST(1.005 AS DECIMAL(3, 2))
    CAST(1.995 AS DECIMAL(3, 2))
    CAST(-1.005 AS DECIMAL(3, 2))
    CAST(9.995 AS DECIMAL(3, 2))
    CAST(12345 AS DECIMAL(3, 0))
    CAST(12345.67 AS DECIMAL(4, 1))
    TRY_CAST(12345.67 AS DECIMAL(4, 1))
    CAST(dec1 AS DECIMAL(4, 2))
    CAST(dec2 AS DECIMAL(10, 0))
    CAST(big AS DECIMAL(10, 5))
    CAST(l AS DECIMAL(5, 0))
    CAST(d AS DECIMAL(20, 5))
    CAST(5 AS DECIMAL)
    CAST(5.7 AS DECIMAL)
    CAST(i AS NUMERIC(12, 1))
    # numbers to texts
    CAST(1e7 AS STRING)
    CAST(1e6 AS STRING)
    CAST(1e-3 AS STRING)
    CAST(1e-4 AS STRING)
    CAST(1.0 AS STRING)
    CAST(1.50 AS STRING)
    CAST(0.1e0 AS STRING)
    CAST(CAST(0.1 AS FLOAT) AS STRING)
    CAST(CAST(1e10 AS FLOAT) AS STRING)
    CAST(123456789.123e0 AS STRING)
    CAST(-0e0 AS STRING)
    CAST(CAST('NaN' AS DOUBLE) AS STRING)
    CAST(CAST('-Infinity' AS DOUBLE) AS STRING)
    CAST(0.000000001 AS STRING)
    CAST(CAST(0 AS DECIMAL(38, 18)) AS STRING)
    CAST(TRUE AS STRING)
    CAST(FALSE AS CHAR(2))
    CAST(12345 AS CHAR(3))
    CAST(12345 AS VARCHAR(3))
    CAST(5 AS CHAR(3))
    CAST(5 AS CHAR)
    CAST(d2 AS STRING)
    # texts to texts
    CAST('abc' AS CHAR(5))
    CAST('abc' AS CHAR(2))
    CAST('abc' AS CHAR)
    CAST('abc' AS VARCHAR)
    CAST('abc' AS VARCHAR(2))
    CAST('a  ' AS VARCHAR(2))
    CAST('😀bc' AS CHAR(2))
    CAST('' AS CHAR(2))
    CAST(c AS CHAR(5))
    CAST(c AS CHAR(1))
    CAST(c AS STRING)
    CAST(vc AS CHAR(5))
    CAST(s AS CHAR(12))
    CAST(CAST('a' AS CHAR(3)) AS VARCHAR(5))
    CHAR_LENGTH(CAST('a' AS CHAR(3)))
    CAST(s AS VARCHAR(3)) || '|'
    CAST(s AS CHAR(7)) || '|'
    # bytes
    CAST('abc' AS BYTES)
    CAST('é😀' AS BYTES)
    CAST('abc' AS BINARY(2))
    CAST('abc' AS BINARY(5))
    CAST('abc' AS VARBINARY(2))
    CAST(X'616263' AS STRING)
    CAST(X'FF' AS STRING)
    CAST(X'616263' AS VARCHAR(2))
    CAST(X'616263' AS CHAR(5))
    CAST(X'616263' AS BINARY(2))
    CAST(X'616263' AS BINARY(5))
    CAST(X'31' AS INT)
    CAST(1 AS BYTES)
    # booleans and numbers
    CAST(TRUE AS INT)
    CAST(FALSE AS DECIMAL(3, 1))
    CAST(TRUE AS DOUBLE)
    CAST(2 AS BOOLEAN)
    CAST(0 AS BOOLEAN)
    CAST(0.5e0 AS BOOLEAN)
    CAST(0.5 AS BOOLEAN)
    CAST(CAST('NaN' AS DOUBLE) AS BOOLEAN)
    # times
    CAST(DATE '2024-02-29' AS TIMESTAMP(3))
    CAST(DATE '2024-02-29' AS TIMESTAMP_LTZ(3))
    CAST(DATE '2025-03-09' AS STRING)
    CAST(TIMESTAMP '2024-02-29 12:34:56.789' AS DATE)
    CAST(TIMESTAMP '2024-02-29 12:34:56.789' AS TIME)
    CAST(TIMESTAMP '2024-02-29 12:34:56.789' AS STRING)
    CAST(TIMESTAMP '2024-02-29 12:34:56' AS STRING)
    CAST(TIMESTAMP '2024-02-29 12:34:56.000' AS STRING)
    CAST(CAST('2024-02-29 12:34:56.7' AS TIMESTAMP(6)) AS STRING)
    CAST(CAST('2024-02-29 12:34:56.7' AS TIMESTAMP(0)) AS STRING)
    CAST(CAST('2024-02-29 12:34:56' AS TIMESTAMP(9)) AS STRING)
    CAST(TIMESTAMP '2024-02-29 12:34:56.789' AS TIMESTAMP(0))
    CAST(TIMESTAMP '2024-02-29 12:34:56.789' AS TIMESTAMP(1))
    CAST(TIMESTAMP '2024-02-29 12:34:56.789' AS TIMESTAMP)
    CAST(TIMESTAMP '1969-12-31 23:59:59.999' AS TIMESTAMP(0))
    CAST(ts6 AS TIMESTAMP(3))
    CAST(ts6 AS TIMESTAMP(1))
    CAST(ts6 AS STRING)
    CAST(ts6 AS TIMESTAMP_LTZ(6))
    CAST(ltz AS TIMESTAMP_LTZ(0))
    CAST(ltz AS STRING)
    CAST(ltz AS VARCHAR(10))
    CAST(ltz AS TIME)
    CAST(tm AS STRING)
    CAST(tm AS TIMESTAMP(3))
    CAST(tm AS INT)
    CAST(TIME '12:34:56.789' AS STRING)
    CAST(TIME '12:34:56' AS TIME(3))
    CAST(ts AS VARCHAR(10))
    CAST(ts AS CHAR(30))
    CAST(ts AS BIGINT)
    CAST(ltz AS BIGINT)
    CAST(dt AS INT)
    CAST(0 AS TIMESTAMP(3))
    CAST(0 AS TIMESTAMP_LTZ(3))
    CAST(0 AS DATE)
    CAST(l AS TIMESTAMP_LTZ(3))
    CAST(1.5 AS TIMESTAMP(3))
    CAST(ts AS DECIMAL(20, 3))
    # intervals
    CAST(INTERVAL '1-2' YEAR TO MONTH AS STRING)
    CAST(INTERVAL '14' MONTH AS STRING)
    CAST(INTERVAL '-1-2' YEAR TO MONTH AS STRING)
    CAST(INTERVAL '3 04:05:06.789' DAY TO SECOND AS STRING)
    CAST(INTERVAL '90' MINUTE AS STRING)
    CAST(INTERVAL '-1' SECOND AS STRING)
    CAST(INTERVAL '1' DAY AS INTERVAL HOUR)
    CAST(INTERVAL '1' YEAR AS INTERVAL MONTH)
    CAST(5 AS INTERVAL DAY)
    CAST('1' AS INTERVAL DAY)
    CAST('1-2' AS INTERVAL YEAR TO MONTH)
    CAST(INTERVAL '5' DAY AS INT)
    # collections and rows
    CAST(ai AS ARRAY<TINYINT>)
    CAST(ai AS ARRAY<DOUBLE>)
    CAST(ai AS ARRAY<DECIMAL(5, 1)>)
    CAST(ai AS ARRAY<BOOLEAN>)
    CAST(as_ AS ARRAY<INT>)
    TRY_CAST(as_ AS ARRAY<INT>)
    CAST(as_ AS ARRAY<CHAR(2)>)
    CAST(ai AS STRING)
    CAST(as_ AS STRING)
    CAST(m AS STRING)
    CAST(r AS STRING)
    CAST(ai AS VARCHAR(4))
    CAST(ARRAY[1.5, 2.25] AS STRING)
    CAST(ARRAY['a', NULL, ''] AS STRING)
    CAST(ARRAY[TRUE, FALSE] AS STRING)
    CAST(ARRAY[DATE '2024-01-01'] AS STRING)
    CAST(ARRAY[ARRAY[1], ARRAY[2, 3]] AS STRING)
    CAST(MAP['a', 1, 'b', NULL] AS STRING)
    CAST(MAP['a', ARRAY[1]] AS STRING)
    CAST(ROW(1, 'a', NULL) AS STRING)
    CAST(ROW(1, ROW('x', TRUE)) AS STRING)
    CAST(ROW(TIMESTAMP '2024-01-01 00:00:00', 1.50) AS STRING)
    CAST(ROW(1, 'a') AS ROW<x BIGINT, y STRING>)
    CAST(ROW(1, 'a') AS ROW<x STRING, y STRING>)
    CAST(ROW(1, 'a') AS ROW<x BIGINT>)
    CAST(ROW(1, 'a') AS ROW<x BIGINT, y STRING, z INT>)
    CAST(ROW('a') AS ROW<x INT>)
    TRY_CAST(ROW('a') AS ROW<x INT>)
    CAST(ROW('a', 1) AS ROW<x INT, y INT>)
    TRY_CAST(ROW('a', 1) AS ROW<x INT, y INT>)
    CAST(r AS ROW<a BIGINT, b CHAR(2), n ROW<x STRING>>)
    CAST(r AS ROW<p STRING, q STRING, o ROW<y DECIMAL(5, 1)>>)
    CAST(MAP['1', '2'] AS MAP<INT, INT>)
    CAST(m AS MAP<STRING, STRING>)
    CAST(m AS MAP<CHAR(1), DOUBLE>)
    CAST(ARRAY[1, 2] AS MAP<INT, INT>)
    CAST('[1, 2]' AS ARRAY<INT>)
    CAST('{a=1}' AS MAP<STRING, INT>)
    CAST('(1, a)' AS ROW<x INT, y STRING>)
    CAST(ARRAY[NULL] AS ARRAY<INT>)
    CAST(ARRAY[ROW(1, 'a')] AS ARRAY<ROW<x STRING, y STRING>>)
    CAST(NULL AS ARRAY<INT>)
    CAST(NULL AS ROW<x INT>)
    CAST(NULL AS MAP<STRING, INT>)
    CAST(r.n AS STRING)
    # other forms
    CAST(i AS INTEGER)
    CAST(i AS DEC(12, 1))
    CAST(i AS DOUBLE PRECISION)
    CAST(i AS REAL)
    CAST(s AS VARCHAR(2147483647))
    CAST(ts AS TIMESTAMP(3) WITHOUT TIME ZONE)
    CAST(ts AS TIMESTAMP(3) WITH LOCAL TIME ZONE)
    CAST(ts AS TIMESTAMP(3) WITH TIME ZONE)
    CAST(i AS INT NOT NULL)
    CAST(i AS INT ARRAY)
    CAST(ARRAY[1] AS MULTISET<INT>)
    i::STRING
    TYPEOF(i)
    TYPEOF(1)
    TYPEOF('abc')
    TYPEOF('')
    TYPEOF(1.50)
    TYPEOF(1e0)
    TYPEOF(c)
    TYPEOF(r)
    TYPEOF(r, TRUE)
    TYPEOF(ARRAY[1, NULL])
    TYPEOF(MAP['a', 1])
    TYPEOF(NULL)
    TYPEOF(ts + INTERVAL '1' DAY)
    TYPEOF(CURRENT_DATE)
    """
)
EXPRESSIONS: Final = (*_MATRIX, *_INTEGERS_OF_TEXTS, *_REAL_TEXTS, *_BOOLEAN_TEXTS, *_TIME_TEXTS, *_SPECIAL)
