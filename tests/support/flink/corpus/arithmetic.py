"""Numbers: operators over every pair of types, decimals of many precisions, functions over every type."""

from __future__ import annotations

from typing import Final

from tests.support.flink.corpus.forms import INTEGERS, NUMBERS, each, lines, pairs

_MATRIX: Final = tuple(f"{left} {operator} {right}" for operator in "+-*/%" for left, right in pairs(NUMBERS, NUMBERS))
_PRECISIONS: Final = ("1, 0", "5, 2", "10, 0", "19, 9", "20, 0", "38, 0", "38, 18", "38, 38")
_DECIMALS: Final = tuple(
    f"CAST(dec1 AS DECIMAL({left})) {operator} CAST(dec2 AS DECIMAL({right}))"
    for left in _PRECISIONS
    for operator in "+-*/%"
    for right in _PRECISIONS
)
_DECIMALS_AND_INTEGERS: Final = tuple(
    each(
        """
        CAST(dec1 AS DECIMAL({p})) {o} i2
        l2 {o} CAST(dec1 AS DECIMAL({p}))
        """,
        p=("5, 2", "38, 0", "38, 18"),
        o=tuple("+-*/%"),
    )
)
_UNARY: Final = tuple(
    each(
        """
        -{x}
        +{x}
        ABS({x})
        SIGN({x})
        CEIL({x})
        FLOOR({x})
        ROUND({x})
        ROUND({x}, 1)
        ROUND({x}, -1)
        ROUND({x}, 0)
        TRUNCATE({x})
        TRUNCATE({x}, 1)
        TRUNCATE({x}, -1)
        """,
        x=NUMBERS,
    )
)
_REAL_FUNCTIONS: Final = tuple(
    each(
        """
        {f}({x})
        """,
        f=("SQRT", "LN", "LOG10", "LOG2", "LOG", "EXP", "SIN", "SINH", "COS", "COSH", "TAN", "TANH", "COT",
           "ASIN", "ACOS", "ATAN", "DEGREES", "RADIANS"),
        x=("i", "d", "dec1"),
    )
)  # fmt: skip
_TWO_ARGUMENTS: Final = tuple(
    each(
        """
        POWER({x}, 2)
        POWER(2, {x})
        POWER({x}, {y})
        LOG(2, {x})
        LOG({x}, 10)
        ATAN2({x}, {y})
        MOD({x}, {y})
        MOD({x}, 3)
        """,
        x=("i", "l", "f", "d", "dec1"),
        y=("i2", "d2", "dec2"),
    )
)
_TEXT_OF_NUMBERS: Final = tuple(each("BIN({x})\nHEX({x})", x=(*INTEGERS, "d", "dec1", "s", "bin")))
_SPECIAL: Final = lines(
    r"""
    # overflow
    i + 1
    i - 1
    i * 2
    i2 * i2
    -(-i)
    ABS(i) + 0
    ti + CAST(1 AS TINYINT)
    ti * ti
    si * si
    CAST(ti + ti AS TINYINT)
    l + 1
    l - 1
    l * l
    2147483647 + 1
    2147483647 * 2147483647
    9223372036854775807 + 1
    -9223372036854775807 - 2
    CAST(127 AS TINYINT) + CAST(1 AS TINYINT)
    i + CAST(1 AS BIGINT)
    # division
    1 / 0
    0 / 0
    1 % 0
    MOD(1, 0)
    1.0 / 0
    1.0 / 0.0
    1.0 % 0.0
    1 / 0e0
    0e0 / 0e0
    1e0 / 0
    1e0 % 0
    -1e0 / 0e0
    i / 0
    i % 0
    d / 0
    d % 0
    f / 0
    dec1 / 0
    dec1 % 0
    big / 0
    7 / 2
    -7 / 2
    7 / -2
    7 % 3
    -7 % 3
    7 % -3
    -7 % -3
    MOD(-7, 3)
    MOD(7, -3)
    MOD(-7.5, 2)
    -7.5e0 % 2e0
    7.5 % 2
    7 / 2.0
    7.0 / 2
    7e0 / 2
    1.0 / 3
    1 / 3.0
    2.00 / 3.0000
    10 / 4 * 4
    1 / 2 * 2.0
    i / 2
    i / 2.0
    i / 2e0
    i * 1.5
    i + 1.5
    i + 1.5e0
    l * 1.5
    l / 3.0
    f * 2
    f * 2.0
    f + d
    f + dec1
    f * l
    ti / si
    dec1 * 1.10
    dec1 * 0.075
    dec1 / 3
    dec1 / 7.00
    dec1 * dec2
    dec1 * dec2 * dec1
    dec1 * dec1 * dec1 * dec1
    dec1 + dec2 - big
    big * big
    big + big
    big / dec1
    big * 10
    -big
    dec1 - dec2 * i2
    dec1 + 1
    dec1 + 1.005
    dec1 + 1e0
    CAST(dec1 AS DECIMAL(38, 2)) * CAST(dec2 AS DECIMAL(38, 4))
    CAST(dec1 AS DECIMAL(38, 10)) / CAST(dec2 AS DECIMAL(38, 10))
    CAST(99999999999999999999999999999999999999 AS DECIMAL(38, 0)) + 1
    CAST(99999999999999999999999999999999999999 AS DECIMAL(38, 0)) * 10
    # NULL
    i + NULL
    NULL + 1
    NULL * NULL
    -NULL
    CAST(NULL AS INT) + 1
    ABS(NULL)
    MOD(NULL, 2)
    # texts as numbers
    s + 1
    '1' + 1
    '1' + '2'
    num + 1
    num * 2.5
    num / 2
    '5' * 2
    -num
    ABS(num)
    SQRT('4')
    b + 1
    dt + 1
    # rounding
    ROUND(2.5)
    ROUND(3.5)
    ROUND(-2.5)
    ROUND(2.5e0)
    ROUND(-2.5e0)
    ROUND(0.5e0)
    ROUND(1.005, 2)
    ROUND(1.005e0, 2)
    ROUND(123.456, -2)
    ROUND(125, -1)
    ROUND(-125, -1)
    ROUND(CAST(2.5 AS FLOAT))
    ROUND(dec1, i2)
    ROUND(d, 3)
    ROUND(dec2, 2)
    ROUND(dec2, 10)
    ROUND(big, 17)
    ROUND(l, -3)
    ROUND(ti, -1)
    ROUND(dec1, NULL)
    ROUND(i, ti)
    TRUNCATE(42.345, 2)
    TRUNCATE(42.345)
    TRUNCATE(-42.345e0, 2)
    TRUNCATE(42.324, -1)
    TRUNCATE(CAST(42.345 AS FLOAT), 2)
    TRUNCATE(dec2, 2)
    TRUNCATE(dec2, ti)
    TRUNCATE(big, 3)
    TRUNCATE(125, -1)
    CEIL(1.1)
    CEIL(-1.1)
    FLOOR(-1.1)
    FLOOR(1.9e0)
    CEILING(d)
    CEILING(dec1)
    CEIL(-0.5e0)
    FLOOR(CAST(1.5 AS FLOAT))
    SIGN(-5)
    SIGN(-2.5)
    SIGN(-2.5e0)
    SIGN(dec2)
    SIGN(CAST(-2.5 AS FLOAT))
    ABS(-5)
    ABS(-2.50)
    ABS(-9223372036854775808)
    ABS(CAST(-128 AS TINYINT))
    # powers and logarithms
    POWER(2, 10)
    POWER(2, 0.5)
    POWER(2.0, 2)
    POWER(-8, 1e0 / 3)
    POWER(0, 0)
    POWER(0, -1)
    POWER(10, 400)
    SQRT(2)
    SQRT(-1)
    SQRT(4.00)
    EXP(1)
    EXP(0)
    EXP(1000)
    LN(1)
    LN(0)
    LN(-1)
    LN(2.718281828)
    LOG(10)
    LOG(0)
    LOG(1, 10)
    LOG(0, 10)
    LOG(10, 100)
    LOG(2e0, 8)
    LOG10(1000)
    LOG10(0)
    LOG2(8)
    LOG2(-1)
    PI()
    PI
    E()
    SIN(PI() / 2)
    COS(0)
    TAN(1)
    COT(1)
    COT(0)
    ASIN(1)
    ASIN(2)
    ACOS(0.5)
    ATAN(1)
    ATAN2(1, 1)
    ATAN2(0, -1)
    ATAN2(0, 0)
    SINH(1)
    COSH(1)
    TANH(1)
    DEGREES(PI())
    DEGREES(180)
    RADIANS(180)
    RADIANS(-90.5)
    # other functions
    BIN(4)
    BIN(-1)
    BIN(0)
    BIN(2147483648)
    BIN(CAST(NULL AS INT))
    HEX(255)
    HEX(-1)
    HEX('hello,world')
    HEX('é😀')
    HEX('')
    UNHEX('466C696E6B')
    UNHEX('F')
    UNHEX('xyz')
    UNHEX('')
    UNHEX(s)
    UNHEX(HEX(s))
    RAND()
    RAND(1)
    RAND_INTEGER(10)
    RAND_INTEGER(1, 10)
    UUID()
    (i + 1) * 2 - 3
    i + 2 * 3
    - - 5
    i - -1
    2 + 3 * 4 % 5
    (2 + 3) * 4
    1 - 2 - 3
    100 / 10 / 5
    """
)
EXPRESSIONS: Final = (
    *_MATRIX, *_DECIMALS, *_DECIMALS_AND_INTEGERS, *_UNARY, *_REAL_FUNCTIONS, *_TWO_ARGUMENTS, *_TEXT_OF_NUMBERS, *_SPECIAL,
)  # fmt: skip
