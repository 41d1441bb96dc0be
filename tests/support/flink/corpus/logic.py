"""Booleans: three-valued logic over all nine pairs, tests of truth, and what is evaluated of AND and OR."""

from __future__ import annotations

from typing import Final

from tests.support.flink.corpus.forms import each, lines

_TRUTH: Final = tuple(
    each("{x} IS {n}{t}", x=("b", "b2", "(b AND b2)", "(i > 5)"), n=("", "NOT "), t=("TRUE", "FALSE", "UNKNOWN"))
)
_SPECIAL: Final = lines(
    r"""
    b AND b2
    b OR b2
    b2 AND b
    b2 OR b
    NOT b
    NOT b2
    NOT NOT b
    b AND NOT b2
    NOT (b AND b2)
    NOT (b OR b2)
    b AND TRUE
    b AND FALSE
    b AND NULL
    b OR TRUE
    b OR FALSE
    b OR NULL
    b AND CAST(NULL AS BOOLEAN)
    b OR CAST(NULL AS BOOLEAN)
    b OR UNKNOWN
    b AND UNKNOWN
    TRUE AND NULL
    FALSE AND NULL
    TRUE OR NULL
    FALSE OR NULL
    NOT NULL
    NOT CAST(NULL AS BOOLEAN)
    NULL AND NULL
    UNKNOWN IS UNKNOWN
    UNKNOWN
    TRUE IS UNKNOWN
    NULL IS TRUE
    NULL IS NOT FALSE
    b AND b2 OR b
    b OR b2 AND b
    (b OR b2) AND b
    b = b2 AND b
    b IS NULL OR b2
    b IS NOT NULL AND b2
    i > 0 AND l > 0
    i > 0 OR l > 0
    i > 0 AND i < 100 AND i <> 5
    d > 0 OR NOT d > 0
    i IS NULL OR i > 5
    NOT i > 5
    NOT i IN (7, NULL)
    NOT s LIKE 'H%'
    # what is not evaluated cannot fail
    i2 <> 0 AND i / i2 > 1
    i / i2 > 1 AND i2 <> 0
    i2 = 0 OR i / i2 > 1
    i / i2 > 1 OR i2 = 0
    b OR CAST(num AS INT) > 0
    CAST(num AS INT) > 0 OR b
    b AND CAST(num AS INT) > 0
    TRUE OR 1 / 0 = 1
    FALSE AND 1 / 0 = 1
    1 / 0 = 1 OR TRUE
    1 / 0 = 1 AND FALSE
    NULL AND 1 / 0 = 1
    # other types as booleans
    s AND b
    'true' AND b
    'x' OR b
    i AND b
    1 AND TRUE
    NOT i
    NOT 'true'
    i IS TRUE
    s IS TRUE
    b AND 1
    b IS NOT DISTINCT FROM NULL
    b IS DISTINCT FROM b2
    b <> b2
    b < b2
    COALESCE(b, FALSE)
    COALESCE(b, b2, TRUE)
    CASE WHEN b THEN 1 ELSE 0 END
    CASE WHEN NOT b THEN 1 ELSE 0 END
    IF(b, 1, 0)
    IF(b AND b2, 'both', 'not both')
    """
)
EXPRESSIONS: Final = (*_TRUTH, *_SPECIAL)
