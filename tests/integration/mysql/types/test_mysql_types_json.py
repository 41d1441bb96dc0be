"""JSON as the server prints it, from the binary form that the binlog has; partial updates become whole documents."""

from __future__ import annotations

import json
import random
import struct
from contextlib import closing

import pytest

from tests.support.mysql.mysql_binlog import everything, images, position, read_changes, rows_of
from tests.support.mysql.mysql_server import MySqlServer, every_mysql

pytestmark = pytest.mark.mysql

EXPRESSIONS = [
    "'null'", "'true'", "'[]'", "'{}'", "'\"\"'", "'0'", "'-1'", "'32767'", "'32768'", "'-32769'", "'2147483648'",
    "'-9223372036854775808'", "'18446744073709551615'", "'18446744073709551616'", "'1.0'", "'0.1'", "'-0.0'",
    "'{\"b\": 1, \"aa\": 2, \"a\": [1, [2, {\"x\": null}]]}'", "'\"\\\\u0001\\\\u001f \\\\\\\" \\\\\\\\ / \\\\b\\\\f\\\\n\\\\r\\\\t\"'",
    "'\"é 日本 😀\"'", "CAST(1e0 AS JSON)", "CAST(1.10 AS JSON)", "CAST(-12345678901234567890.123456789 AS JSON)",
    "CAST(0.000000001 AS JSON)", "CAST(CAST('2020-01-02' AS DATE) AS JSON)",
    "CAST(CAST('2020-01-02 03:04:05.678901' AS DATETIME(6)) AS JSON)", "CAST(CAST('-838:59:59' AS TIME) AS JSON)",
    "CAST(CAST('12:34:56.5' AS TIME(1)) AS JSON)", "CAST(TIMESTAMP('1000-01-01 00:00:00') AS JSON)",
    "CAST(x'00FF10' AS JSON)", "JSON_OBJECT('k', CAST('ab' AS BINARY))", "CAST(b'101' AS JSON)",
    "JSON_OBJECT('big', REPEAT('x', 70000), 'small', 1)", "JSON_ARRAY(REPEAT('y', 200), 1.5, 70000, -5, true)",
]  # fmt: skip


def _numbers() -> list[str]:
    draw = random.Random(20261122)
    doubles = [struct.unpack("<d", struct.pack("<Q", draw.getrandbits(64)))[0] for _ in range(400)]
    doubles += [m * 10.0**e for m in (1, 1.5, 1.2345678901234567, 9.999999999999999) for e in range(-20, 24)]
    return [repr(d) for d in doubles if d == d and abs(d) != float("inf")]  # noqa: PLR0124 - not a number


@every_mysql
def test_documents_print_as_the_server_prints_them(mysql: MySqlServer):
    database = mysql.create_database("json")
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY AUTO_INCREMENT, j JSON)")
    start = position(mysql)
    expressions = [*EXPRESSIONS, *(f"CAST({n} AS JSON)" for n in ("1e15", "1e16", "123456789012345e0"))]
    with closing(mysql.connect(charset="utf8mb4", database=database)) as connection:
        cursor = connection.cursor()
        cursor.execute("INSERT INTO t (j) VALUES " + ", ".join(f"({e})" for e in expressions))
        cursor.execute("INSERT INTO t (j) VALUES (%s)", (f"[{', '.join(_numbers())}]",))
        cursor.execute("SELECT CONVERT(j USING utf8mb4) FROM t ORDER BY id")
        printed = [text for (text,) in cursor.fetchall()]

    read = [row["j"] for _, row in images(read_changes(mysql, start, everything(database)))]

    assert read[:-1] == printed[:-1]
    assert read[-1][1:-1].split(", ") == printed[-1][1:-1].split(", ")


@every_mysql
def test_partial_updates_become_whole_documents(mysql: MySqlServer):
    database = mysql.create_database("json")
    with closing(mysql.connect(charset="utf8mb4", database=database)) as connection:
        cursor = connection.cursor()
        cursor.execute("SET binlog_row_value_options = 'PARTIAL_JSON'")
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, j JSON, k JSON, v VARCHAR(10), n INT)")
        document = json.dumps({"a": [1, 2, 3], "name": "x" * 100, "q r": {"deep": 1}, 'it"s': 0})
        cursor.execute(
            "INSERT INTO t VALUES (1, %s, %s, 'v', 7), (2, %s, NULL, NULL, NULL)", (document, document, document)
        )
        start = position(mysql)
        for change in (
            "j = JSON_SET(j, '$.a[1]', 'two')",
            "j = JSON_REMOVE(j, '$.name'), k = JSON_SET(k, '$.\"q r\".deep', 2.5)",
            "j = JSON_REPLACE(j, '$.a', 1), v = 'w'",
            "j = JSON_ARRAY_INSERT(j, '$.a[0]', JSON_OBJECT('new', true)), n = n + 1",
            "j = JSON_SET(j, '$.zz', 1, '$.b', 2)",
            "j = JSON_SET(j, '$.list', JSON_ARRAY(1, 2, JSON_ARRAY(3, 4), 5, 6))",
            "j = JSON_SET(j, '$.list[last]', 'end')",
            "j = JSON_REPLACE(j, '$.list[last-2][last]', JSON_OBJECT('k', 0))",
            "j = JSON_SET(j, '$.list[last - 2][last].k', 1)",
            "j = JSON_ARRAY_INSERT(j, '$.list[last]', 'before the end')",
            "j = JSON_ARRAY_INSERT(j, '$.list[last-1]', 'before that')",
            "j = JSON_REMOVE(j, '$.list[last]', '$.list[last-1]')",
            "j = JSON_REMOVE(j, '$.list[last-90]'), n = 1",
            'j = JSON_SET(j, \'$."it\\\\"s"\', JSON_ARRAY())',
            "j = NULL",
        ):
            cursor.execute(f"UPDATE t SET {change}")
            cursor.execute("SELECT id, CONVERT(j USING utf8mb4), CONVERT(k USING utf8mb4), v, n FROM t ORDER BY id")
            printed = [dict(zip(["id", "j", "k", "v", "n"], row, strict=True)) for row in cursor.fetchall()]
            changes = read_changes(mysql, start, everything(database))
            after = {row["id"]: row for kind, row in images(changes) if kind == "+U"}
            for row in printed:
                assert after.get(row["id"], row) == row
            before = [row for kind, row in images(changes) if kind == "-U"]
            assert len(before) == sum(batch.changes for batch in rows_of(changes)) > 0
