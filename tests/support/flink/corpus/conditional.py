"""Choices: CASE, COALESCE, IF, NULLIF, GREATEST and their kin over pairs of types, and how branches meet in one type."""

from __future__ import annotations

from typing import Final

from tests.support.flink.corpus.forms import each, lines, pairs

_TYPES: Final = (
    "ti",
    "i",
    "l",
    "f",
    "d",
    "dec1",
    "big",
    "s",
    "c",
    "vc",
    "b",
    "bin",
    "dt",
    "tm",
    "ts",
    "ts6",
    "ltz",
    "ai",
    "m",
    "r",
)
_MATRIX: Final = tuple(f"CASE WHEN b THEN {left} ELSE {right} END" for left, right in pairs(_TYPES, _TYPES))
_SIMPLE: Final = ("i", "l", "d", "dec1", "s", "c", "dt", "ts")
_MATRIX_OF_OTHERS: Final = tuple(
    form.format(left=left, right=right)
    for left, right in pairs(_SIMPLE, _SIMPLE)
    for form in (
        "COALESCE({left}, {right})",
        "GREATEST({left}, {right})",
        "LEAST({left}, {right})",
        "NULLIF({left}, {right})",
        "IF(b, {left}, {right})",
        "IFNULL({left}, {right})",
    )
)
_SAME: Final = tuple(
    each(
        """
        GREATEST({x}, {x})
        NULLIF({x}, {x})
        IFNULL({x}, {x})
        IF(b, {x}, NULL)
        IF(b, NULL, {x})
        COALESCE({x}, NULL)
        COALESCE(NULL, {x})
        CASE WHEN b THEN {x} END
        CASE WHEN b THEN NULL ELSE {x} END
        CASE WHEN b THEN {x} WHEN b2 THEN {x} ELSE NULL END
        """,
        x=("ti", "f", "big", "c", "vc", "b", "bin", "tm", "ts6", "ltz", "ai", "m", "r"),
    )
)
_SPECIAL: Final = lines(
    r"""
    # CASE
    CASE i WHEN 7 THEN 'seven' WHEN 0 THEN 'zero' ELSE 'other' END
    CASE i WHEN 7 THEN 'seven' WHEN 0 THEN 'zero' END
    CASE i WHEN 7, 0 THEN 'some' ELSE 'other' END
    CASE i WHEN NULL THEN 'null' ELSE 'other' END
    CASE i WHEN l THEN 1 WHEN 7.0 THEN 2 END
    CASE s WHEN '' THEN 'empty' WHEN s2 THEN 'same' ELSE s END
    CASE c WHEN 'ab' THEN 1 WHEN 'abc' THEN 2 ELSE 3 END
    CASE d WHEN 0 THEN 'zero' WHEN 2.5 THEN 'x' ELSE 'y' END
    CASE WHEN i > 5 THEN 'big' WHEN i > 0 THEN 'small' WHEN i IS NULL THEN 'null' ELSE 'negative' END
    CASE WHEN b THEN 'yes' WHEN NOT b THEN 'no' END
    CASE WHEN b THEN 1 WHEN b2 THEN 2.5 ELSE 3e0 END
    CASE WHEN b THEN 1 ELSE 2.55 END
    CASE WHEN b THEN 'a' ELSE 'abc' END
    CASE WHEN b THEN 'a' ELSE c END
    CASE WHEN b THEN 'a' ELSE '' END
    CASE WHEN b THEN 'abc' ELSE vc END
    CASE WHEN b THEN s END
    CASE WHEN b THEN NULL END
    CASE WHEN b THEN NULL ELSE NULL END
    CASE WHEN TRUE THEN 1 ELSE 'x' END
    CASE WHEN b THEN i ELSE 'x' END
    CASE WHEN b THEN dt ELSE ts END
    CASE WHEN b THEN DATE '2024-01-01' ELSE TIMESTAMP '2024-01-01 12:00:00' END
    CASE WHEN b THEN ts ELSE ltz END
    CASE WHEN b THEN '2024-01-01' ELSE dt END
    CASE WHEN b THEN ARRAY[1] ELSE ARRAY[2.5] END
    CASE WHEN b THEN ARRAY[1] ELSE ai END
    CASE WHEN b THEN MAP['a', 1] ELSE m END
    CASE WHEN b THEN ROW(1, 'a') ELSE ROW(2, 'bcd') END
    CASE WHEN b THEN INTERVAL '1' DAY ELSE INTERVAL '2' HOUR END
    CASE WHEN b THEN INTERVAL '1' YEAR ELSE INTERVAL '2' MONTH END
    CASE WHEN b THEN INTERVAL '1' YEAR ELSE INTERVAL '2' DAY END
    CASE WHEN i2 = 0 THEN 0 ELSE i / i2 END
    CASE WHEN i2 <> 0 THEN i / i2 END
    CASE WHEN num IS NULL THEN 0 ELSE CAST(num AS INT) END
    CASE WHEN FALSE THEN 1 / 0 ELSE 2 END
    CASE WHEN TRUE THEN 2 ELSE 1 / 0 END
    CASE WHEN NULL THEN 1 ELSE 2 END
    CASE WHEN i THEN 1 ELSE 2 END
    CASE i WHEN '7' THEN 1 ELSE 2 END
    CASE WHEN b THEN 1 END + 1
    CASE WHEN b THEN CAST(1 AS TINYINT) ELSE CAST(1000 AS SMALLINT) END
    CASE WHEN b THEN dec1 ELSE 0 END
    CASE WHEN b THEN dec1 ELSE 0.12345 END
    CASE WHEN b THEN dec1 ELSE l END
    CASE WHEN b THEN f ELSE dec1 END
    CASE WHEN b THEN f ELSE i END
    CASE WHEN b THEN f ELSE l END
    CASE WHEN b THEN big ELSE 12345678901234567890123.5 END
    CASE WHEN b THEN UNKNOWN ELSE b2 END
    # COALESCE
    COALESCE(i, i2, 0)
    COALESCE(i, 0)
    COALESCE(i, 0.5)
    COALESCE(i, 1e0)
    COALESCE(i, l, dec1)
    COALESCE(s, '')
    COALESCE(s, s2, 'x')
    COALESCE(c, 'longer')
    COALESCE(c, 'a')
    COALESCE(vc, 'longer than five')
    COALESCE(NULL, NULL)
    COALESCE(NULL, 1)
    COALESCE(1, NULL)
    COALESCE(1, 'a')
    COALESCE(i, 'none')
    COALESCE(dt, '2024-01-01')
    COALESCE(dt, DATE '2024-01-01')
    COALESCE(ts, TIMESTAMP '2024-01-01 00:00:00')
    COALESCE(ts, dt)
    COALESCE(dec1, 0)
    COALESCE(dec1, dec2)
    COALESCE(ai, ARRAY[0])
    COALESCE(m, MAP['z', 0])
    COALESCE(i, 1 / 0)
    COALESCE(1, 1 / 0)
    COALESCE(i)
    COALESCE(TRY_CAST(num AS INT), -1)
    COALESCE('a', 'abc')
    COALESCE(CAST(NULL AS INT), 5)
    # IFNULL, IF, NULLIF
    IFNULL(i, 0)
    IFNULL(i, 0.5)
    IFNULL(s, 'none')
    IFNULL(c, 'none')
    IFNULL(NULL, 1)
    IFNULL(1, NULL)
    IFNULL(NULL, NULL)
    IFNULL(dec1, 1)
    IFNULL(i, l)
    IFNULL(dt, DATE '2024-01-01')
    IFNULL(i, 'x')
    IF(b, 1, 2)
    IF(b, 'a', 'abc')
    IF(b, i, 0)
    IF(b, i, 0.5)
    IF(b, i, 'x')
    IF(NULL, 1, 2)
    IF(i > 5, s, 'small')
    IF(b, NULL, NULL)
    IF(TRUE, 1, 1 / 0)
    IF(i2 = 0, 0, i / i2)
    IF(i, 1, 2)
    IF(b, dt, ts)
    IF(b, ARRAY[1], ARRAY[2])
    NULLIF(5, 5)
    NULLIF(5, 0)
    NULLIF(i, 7)
    NULLIF(i, 7.0)
    NULLIF(s, '')
    NULLIF(c, 'ab')
    NULLIF(NULL, 1)
    NULLIF(1, NULL)
    NULLIF('a', 1)
    NULLIF(i, '7')
    NULLIF(dec1, 0)
    NULLIF(ai, ARRAY[5])
    10 / NULLIF(i2, 0)
    # GREATEST and LEAST
    GREATEST(1, 2, 3)
    GREATEST(1, 2.5)
    GREATEST(1, 2.5e0)
    GREATEST(1, NULL)
    LEAST(1, NULL, 2)
    GREATEST(NULL, NULL)
    GREATEST('a', 'abc', 'B')
    LEAST('a', 'abc', 'B')
    GREATEST(i)
    GREATEST(i, i2, 0)
    LEAST(i, i2, 0)
    GREATEST(d, d2)
    LEAST(d, d2)
    LEAST(d, 0)
    GREATEST(i, l, d)
    GREATEST(dec1, 100)
    GREATEST(i, '5')
    GREATEST(dt, '2024-01-01')
    GREATEST(dt, dt2, DATE '2000-01-01')
    LEAST(dt, dt2, DATE '2000-01-01')
    GREATEST(ts, ts2)
    LEAST(ltz, ltz2)
    GREATEST(tm, TIME '12:00:00')
    GREATEST(s, s2)
    LEAST(s, s2, 'M')
    GREATEST(c, vc)
    GREATEST(b, b2)
    GREATEST(INTERVAL '1' DAY, INTERVAL '25' HOUR)
    GREATEST(ai, ARRAY[1])
    # tests of texts
    IS_ALPHA(s)
    IS_ALPHA('abc')
    IS_ALPHA('')
    IS_ALPHA('é')
    IS_ALPHA('ab1')
    IS_ALPHA(CAST(NULL AS STRING))
    IS_ALPHA(i)
    IS_DIGIT(s)
    IS_DIGIT('123')
    IS_DIGIT('12.3')
    IS_DIGIT('')
    IS_DIGIT('٣')
    IS_DIGIT(num)
    IS_DECIMAL(num)
    IS_DECIMAL('12.3')
    IS_DECIMAL('-1e5')
    IS_DECIMAL('')
    IS_DECIMAL(' 1')
    IS_DECIMAL('1d')
    IS_DECIMAL(CAST(NULL AS STRING))
    IS_DECIMAL(i)
    """
)
EXPRESSIONS: Final = (*_MATRIX, *_MATRIX_OF_OTHERS, *_SAME, *_SPECIAL)
