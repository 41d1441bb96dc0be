"""Text keys: on the same side of every bound as in the server's index, for each collation that a server has."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasources.mysql.snapshot.undo.image_keys import ImageKeys
from datasources.mysql.tables.chunk_key import KeyKind, TableKey
from datasources.mysql.tables.key_ranges import KeyRange, range_condition
from datasources.mysql.tables.key_values import is_divisible
from datasources.mysql.tables.table_keys import read_catalog
from datasources.mysql.tables.table_schema import key_types
from tests.support.mysql.mysql_server import MySqlServer, every_server
from tests.support.mysql_values.mysql_key_texts import CollatedColumn, collations, hostile_texts

pytestmark = pytest.mark.mysql

TEXTS = hostile_texts(420)
# Of each kind of rule one: expansions that pad, contractions, weights of several levels, bytes, one weight per character.
SAMPLE = ("utf8mb4_unicode_ci", "utf8mb4_unicode_520_ci", "latin1_german2_ci", "utf8mb4_general_ci", "utf8mb4_bin")
SAMPLE += ("utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_ja_0900_as_cs_ks", "utf8mb4_uca1400_ai_ci")
SAMPLE += ("utf8mb4_unicode_nopad_ci", "utf8mb4_uca1400_nopad_as_cs", "utf16_hungarian_ci", "latin2_czech_cs")
SAMPLE += ("tis620_thai_ci", "sjis_japanese_ci", "ucs2_spanish2_ci", "latin1_swedish_ci")


@pytest.fixture
def session(mysql: MySqlServer) -> Iterator[Any]:
    database = mysql.create_database()
    start = "SET sql_mode = '', time_zone = '+00:00'"
    with closing(mysql.connect(charset="utf8mb4", database=database, init_command=start)) as connection:
        yield connection


def key_of(session: Any) -> TableKey:
    """Return the index of the texts, as a key."""
    with session.cursor() as cursor:
        cursor.execute("SELECT DATABASE()")
        (database,) = cursor.fetchone()
        parts = read_catalog(cursor, [database], "u")[database, "u"]
    return TableKey(kind=KeyKind.UNIQUE, name="k", columns=(parts.columns["k"].column,))


def check(session: Any, column: CollatedColumn, bounds: int, *, is_mariadb: bool) -> None:
    """Compare where we put every text with what the server selects from its index."""
    with session.cursor() as cursor:
        count = column.create(cursor, "u", TEXTS)
        cursor.execute("SELECT HEX(k), k FROM u ORDER BY id")
        stored = cursor.fetchall()
        key = key_of(session)
        is_padded = column.kind == "CHAR" and re.search("nopad|0900", column.collation) is not None
        assert is_divisible(key.columns[0]) is not (is_mariadb and is_padded)
        if not is_divisible(key.columns[0]):
            return
        images = pa.RecordBatch.from_pydict({"k": pa.array([text for _, text in stored], pa.string())})
        keys = ImageKeys(lambda: session, key, key_types(key))
        for bound, text in random.Random(3).sample(stored, bounds):
            sides = []
            for wanted in (KeyRange(lower=(bound,)), KeyRange(upper=(bound,))):
                cursor.execute(f"SELECT id FROM u FORCE INDEX (k) WHERE {range_condition(key, wanted)}")
                selected = {row[0] for row in cursor.fetchall()}
                inside = set(np.flatnonzero(keys.within(images, wanted)).tolist())
                differing = [stored[at][1] for at in sorted(selected ^ inside)]
                assert not differing, (str(column), text, wanted, differing)
                sides.append(selected)
            assert not sides[0] & sides[1]
            assert len(sides[0] | sides[1]) == count


@pytest.mark.slow
@every_server
def test_sampled_collations_order_every_text_like_the_index(mysql: MySqlServer, session: Any):
    with session.cursor() as cursor:
        there = [each for each in collations(cursor, is_mariadb=mysql.is_mariadb) if each[1] in SAMPLE]
    assert len(there) > len(SAMPLE) // 2
    for charset, collation in there:
        for kind in ("VARCHAR", "CHAR"):
            check(session, CollatedColumn(kind, charset, collation), bounds=12, is_mariadb=mysql.is_mariadb)


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.timeout(3600)
@every_server
def test_every_collation_orders_every_text_like_the_index(mysql: MySqlServer, session: Any):
    with session.cursor() as cursor:
        there = list(collations(cursor, is_mariadb=mysql.is_mariadb))
    assert len(there) > 200
    for charset, collation in there:
        for kind in ("VARCHAR", "CHAR"):
            check(session, CollatedColumn(kind, charset, collation), bounds=25, is_mariadb=mysql.is_mariadb)


@every_server
def test_all_ways_to_compare_a_text_with_many_bounds_agree(mysql: MySqlServer, session: Any):
    """More bounds than are remembered, more texts than one query holds, in batches that overlap."""
    column = CollatedColumn("VARCHAR", "utf8mb4", "utf8mb4_unicode_ci")
    with session.cursor() as cursor:
        column.create(cursor, "u", TEXTS)
        cursor.execute("SELECT HEX(k), k FROM u ORDER BY id")
        stored = cursor.fetchall()
        key = key_of(session)
        keys = ImageKeys(lambda: session, key, key_types(key))
        chance = random.Random(4)
        bounds = chance.sample(stored, 90)
        for _ in range(6):
            some = chance.sample(stored, 300)
            images = pa.RecordBatch.from_pydict({"k": pa.array([text for _, text in some], pa.string())})
            for bound, _ in chance.sample(bounds, 40):
                cursor.execute(f"SELECT HEX(k) FROM u WHERE k > _utf8mb4 x'{bound}' COLLATE {column.collation}")
                above = {row[0] for row in cursor.fetchall()}
                inside = keys.within(images, KeyRange(lower=(bound,)))
                assert [each[0] in above for each in some] == inside.tolist()
