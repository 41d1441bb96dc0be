"""Comparisons: every pair of types, every operator within a type, BETWEEN, IN, DISTINCT FROM, rows and collections."""

from __future__ import annotations

from typing import Final

from tests.support.flink.corpus.forms import INTERVALS, NUMBERS, OTHERS, PARTNERS, TEMPORALS, TEXTS, each, lines, pairs

_ALL: Final = (*NUMBERS, *TEXTS, "b", "bin", *TEMPORALS, "ai", "as_", "m", "r", *INTERVALS)
_ORDERED: Final = (*NUMBERS, *TEXTS, "dt", "ts", "ltz")
_MATRIX: Final = (
    *(f"{left} = {right}" for left, right in pairs(_ALL, _ALL)),
    *(f"{left} < {right}" for left, right in pairs(_ORDERED, _ORDERED)),
)
_ORDERS: Final = tuple(
    f"{column} {operator} {partner}"
    for column, partner in (*PARTNERS.items(), ("i", "l"), ("f", "d"), ("dec1", "dec2"), ("c", "vc"), ("s", "vc"), ("vc", "vc"), ("bin", "bin"))
    for operator in ("<>", "!=", ">", ">=", "<=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
)  # fmt: skip
_NULLS: Final = tuple(each("{x} IS NULL\n{x} IS NOT NULL", x=(*NUMBERS, *TEXTS, *TEMPORALS, *OTHERS)))
_SPECIAL: Final = lines(
    r"""
    # BETWEEN
    i BETWEEN 0 AND 10
    i BETWEEN 10 AND 0
    i BETWEEN SYMMETRIC 10 AND 0
    i BETWEEN ASYMMETRIC 0 AND 10
    i NOT BETWEEN 0 AND 10
    i NOT BETWEEN SYMMETRIC 10 AND 0
    i BETWEEN NULL AND 10
    i BETWEEN 0 AND NULL
    i NOT BETWEEN NULL AND 10
    i NOT BETWEEN 10 AND NULL
    i BETWEEN SYMMETRIC NULL AND 10
    i BETWEEN i2 AND l
    dec1 BETWEEN 0 AND 1.005
    d BETWEEN -1 AND 3
    s BETWEEN 'A' AND 'b'
    dt BETWEEN DATE '1970-01-01' AND DATE '2025-03-09'
    dt BETWEEN '1970-01-01' AND '2025-03-09'
    ts BETWEEN dt AND ts2
    c BETWEEN 'a' AND 'b'
    12 BETWEEN 15 AND 12
    12 BETWEEN SYMMETRIC 15 AND 12
    12 BETWEEN NULL AND 10
    12 NOT BETWEEN 15 AND NULL
    12 NOT BETWEEN SYMMETRIC 12 AND NULL
    # IN
    i IN (7, 5, 42)
    i NOT IN (7, 5, 42)
    i IN (7, NULL)
    i NOT IN (7, NULL)
    i IN (NULL)
    i IN (7.0, 5.5)
    i IN ('7', '5')
    i IN (i2, 7, l)
    i IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 42)
    i NOT IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 42)
    i IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, NULL)
    l IN (7000000000, 0)
    ti IN (1, 127, 300)
    d IN (2.5, 0)
    d IN (2.5e0, -0e0)
    f IN (0.1)
    f IN (0.1, 1.5)
    f IN (CAST(0.1 AS FLOAT))
    dec1 IN (123.45, 0.010)
    dec1 IN (123, 0.01)
    s IN ('', 'Hello World')
    s IN ('Hello World ', 'x')
    c IN ('abc', 'a')
    c IN ('ab', 'ABC')
    vc IN ('abc', 'ab ')
    dt IN (DATE '2024-02-29', DATE '1970-01-01')
    dt IN ('2024-02-29')
    ts IN (TIMESTAMP '1970-01-01 00:00:00')
    ts IN ('1970-01-01 00:00:00')
    b IN (TRUE)
    b IN (TRUE, NULL)
    (i, i2) IN ((7, 3), (0, 0))
    1 IN (1, NULL)
    4 IN (1, 2, NULL)
    4 NOT IN (1, 2, NULL)
    NULL IN (1, 2)
    # DISTINCT FROM
    i IS DISTINCT FROM NULL
    i IS NOT DISTINCT FROM NULL
    i IS NOT DISTINCT FROM 7
    NULL IS DISTINCT FROM NULL
    1 IS DISTINCT FROM NULL
    d IS NOT DISTINCT FROM d
    d IS DISTINCT FROM d2
    ai IS NOT DISTINCT FROM ARRAY[1, 2, 3]
    r IS NOT DISTINCT FROM r
    m IS DISTINCT FROM m
    s IS NOT DISTINCT FROM ''
    # NULL
    i = NULL
    NULL = NULL
    NULL <> 1
    NULL IS NULL
    i <> NULL
    # floating numbers
    d = d
    d <> d
    d > 0
    d < 0
    d >= 0
    d = 0
    d = -0e0
    f = f
    f = 0.1
    f = CAST(0.1 AS FLOAT)
    f = 0.1e0
    f > 1e0
    f = d
    CAST(f AS DOUBLE) = d
    d > d2
    d = CAST('NaN' AS DOUBLE)
    d > CAST('NaN' AS DOUBLE)
    d < CAST('NaN' AS DOUBLE)
    d <> CAST('NaN' AS DOUBLE)
    CAST('NaN' AS DOUBLE) = CAST('NaN' AS DOUBLE)
    CAST('NaN' AS DOUBLE) > CAST('Infinity' AS DOUBLE)
    CAST('NaN' AS DOUBLE) < 1e0
    0e0 = -0e0
    CAST('NaN' AS FLOAT) = CAST('NaN' AS DOUBLE)
    # numbers of different types
    1 = 1.0
    1 = 1e0
    0.1 = 0.1e0
    1.10 = 1.1
    9007199254740993 = 9007199254740992e0
    16777217 = CAST(16777216 AS FLOAT)
    l = 7000000000
    ti = 300
    ti < 1000
    ti = 127
    dec1 = 123.450
    dec1 = 123.45e0
    dec1 > 123
    big = 1
    big > 1
    # texts
    'a' = 'a '
    'a' = 'A'
    'a' < 'B'
    'Z' < 'a'
    'é' > 'z'
    '😀' > '￿'
    'abc' < 'abcd'
    '' < 'a'
    c = 'abc'
    c = 'ab'
    c = 'ab '
    c = 'a'
    c = '   '
    c = ''
    'ab' = c
    c = vc
    vc = 'ab '
    vc = CAST('ab' AS CHAR(5))
    c = s
    CAST('ab' AS CHAR(5)) = CAST('ab' AS CHAR(3))
    CAST('ab' AS CHAR(5)) = 'ab'
    CAST('ab' AS CHAR(5)) = CAST('ab' AS VARCHAR(5))
    CAST('ab' AS CHAR(5)) < 'ab!'
    s > s2
    s < 'a'
    s >= '😀'
    bin > X'61'
    bin = X'616263'
    X'00FF' > X'7F'
    bin < CAST('b' AS BYTES)
    as_[1] > U&'\FFFF'
    as_[1] > U&'\FF5E'
    s > U&'\FF5E'
    # texts beside other types
    '1' = 1
    '01' = 1
    1 = '1.0'
    '1.0' = 1.0
    'abc' = 1
    1.5 = '1.5'
    1e0 = '1'
    'TRUE' = TRUE
    'x' = TRUE
    i = '7'
    i > '5'
    num = 42
    num = 1.5
    num > 100
    num = l
    d = '2.5'
    dec1 = '123.45'
    b = 'true'
    b = 1
    dt = '2024-02-29'
    dt > '2000-01-01'
    dt = '2024-2-29'
    dt = 'x'
    ts = '2024-02-29 12:34:56.789'
    ts > '2000-01-01'
    ts = tst
    ltz = '1970-01-01 00:00:00'
    ltz > '2000-01-01 00:00:00'
    ltz = tst
    tm = '06:30:00'
    tm > '12:00:00'
    dt = tst
    # times of different types
    ts = dt
    ts > dt
    dt <= ts
    ts = TIMESTAMP '1970-01-01 00:00:00.000'
    ts > DATE '2000-01-01'
    ts6 > ts
    ts = ltz
    ts < ltz
    dt < ltz
    dt = tm
    ts = tm
    ts > 0
    dt > 0
    ltz = ltz2
    INTERVAL '1' DAY < INTERVAL '25' HOUR
    INTERVAL '1' YEAR = INTERVAL '12' MONTH
    INTERVAL '1' MONTH < INTERVAL '31' DAY
    # booleans, collections, rows
    b = b2
    b > b2
    TRUE > FALSE
    b = TRUE
    b <> FALSE
    ai = ARRAY[1, 2, 3]
    ai <> ARRAY[1, 2, 3]
    ai = ai
    ai < ARRAY[2]
    as_ = ARRAY['a', 'b', 'c']
    m = MAP['a', 1, 'b', 2]
    m = MAP['b', 2, 'a', 1]
    m = m
    m <> m
    r = r
    r <> r
    r < r
    r = ROW(7, 'x', ROW(1.5e0))
    ROW(1, 'a') = ROW(1, 'a')
    ROW(1, 'a') < ROW(1, 'b')
    ROW(1, NULL) = ROW(1, NULL)
    (i, i2) = (7, 3)
    (i, i2) <> (7, 3)
    ROW(i, i2) = ROW(7, 3)
    ARRAY[1, 2] = ARRAY[1, 2]
    ARRAY[1, NULL] = ARRAY[1, NULL]
    ARRAY[1] = ARRAY[1.0]
    MAP['a', 1] = MAP['a', 1]
    r.a = 7
    r.n.x > 1
    m['a'] = 1
    ai[1] > 2
    i = ANY (ARRAY[7, 5])
    i = SOME (7, 5)
    i > ALL (1, 2)
    """
)
EXPRESSIONS: Final = (*_MATRIX, *_ORDERS, *_NULLS, *_SPECIAL)
