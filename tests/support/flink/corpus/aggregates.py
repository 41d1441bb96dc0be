"""Aggregate calls, and queries whose rows depend on how NULL, NaN and blanks are grouped, compared and ordered."""

from __future__ import annotations

from typing import Final

from tests.support.flink.corpus.forms import INTERVALS, NUMBERS, OTHERS, TEMPORALS, TEXTS, each, lines

_ALL: Final = (*NUMBERS, *TEXTS, *TEMPORALS, *OTHERS)
CALLS: Final = (
    *each("SUM({x})\nAVG({x})", x=(*NUMBERS, "num", "b", "dt", *INTERVALS)),
    *each("MIN({x})\nMAX({x})", x=_ALL),
    *each(
        "COUNT({x})\nCOUNT(DISTINCT {x})",
        x=("i", "d", "d2", "s", "c", "dec1", "ts", "b", "bin", "ai", "m", "r", "NULL"),
    ),
    *each(
        "{f}({x})",
        f=("STDDEV_POP", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV"),
        x=("ti", "si", "f", "d", "dec1", "i"),
    ),
    *each("COLLECT({x})\nARRAY_AGG({x})", x=("ti", "s", "d", "dec1", "ts", "ai", "r")),
    *each("FIRST_VALUE({x})\nLAST_VALUE({x})", x=("ti", "i", "s", "d", "dec1", "ts", "b", "c", "ai", "m", "r")),
    *lines(
        r"""
        COUNT(*)
        COUNT(1)
        COUNT(ALL i)
        COUNT(DISTINCT i, s)
        COUNT(i, s)
        COUNT(DISTINCT ROW(b, b2))
        COUNT(*) FILTER (WHERE i > 0)
        COUNT(*) FILTER (WHERE b)
        COUNT(i) FILTER (WHERE b2)
        COUNT(DISTINCT b) FILTER (WHERE i IS NOT NULL)
        SUM(1)
        SUM(1.5)
        SUM(1e0)
        SUM(NULL)
        SUM(CAST(NULL AS INT))
        SUM(DISTINCT ti)
        SUM(DISTINCT dec1)
        SUM(ti) FILTER (WHERE ti > 0)
        SUM(ti) FILTER (WHERE FALSE)
        SUM(DISTINCT ti) FILTER (WHERE b)
        SUM(i + i2)
        SUM(dec1 * dec2)
        SUM(CASE WHEN b THEN 1 ELSE 0 END)
        SUM(CAST(i AS BIGINT))
        SUM(CAST(l AS DECIMAL(20, 0)))
        SUM(CAST(dec1 AS DECIMAL(38, 2)))
        SUM(big * 1000000000)
        SUM(s)
        SUM(dec1) + 1
        SUM(i) / COUNT(i)
        SUM(ti) * 1.0 / COUNT(*)
        AVG(DISTINCT ti)
        AVG(ti) FILTER (WHERE b)
        AVG(CAST(ti AS DOUBLE))
        AVG(CAST(ti AS DECIMAL(5, 2)))
        AVG(1)
        AVG(CAST(dec1 AS DECIMAL(38, 2)))
        AVG(NULL)
        MIN(DISTINCT i)
        MAX(i) FILTER (WHERE i < 0)
        MAX(NULL)
        MIN(1)
        MAX(i) - MIN(i)
        STDDEV_SAMP(DISTINCT ti)
        VAR_POP(ti) FILTER (WHERE b)
        COLLECT(DISTINCT b)
        COLLECT(s) FILTER (WHERE b)
        ARRAY_AGG(DISTINCT b)
        ARRAY_AGG(i IGNORE NULLS)
        ARRAY_AGG(i RESPECT NULLS)
        ARRAY_AGG(i ORDER BY i)
        ARRAY_AGG(i) FILTER (WHERE b)
        ARRAY_AGG(NULL)
        FIRST_VALUE(i) FILTER (WHERE b2)
        LAST_VALUE(i) FILTER (WHERE b2)
        FIRST_VALUE(i IGNORE NULLS)
        LISTAGG(s)
        LISTAGG(s, '|')
        LISTAGG(s, s2)
        LISTAGG(DISTINCT g)
        LISTAGG(DISTINCT g, '-')
        LISTAGG(i)
        LISTAGG(CAST(i AS STRING))
        LISTAGG(s) FILTER (WHERE b)
        LISTAGG(s, NULL)
        LISTAGG(c)
        LISTAGG(bin)
        LISTAGG(s) WITHIN GROUP (ORDER BY s)
        JSON_OBJECTAGG(KEY CAST(k AS STRING) VALUE i)
        JSON_OBJECTAGG(KEY CAST(k AS STRING) VALUE s ABSENT ON NULL)
        JSON_OBJECTAGG(KEY CAST(k AS STRING) VALUE d NULL ON NULL)
        JSON_OBJECTAGG(KEY g VALUE i)
        JSON_OBJECTAGG(KEY 'a' VALUE i)
        JSON_OBJECTAGG(k VALUE i)
        JSON_ARRAYAGG(i)
        JSON_ARRAYAGG(s NULL ON NULL)
        JSON_ARRAYAGG(s ABSENT ON NULL)
        JSON_ARRAYAGG(d)
        JSON_ARRAYAGG(JSON_OBJECT('i' VALUE i))
        PERCENTILE(ti, 0.5)
        PERCENTILE(d, 0.5)
        PERCENTILE(dec1, 0.25)
        PERCENTILE(ti, ARRAY[0.0, 0.5, 1.0])
        PERCENTILE(ti, 0.5, si)
        PERCENTILE(i, 1.5)
        APPROX_COUNT_DISTINCT(i)
        APPROX_COUNT_DISTINCT(s)
        SINGLE_VALUE(i)
        EVERY(b)
        SOME(b)
        ANY_VALUE(i)
        BIT_AND(i)
        BIT_OR(i)
        MODE(i)
        MEDIAN(i)
        COVAR_POP(d, d2)
        CORR(d, d2)
        REGR_COUNT(d, d2)
        INTERSECTION(COLLECT(i))
        FUSION(COLLECT(i))
        GROUPING(g)
        CARDINALITY(COLLECT(i))
        SUM0(ti)
        COLLECT(b)
        COLLECT(l)
        COALESCE(SUM(i), 0)
        MAX(SUM(i))
        """
    ),
)
QUERIES: Final = (
    *each(
        """
        SELECT {x}, COUNT(*) FROM t GROUP BY {x}
        SELECT DISTINCT {x} FROM t
        """,
        x=("i", "f", "d", "d2", "dec1", "b", "s", "c", "vc", "bin", "dt", "tm", "ts", "ltz", "ai", "m", "r"),
    ),
    *each(
        "SELECT k, {x} FROM t ORDER BY {x}, k", x=("i", "d", "d2", "b", "s", "c", "bin", "dec1", "ts", "ai", "m", "r")
    ),
    *each(
        "SELECT k, ROW_NUMBER() OVER (ORDER BY {o}, k), RANK() OVER (ORDER BY {o}), DENSE_RANK() OVER (ORDER BY {o}) FROM t",
        o=("i", "i DESC", "d", "d DESC", "b NULLS LAST", "s"),
    ),
    *lines(
        r"""
        SELECT k, i FROM t ORDER BY i DESC, k
        SELECT k, i FROM t ORDER BY i ASC NULLS LAST, k
        SELECT k, i FROM t ORDER BY i DESC NULLS FIRST, k
        SELECT k, d FROM t ORDER BY d DESC, k
        SELECT k FROM t ORDER BY s DESC, k
        SELECT k FROM t ORDER BY i FETCH FIRST 2 ROWS ONLY
        SELECT k FROM t ORDER BY 1 DESC
        SELECT k FROM t ORDER BY k LIMIT 2 OFFSET 1
        SELECT 0e0 = d, COUNT(*) FROM t GROUP BY 0e0 = d
        SELECT b, b2, COUNT(*) FROM t GROUP BY b, b2
        SELECT COUNT(*) FROM t GROUP BY ()
        SELECT COUNT(*) FROM t WHERE k < 0 GROUP BY g
        SELECT g, SUM(ti), GROUPING(g) FROM t GROUP BY ROLLUP (g)
        SELECT g, b, COUNT(*), GROUPING(g), GROUPING(b), GROUPING(g, b), GROUPING_ID(g, b) FROM t GROUP BY CUBE (g, b)
        SELECT g, b, COUNT(*), GROUP_ID() FROM t GROUP BY GROUPING SETS ((g), (b), ())
        SELECT g, SUM(ti) AS total FROM t GROUP BY g HAVING SUM(ti) > 0
        SELECT g, SUM(ti) AS total FROM t GROUP BY g HAVING total > 0
        SELECT UPPER(g) AS u, COUNT(*) FROM t GROUP BY UPPER(g)
        SELECT UPPER(g) AS u, COUNT(*) FROM t GROUP BY u
        SELECT UPPER(g) AS u, COUNT(*) FROM t GROUP BY 1
        SELECT k FROM t WHERE b
        SELECT k FROM t WHERE NOT b
        SELECT k FROM t WHERE b IS NULL
        SELECT k FROM t WHERE d = d
        SELECT k FROM t WHERE i = i
        SELECT k FROM t WHERE i <> i
        SELECT k FROM t WHERE NOT (i = i)
        SELECT k FROM t WHERE i + 1 = i + 1
        SELECT k FROM t WHERE d > 1
        SELECT k FROM t WHERE c = 'ab'
        SELECT k FROM t WHERE i IN (SELECT i2 FROM t)
        SELECT k FROM t WHERE i NOT IN (SELECT i2 FROM t)
        SELECT k FROM t WHERE i NOT IN (SELECT i2 FROM t WHERE i2 IS NOT NULL)
        SELECT k FROM t AS a WHERE EXISTS (SELECT 1 FROM t AS b WHERE a.i = b.i2)
        SELECT k FROM t AS a WHERE NOT EXISTS (SELECT 1 FROM t AS b WHERE a.i = b.i2)
        SELECT (SELECT MAX(ti) FROM t)
        SELECT (SELECT ti FROM t)
        SELECT (SELECT ti FROM t WHERE k < 0)
        SELECT a.k, b.k FROM t AS a JOIN t AS b ON a.i = b.l2
        SELECT a.k, b.k FROM t AS a JOIN t AS b ON a.d = b.d
        SELECT a.k, b.k FROM t AS a JOIN t AS b ON a.c = b.vc
        SELECT a.k, b.k FROM t AS a JOIN t AS b ON a.b IS NOT DISTINCT FROM b.b2 WHERE a.k > 6 AND b.k > 6
        SELECT a.k, b.k FROM t AS a LEFT JOIN t AS b ON a.i = b.i2
        SELECT i FROM t UNION SELECT i2 FROM t
        SELECT i FROM t UNION ALL SELECT i2 FROM t
        SELECT i FROM t UNION SELECT l FROM t
        SELECT i FROM t UNION SELECT dec1 FROM t
        SELECT i FROM t UNION SELECT s FROM t
        SELECT c FROM t UNION SELECT vc FROM t
        SELECT d FROM t UNION SELECT d2 FROM t
        SELECT 'a' FROM t UNION SELECT 'abc' FROM t
        SELECT NULL FROM t UNION SELECT i FROM t
        SELECT i FROM t INTERSECT SELECT i2 FROM t
        SELECT i FROM t INTERSECT ALL SELECT i2 FROM t
        SELECT i FROM t EXCEPT SELECT i2 FROM t
        SELECT i FROM t EXCEPT ALL SELECT i2 FROM t
        SELECT * FROM (VALUES (1, 'a'), (2, 'bcd'), (NULL, NULL)) AS v(x, y)
        SELECT * FROM (VALUES (1), (2.5)) AS v(x)
        SELECT * FROM (VALUES (1), ('a')) AS v(x)
        SELECT y || '!' FROM (VALUES ('a'), ('bcd')) AS v(y)
        SELECT k, e FROM t CROSS JOIN UNNEST(ai) AS u(e)
        SELECT k, e FROM t LEFT JOIN UNNEST(ai) AS u(e) ON TRUE
        SELECT k, e, o FROM t CROSS JOIN UNNEST(as_) WITH ORDINALITY AS u(e, o)
        SELECT k, name, amount FROM t CROSS JOIN UNNEST(m) AS u(name, amount)
        SELECT k, LAG(i) OVER (ORDER BY k), LEAD(i) OVER (ORDER BY k), LAG(i, 2, 0) OVER (ORDER BY k), LEAD(i, 2, 0) OVER (ORDER BY k) FROM t
        SELECT k, NTILE(3) OVER (ORDER BY k), CUME_DIST() OVER (ORDER BY ti), PERCENT_RANK() OVER (ORDER BY ti) FROM t
        SELECT k, SUM(ti) OVER (ORDER BY k), AVG(ti) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t
        SELECT k, FIRST_VALUE(ti) OVER (PARTITION BY g ORDER BY k), LAST_VALUE(ti) OVER (PARTITION BY g ORDER BY k) FROM t
        SELECT k, COUNT(*) OVER (PARTITION BY b), MAX(i) OVER (PARTITION BY b) FROM t
        SELECT k, SUM(ti) OVER (ORDER BY ti) FROM t
        SELECT k, SUM(i) OVER (ORDER BY d RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM t
        SELECT k, NTH_VALUE(ti, 2) OVER (ORDER BY k) FROM t
        SELECT r.* FROM t
        SELECT t.r.n.* FROM t
        SELECT k AS `a b`, i AS "x" FROM t
        SELECT k, i AS K FROM t WHERE K = 1
        """
    ),
)
