"""Statements over the shop's tables that MySQL and Spark understand alike, with an answer of MySQL's own."""

from __future__ import annotations

from typing import Final

__all__ = ["ANSWERED_BY", "STATEMENTS"]

_RANKED: Final = "SELECT *, row_number() OVER (PARTITION BY customer ORDER BY placed DESC, id) AS n FROM orders"
_EACH: Final = "SELECT customer, count(*) AS n, sum(price) AS total FROM orders GROUP BY customer"

STATEMENTS: Final = {
    # aggregates without and with groups
    "count": "SELECT count(*), count(price), sum(price), min(placed), max(`day`) FROM orders",
    "count of few rows": "SELECT count(*), sum(weight), max(city) FROM orders WHERE price > 999999 AND weight > 1000000",
    "average": "SELECT avg(price), avg(weight) FROM orders",
    "groups": "SELECT customer, count(*), sum(price), sum(weight), min(ref), max(ref), count(DISTINCT city) FROM orders "
    "GROUP BY customer",
    "groups of two columns": "SELECT customer, city, count(*), min(price), max(price) FROM orders GROUP BY customer, city",
    "groups of an expression": "SELECT id % 3, month(placed), count(*) FROM orders GROUP BY id % 3, month(placed)",
    "distinct pairs": "SELECT count(DISTINCT customer, city) FROM orders",
    "distinct per group": "SELECT city, count(DISTINCT customer), count(DISTINCT `day`), sum(DISTINCT price) FROM orders "
    "GROUP BY city",
    "having": "SELECT customer, sum(price) FROM orders GROUP BY customer HAVING count(*) > 2 AND max(weight) IS NOT NULL",
    "rollup": "SELECT customer, city, count(*), sum(price) FROM orders GROUP BY customer, city WITH ROLLUP",
    "conditions in aggregates": "SELECT customer, sum(CASE WHEN price > 0 THEN price ELSE 0 END), "
    "count(CASE WHEN city = 'oslo' THEN 1 END) FROM orders GROUP BY customer",
    "aggregate of aggregates": f"SELECT n, count(*), sum(total) FROM ({_EACH}) AS g GROUP BY n",
    "largest group": f"SELECT max(n), min(total), avg(total) FROM ({_EACH}) AS g",
    "groups of months": "SELECT year(`day`), month(`day`), count(*), max(id) FROM orders WHERE `day` IS NOT NULL "
    "GROUP BY year(`day`), month(`day`)",
    # rows
    "rows": "SELECT * FROM orders WHERE price > 0 OR city IS NULL",
    "expressions": "SELECT id, coalesce(city, '-'), upper(city), price * 2, id + customer, CASE WHEN weight > 0 THEN 'p' "
    "WHEN weight < 0 THEN 'n' END FROM orders",
    "texts": "SELECT id, concat(city, '/', city), char_length(city), city LIKE 'o%' FROM orders WHERE city <> ''",
    "null-safe": "SELECT id FROM orders WHERE city <=> NULL OR NOT (customer <=> 3)",
    "distinct": "SELECT DISTINCT city, customer % 2 FROM orders",
    "distinct rows": "SELECT DISTINCT price, weight FROM orders WHERE price IS NOT NULL",
    # ranks and limits
    "last of a key": f"SELECT customer, id, price FROM ({_RANKED}) AS r WHERE n = 1",
    "top n": f"SELECT id, customer, placed FROM ({_RANKED}) AS r WHERE n <= 2",
    "top n with its rank": f"SELECT n, customer, id FROM ({_RANKED}) AS r WHERE n <= 3",
    "second": f"SELECT id, customer FROM ({_RANKED}) AS r WHERE n = 2",
    "rank": "SELECT id, r FROM (SELECT id, rank() OVER (PARTITION BY city ORDER BY weight) AS r FROM orders) AS x "
    "WHERE r <= 3",
    "dense rank": "SELECT id, r FROM (SELECT id, dense_rank() OVER (ORDER BY price DESC) AS r FROM orders) AS x WHERE r < 4",
    "ranks of all rows": "SELECT id, row_number() OVER (PARTITION BY city ORDER BY id) FROM orders",
    "rank of groups": f"SELECT customer, n FROM (SELECT customer, n, rank() OVER (ORDER BY n DESC) AS r FROM ({_EACH}) AS g) "
    "AS x WHERE r <= 2",
    "limit": "SELECT id, weight FROM orders ORDER BY weight DESC, id LIMIT 5",
    "limit and offset": "SELECT id, price FROM orders ORDER BY price, id LIMIT 4 OFFSET 3",
    "limit of groups": f"SELECT customer, total FROM ({_EACH}) AS g ORDER BY total DESC, customer LIMIT 3",
    # joins
    "join": "SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer = c.id",
    "left join with a condition": "SELECT o.id, o.price, c.name, c.credit FROM orders o LEFT JOIN customers c "
    "ON o.customer = c.id AND o.price < c.credit",
    "right join": "SELECT o.id, c.id AS cid, c.credit FROM orders o RIGHT JOIN customers c ON o.customer = c.id",
    "full join": "SELECT o.id, c.id AS cid FROM orders o FULL JOIN customers c ON o.city = c.city",
    "cross join": "SELECT o.id, c.id AS cid FROM orders o CROSS JOIN customers c WHERE o.id < 10 AND c.credit > 0",
    "join without equality": "SELECT o.id, c.id AS cid FROM orders o JOIN customers c ON o.price < c.credit AND o.id < 20",
    "join of two columns": "SELECT o.id FROM orders o JOIN customers c ON o.customer = c.id AND o.city = c.city",
    "null-safe join": "SELECT o.id, c.id AS cid FROM orders o JOIN customers c ON o.city <=> c.city",
    "self join": "SELECT a.id AS one, b.id AS other FROM orders a JOIN orders b ON a.city = b.city AND a.price < b.price",
    "three tables": "SELECT a.id, c.name, b.id AS other FROM orders a JOIN customers c ON a.customer = c.id "
    "LEFT JOIN orders b ON b.id = c.id",
    "groups joined": f"SELECT c.id, c.credit, g.n, g.total FROM customers c LEFT JOIN ({_EACH}) AS g ON c.id = g.customer",
    "groups of a join": "SELECT c.city, count(*), sum(o.price), count(DISTINCT o.customer) FROM orders o JOIN customers c "
    "ON o.customer = c.id GROUP BY c.city",
    "groups of an outer join": "SELECT c.id, count(o.id), sum(o.weight) FROM customers c LEFT JOIN orders o "
    "ON o.customer = c.id GROUP BY c.id",
    "rank of a join": "SELECT id, cid FROM (SELECT o.id, c.id AS cid, row_number() OVER (PARTITION BY c.city ORDER BY "
    "o.price DESC, o.id, c.id) AS n FROM orders o JOIN customers c ON o.customer = c.id) AS x WHERE n <= 2",
    "lateral": "SELECT c.id, l.n FROM customers c, LATERAL (SELECT count(*) AS n FROM orders o WHERE o.customer = c.id "
    "AND o.price > c.credit) AS l",
    "rows beside each other": "SELECT x.c, y.c AS d, y.m FROM (SELECT count(*) AS c FROM orders) x, "
    "(SELECT count(*) AS c, max(credit) AS m FROM customers WHERE credit > 0) y",
    # subqueries
    "in": "SELECT name FROM customers WHERE id IN (SELECT customer FROM orders WHERE weight > 0)",
    "not in": "SELECT id FROM customers WHERE id NOT IN (SELECT customer FROM orders WHERE customer IS NOT NULL)",
    "not in with nulls": "SELECT id FROM orders WHERE city NOT IN (SELECT city FROM customers WHERE credit > 0)",
    "in of two columns": "SELECT id FROM orders WHERE (customer, city) IN (SELECT id, city FROM customers)",
    "in or": "SELECT id FROM orders WHERE price < 0 OR customer IN (SELECT id FROM customers WHERE credit < 0)",
    "exists": "SELECT c.id FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id AND o.price > 0)",
    "not exists": "SELECT c.id, c.name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
    "scalar subquery": "SELECT id FROM orders WHERE price >= (SELECT max(credit) FROM customers)",
    "scalar subquery of no rows": "SELECT id, (SELECT count(*) FROM customers WHERE credit > 5000000000) FROM orders",
    "correlated subquery": "SELECT c.id, (SELECT max(o.price) FROM orders o WHERE o.customer = c.id) FROM customers c",
    "above the average of its group": "SELECT o.id FROM orders o WHERE o.weight > (SELECT avg(i.weight) FROM orders i "
    "WHERE i.customer = o.customer)",
    # sets
    "union": "SELECT city FROM orders UNION SELECT city FROM customers",
    "union all": "SELECT id, city FROM orders UNION ALL SELECT id, city FROM customers",
    "union of groups": "SELECT city, count(*) FROM orders GROUP BY city UNION ALL SELECT name, count(*) FROM customers "
    "GROUP BY name",
    "intersect": "SELECT city FROM orders INTERSECT SELECT city FROM customers",
    "except": "SELECT id FROM customers EXCEPT SELECT customer FROM orders",
    "groups of a union": "SELECT city, count(*) FROM (SELECT city FROM orders UNION ALL SELECT city FROM customers) AS u "
    "GROUP BY city",
    # names of their own
    "with": f"WITH g AS ({_EACH}) SELECT o.id, g.n FROM orders o JOIN g ON o.customer = g.customer AND o.price * 2 > g.total",
    "with twice": f"WITH g AS ({_EACH}) SELECT a.customer, b.customer AS other FROM g a JOIN g b ON a.n = b.n "
    "AND a.customer < b.customer",
}
"""By name; most of them in forms that other ones do not have."""

ANSWERED_BY: Final = {
    "full join": "SELECT o.id, c.id FROM orders o LEFT JOIN customers c ON o.city = c.city UNION ALL "
    "SELECT NULL, c.id FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.city = c.city)",
}
"""What MySQL is asked where it does not have the statement."""
