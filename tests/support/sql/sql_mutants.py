"""Statements with a few things wrong: tokens dropped, doubled, swapped; characters cut, inserted; deep nesting."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence

__all__ = ["DEEP", "SPARK_STATEMENTS", "mutants"]

SPARK_STATEMENTS = (
    "SELECT a, count(*) FROM t WHERE b > 'x' GROUP BY a HAVING count(*) > 1 ORDER BY 1 LIMIT 3",
    "WITH q AS (SELECT 1 AS a) SELECT * FROM q JOIN r USING (a)",
    "SELECT window_start, count(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY 1",
    "SELECT /*+ BROADCAST(r) */ t.a['k'].b[0] FROM t /*+ OPTIONS('k'='v') */ , LATERAL explode(c) AS e",
    "CREATE TABLE p (a INT, b STRING) USING parquet PARTITIONED BY (b) OPTIONS ('x' = 'y')",
    "CREATE OR REPLACE TEMPORARY VIEW v AS SELECT CASE WHEN a THEN 1 ELSE 2 END FROM t",
    "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "BEGIN DECLARE x INT DEFAULT 1; IF x = 1 THEN SELECT 1; END IF; END",
    "CACHE LAZY TABLE q AS SELECT r'a\\d', X'1F', 1L, 1.5e3BD FROM `a b`.`c``d`",
    "SET spark.sql.shuffle.partitions=4",
)
"""Statements of which most are not ours."""

_BITS = (
    *"'\"`()[]{}<>,;.=-+*/\\$@#!?:|&%^~_ \t\n\r\0",
    *("\u2018", "\u2019", "“", "é", "😀", "\u00a0", "\u2028", "\ud800", "Ⅷ", "٣", "ǆ"),
    *("--", "/*", "*/", "/*+", "''", "<>", ">>", "::", "=>", "r'", "...", "NOT", "NULL", "AS", "FOR", "WATERMARK"),
    *("METADATA", "PRIMARY KEY", "ROW<", "ARRAY<", "LIKE", "WITH (", "COMMENT", "'5' SECOND", "END", "BEGIN", "1e999"),
)
_PIECES = re.compile(r"'[^']*'|\w+|\s+|.", re.DOTALL)

DEEP = (
    "CREATE TABLE t (a " + "ARRAY<" * 5_000 + "INT" + ">" * 5_000 + ")",
    "CREATE TABLE t (a " + "ROW<a " * 5_000 + "INT" + ">" * 5_000 + ")",
    "CREATE TABLE t (a INT" + " ARRAY" * 5_000 + ")",
    "CREATE TABLE t (a AS " + "(" * 20_000 + "1" + ")" * 20_000 + ")",
    "CREATE TABLE t (a AS " + "([" * 20_000,
    "CREATE TABLE t (a AS " + "-" * 50_000 + "1)",
    "SELECT " + "(" * 50_000,
    "SELECT 1" + ")" * 50_000,
    "EXPLAIN " * 5_000 + "SELECT 1",
    "EXECUTE STATEMENT SET BEGIN " + "INSERT INTO t SELECT 1; " * 2_000 + "END",
    "EXECUTE STATEMENT SET BEGIN " * 2_000,
    "/*" * 50_000,
    "/*" * 20_000 + "*/" * 20_000 + " SELECT 1",
    "'" * 50_001,
    "SELECT '" + "\\'" * 50_000,
    "`" * 50_001,
    "a" * 200_000,
    "CREATE TABLE " + "a." * 20_000 + "a (b INT)",
    "CREATE TABLE t (" + "a INT, " * 20_000 + ")",
    "CREATE TABLE t (" + ", ".join(f"c{index} INT" for index in range(5_000)) + ",,)",
    "CREATE TABLE t (a INT) WITH (" + ", ".join(f"'k{index}' = 'v'" for index in range(5_000)) + ", 'K0' = 'v')",
    "CREATE TABLE t (a INTT) WITH ('" + "password" * 20_000 + "' = 'x')",
    "CREATE TABLE t (a DECIMAL(" + "9" * 10_000 + "))",
    ";" * 50_000,
    "SELECT 1" + ";" * 50_000,
    "WITH " * 20_000,
    "CREATE VIEW v " + "AS " * 20_000,
    "CREATE TABLE t LIKE b (" + "EXCLUDING OPTIONS " * 20_000,
)
"""Texts whose length or depth would break a parser that recurses, or that looks back at what it has read."""


def mutants(statements: Sequence[str], *, seed: int, count: int) -> Iterator[str]:
    """Return mutants of these statements, always the same ones for a seed."""
    rng = random.Random(seed)
    for _ in range(count):
        pieces = _PIECES.findall(rng.choice(statements))
        for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
            rng.choice(_CHANGES)(rng, pieces)
        yield "".join(pieces)


def _drop(rng: random.Random, pieces: list[str]) -> None:
    if pieces:
        del pieces[rng.randrange(len(pieces))]


def _double(rng: random.Random, pieces: list[str]) -> None:
    if pieces:
        at = rng.randrange(len(pieces))
        pieces.insert(at, pieces[at])


def _swap(rng: random.Random, pieces: list[str]) -> None:
    if pieces:
        one, other = rng.randrange(len(pieces)), rng.randrange(len(pieces))
        pieces[one], pieces[other] = pieces[other], pieces[one]


def _insert(rng: random.Random, pieces: list[str]) -> None:
    pieces.insert(rng.randint(0, len(pieces)), rng.choice(_BITS))


def _cut_off(rng: random.Random, pieces: list[str]) -> None:
    del pieces[rng.randint(0, len(pieces)) :]


def _begin_later(rng: random.Random, pieces: list[str]) -> None:
    del pieces[: rng.randint(0, min(6, len(pieces)))]


def _change_character(rng: random.Random, pieces: list[str]) -> None:
    if pieces:
        at = rng.randrange(len(pieces))
        text = pieces[at]
        inside = rng.randint(0, len(text))
        pieces[at] = text[:inside] + rng.choice(_BITS) + text[inside + rng.randint(0, 1) :]


def _repeat_many_times(rng: random.Random, pieces: list[str]) -> None:
    at = rng.randrange(len(pieces)) if pieces else -1
    if at >= 0 and len(pieces[at]) < 100:
        pieces[at] *= rng.choice((2, 10, 300))


_CHANGES: tuple[Callable[[random.Random, list[str]], None], ...] = (
    _drop,
    _drop,
    _double,
    _swap,
    _insert,
    _insert,
    _cut_off,
    _begin_later,
    _change_character,
    _change_character,
    _repeat_many_times,
)
