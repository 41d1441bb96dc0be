"""Arrays, maps and rows: constructors, access, and every function."""

from __future__ import annotations

from typing import Final

from tests.support.flink.corpus.forms import each, lines

_ARRAYS: Final = tuple(
    each(
        """
        CARDINALITY({a})
        ELEMENT({a})
        {a}[1]
        {a}[3]
        ARRAY_DISTINCT({a})
        ARRAY_REVERSE({a})
        ARRAY_SORT({a})
        ARRAY_SORT({a}, FALSE)
        ARRAY_SORT({a}, TRUE, FALSE)
        ARRAY_SORT({a}, FALSE, TRUE)
        ARRAY_MAX({a})
        ARRAY_MIN({a})
        ARRAY_UNION({a}, {a})
        ARRAY_CONCAT({a}, {a})
        ARRAY_EXCEPT({a}, {a})
        ARRAY_INTERSECT({a}, {a})
        ARRAY_APPEND({a}, NULL)
        ARRAY_PREPEND({a}, NULL)
        ARRAY_CONTAINS({a}, NULL)
        ARRAY_REMOVE({a}, NULL)
        ARRAY_POSITION({a}, NULL)
        ARRAY_JOIN({a}, ',')
        ARRAY_JOIN({a}, ',', '?')
        MAP_FROM_ARRAYS({a}, {a})
        JSON_STRING({a})
        """,
        a=("ai", "as_", "ARRAY[d, d2]", "ARRAY[dec1, 1.5]", "ARRAY[ts, ts2]", "ARRAY[ai, ARRAY[1]]"),
    )
)
_ELEMENTS: Final = tuple(
    each(
        """
        ARRAY_CONTAINS({x})
        ARRAY_POSITION({x})
        ARRAY_REMOVE({x})
        ARRAY_APPEND({x})
        ARRAY_PREPEND({x})
        """,
        x=("ai, 3", "ai, i", "ai, 2.5", "ai, '3'", "ai, CAST(3 AS TINYINT)", "ai, 3000000000", "as_, 'a'", "as_, ''", "as_, s", "as_, c", "as_, 1",
           "ARRAY[1, 2], 2", "ARRAY[1, NULL], NULL", "ARRAY['a', 'b'], 'abc'", "ARRAY[1.5, 2.5], 2.5", "ARRAY[d, d2], 0e0",
           "ARRAY[ROW(1, 'a')], ROW(1, 'a')", "ARRAY[ARRAY[1]], ARRAY[1]", "CAST(NULL AS ARRAY<INT>), 1"),
    )
)  # fmt: skip
_SLICES: Final = tuple(
    each(
        "ARRAY_SLICE(ARRAY['a', 'b', 'c', 'd'], {x})",
        x=("2", "0", "-2", "5", "1, 2", "2, 1", "0, 0", "-3, -2", "1, 100", "-100, 2", "NULL", "1, NULL"),
    )
)
_MAPS: Final = tuple(
    each(
        """
        CARDINALITY({m})
        MAP_KEYS({m})
        MAP_VALUES({m})
        MAP_ENTRIES({m})
        MAP_UNION({m}, m)
        {m}['a']
        {m}['zz']
        JSON_STRING({m})
        """,
        m=("m", "MAP['a', 1, 'b', NULL]", "MAP['a', s, 'k', s2]", "CAST(NULL AS MAP<STRING, INT>)"),
    )
)
_SPECIAL: Final = lines(
    r"""
    # arrays
    ARRAY[1, 2, 3]
    ARRAY[1, NULL]
    ARRAY[NULL]
    ARRAY[NULL, NULL]
    ARRAY[1, 2.5]
    ARRAY[1, 2.5e0]
    ARRAY[1, 'a']
    ARRAY['a', 'abc']
    ARRAY['a', c]
    ARRAY[c, vc]
    ARRAY[i, l]
    ARRAY[i, d]
    ARRAY[dec1, dec2]
    ARRAY[dt, ts]
    ARRAY[TRUE, b]
    ARRAY[ARRAY[1], ARRAY[2, 3]]
    ARRAY[ARRAY[1], NULL]
    ARRAY[ROW(1, 'a'), ROW(2, 'bc')]
    ARRAY[MAP['a', 1]]
    ARRAY[i, i2, NULL]
    ARRAY[]
    ARRAY[ai]
    ARRAY[s]
    ai[1]
    ai[0]
    ai[-1]
    ai[2]
    ai[i2]
    ai[ti]
    ai[l2]
    ai[NULL]
    ai['1']
    ai[1.5]
    ai[CAST(NULL AS INT)]
    ARRAY[1, 2, 3][2]
    ARRAY[1, 2, 3][4]
    ARRAY[1, 2, 3][4] IS NULL
    COALESCE(ARRAY[1, 2, 3][4], 9)
    ARRAY[i2, 2][3] IS NULL
    ARRAY[i2, 2][3]
    ARRAY['a', 'b'][i2] IS NULL
    MAP[1, 'a'][2] IS NULL
    CAST(ARRAY[1, 2] AS ARRAY<INT>)[3]
    ARRAY[1, 2, 3][0]
    ARRAY[1, 2, 3][-1]
    ARRAY['a', 'b'][i2]
    ARRAY[ARRAY[1, 2], ARRAY[3]][1][2]
    as_[1] || '!'
    ai[1] + ai[2]
    CARDINALITY(ARRAY[1, NULL])
    CARDINALITY(ARRAY[])
    CARDINALITY(NULL)
    CARDINALITY(s)
    ELEMENT(ARRAY['x'])
    ELEMENT(ARRAY[1, 2])
    ELEMENT(ARRAY[CAST(NULL AS INT)])
    i MEMBER OF MULTISET[1, 7]
    ARRAY_SORT(ARRAY[3, 1, NULL, 2])
    ARRAY_SORT(ARRAY['b', 'a', 'B', ''])
    ARRAY_SORT(ARRAY[TRUE, FALSE])
    ARRAY_SORT(ARRAY[ROW(2), ROW(1)])
    ARRAY_SORT(ai, NULL)
    ARRAY_SORT(ai, b)
    ARRAY_MAX(ARRAY[1, NULL, 3])
    ARRAY_MIN(ARRAY[NULL, 2, 1])
    ARRAY_MAX(ARRAY['a', 'b'])
    ARRAY_MAX(ARRAY[CAST('NaN' AS DOUBLE), 1e0])
    ARRAY_MIN(ARRAY[CAST('NaN' AS DOUBLE), 1e0])
    ARRAY_MAX(ARRAY[CAST(NULL AS INT)])
    ARRAY_UNION(ai, ARRAY[3, 4, NULL])
    ARRAY_UNION(ai, ARRAY[2.5])
    ARRAY_UNION(ARRAY[1, 1], ARRAY[2, 1])
    ARRAY_UNION(ai, NULL)
    ARRAY_CONCAT(ai)
    ARRAY_CONCAT(ai, ARRAY[1], ARRAY[2])
    ARRAY_CONCAT(ai, ARRAY[1.5])
    ARRAY_CONCAT(ai, NULL)
    ARRAY_CONCAT(ai, as_)
    ARRAY_EXCEPT(ai, ARRAY[3])
    ARRAY_EXCEPT(ARRAY[1, 1, 2, NULL, NULL], ARRAY[1])
    ARRAY_EXCEPT(ARRAY[1, 1, 2], ARRAY[1, 3])
    ARRAY_INTERSECT(ai, ARRAY[3, 3, NULL])
    ARRAY_INTERSECT(ARRAY[1, 1, 2], ARRAY[1, 2, 3])
    ARRAY_DISTINCT(ARRAY[1, 2, 1, NULL, NULL])
    ARRAY_DISTINCT(ARRAY[0e0, -0e0, CAST('NaN' AS DOUBLE), CAST('NaN' AS DOUBLE)])
    ARRAY_POSITION(ARRAY[1, NULL, 1], 1)
    ARRAY_POSITION(ARRAY[1, NULL, 1], NULL)
    ARRAY_REMOVE(ARRAY[1, NULL, 1, 2], 1)
    ARRAY_REMOVE(ARRAY[1, NULL, 1, 2], NULL)
    ARRAY_CONTAINS(ARRAY[1, 2], 1.0)
    ARRAY_CONTAINS(ARRAY['ab'], CAST('ab' AS CHAR(5)))
    ARRAY_APPEND(ARRAY[1, 2], 3)
    ARRAY_APPEND(ARRAY[1, 2], 3.5)
    ARRAY_PREPEND(ARRAY['b'], 'a')
    ARRAY_REVERSE(ARRAY[1, 2, NULL])
    ARRAY_JOIN(ARRAY['a', NULL, 'c'], '-')
    ARRAY_JOIN(ARRAY['a', NULL, 'c'], '-', 'x')
    ARRAY_JOIN(ARRAY['a', NULL], NULL)
    ARRAY_JOIN(ARRAY['a', NULL], '-', NULL)
    ARRAY_JOIN(ARRAY[1, 2], '-')
    ARRAY_JOIN(as_, s)
    ARRAY_SLICE(ai, 2)
    ARRAY_SLICE(ai, -2, -1)
    ARRAY_SLICE(ai, i2, 3)
    ARRAY_SLICE(as_, 1, 2)
    # maps
    MAP['a', 1, 'b', 2]
    MAP['a', 1, 'a', 2]
    MAP['a', 1, 'bc', 2.5]
    MAP['a', NULL]
    MAP[NULL, 1]
    MAP[1, 'a', 2.5, 'bc']
    MAP['a', 1, 'b']
    MAP[]
    MAP[s, i]
    MAP[i, s]
    MAP[d, 1]
    MAP[ROW(1), 2]
    MAP[ARRAY[1], 2]
    MAP['a', MAP['b', 1]]
    MAP['a', MAP['b', 1]]['a']['b']
    MAP[1, 'a'][1]
    MAP[1, 'a'][2]
    MAP[1, 'a'][1.0]
    MAP[1, 'a']['1']
    m['a']
    m['']
    m['k']
    m['😀']
    m[s2]
    m[g]
    m[NULL]
    m[1]
    m['a'] + 1
    MAP_KEYS(MAP['b', 1, 'a', 2])
    MAP_VALUES(MAP['b', 1, 'a', NULL])
    MAP_ENTRIES(MAP['a', 1])
    MAP_UNION(MAP['a', 1], MAP['a', 2, 'b', 3])
    MAP_UNION(MAP['a', 1], MAP['b', 2.5])
    MAP_UNION(m)
    MAP_UNION(m, NULL)
    MAP_UNION(m, m, MAP['a', 9])
    MAP_FROM_ARRAYS(ARRAY['a', 'b'], ARRAY[1, 2])
    MAP_FROM_ARRAYS(ARRAY['a', 'a'], ARRAY[1, 2])
    MAP_FROM_ARRAYS(ARRAY['a', 'b'], ARRAY[1])
    MAP_FROM_ARRAYS(ARRAY[NULL], ARRAY[1])
    MAP_FROM_ARRAYS(as_, ai)
    MAP_FROM_ARRAYS(NULL, ARRAY[1])
    # rows
    ROW(1, 'a')
    ROW(1)
    ROW()
    ROW(NULL)
    ROW(i, s)
    ROW(i, ROW(s, b))
    (i, s)
    (1, 'a', TRUE)
    ROW(ai, m)
    r
    r.a
    r.b
    r.n
    r.n.x
    t.r.n.x
    t.r.a
    r.zz
    r.A
    r[1]
    r['a']
    r.a + 1
    r.n.x * 2
    (r).a
    ROW(1, 'a').EXPR$0
    ROW(1, 'a').f0
    ROW(r.a, r.b)
    CAST(ROW(1, 'a') AS ROW<x INT, y STRING>).x
    CAST(ROW(1, 'a') AS ROW<x INT, y STRING>).y
    r IS NULL
    r.n IS NULL
    r.a IS NULL
    ROW(NULL, NULL) IS NULL
    ROW(NULL, NULL) IS NOT NULL
    ROW(1, NULL) IS NOT NULL
    CARDINALITY(r)
    # structured and semi-structured values
    OBJECT_OF('Point', 'x', 1, 'y', 2)
    OBJECT_OF('Point', 'x', i)
    OBJECT_UPDATE(OBJECT_OF('Point', 'x', 1, 'y', 2), 'x', 3)
    PARSE_JSON('{"a": 1, "b": [true, null, 1.5, "x"]}')
    PARSE_JSON('{"a": 1, "a": 2}')
    PARSE_JSON('{"a": 1, "a": 2}', TRUE)
    PARSE_JSON('not json')
    PARSE_JSON(js)
    TRY_PARSE_JSON('not json')
    TRY_PARSE_JSON(js)
    PARSE_JSON(CAST(NULL AS STRING))
    PARSE_JSON('{"a": 1}')['a']
    PARSE_JSON('[1, 2]')[1]
    PARSE_JSON('{"a": 1}')['zz']
    CAST(PARSE_JSON('1') AS INT)
    CAST(PARSE_JSON('"x"') AS STRING)
    JSON_STRING(PARSE_JSON('{"a": 1}'))
    """
)
EXPRESSIONS: Final = (*_ARRAYS, *_ELEMENTS, *_SLICES, *_MAPS, *_SPECIAL)
