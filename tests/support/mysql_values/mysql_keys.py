"""Tables with keys of every kind, for tests of bounds and chunks."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from datasources.mysql.preflight.tables import read_tables
from datasources.mysql.preflight.wanted import parse_wanted
from datasources.mysql.snapshot.bounds_plan import BoundsPlan, BoundsRequest, next_bounds
from datasources.mysql.state.snapshot_scan import PlannedChunks
from datasources.mysql.tables.key_ranges import Bound, KeyRange, range_condition
from datasources.mysql.tables.key_values import select_expression
from tests.support.mysql.mysql_server import MySqlServer

__all__ = ["BY_SERVER", "CASES", "DOUBLE", "MAKE_ROWS", "ROWS", "SIZE", "UUID", "WHERE", "Case", "Table", "case_of"]

SIZE = 7
ROWS = 120
# Orders that clients get wrong: case, accents, ligatures, digits, signs, what is below a space, what is beyond the BMP.
SYLLABLES = ["", " ", "\t", "_x", "10", "9", "a", "A", "a ", "a\t", "B", "c", "é", "É", "e\u0301", "f", "ß", "ss", "st"]
SYLLABLES += ["ﬆ", "Z", "ö", "o", "ł", "😀", "ｱ", "\u00a0", "-", "'", "\\", "%"]


@dataclass(frozen=True)
class Case:
    """A table: its columns, and what makes one row's values as SQL."""

    ddl: str
    row: Callable[[random.Random], str]


def text(chance: random.Random) -> str:
    words = "".join(chance.choice(SYLLABLES) for _ in range(chance.randint(0, 3)))
    return words if "\\" not in words else words.replace("\\", "")


def quoted(value: str) -> str:
    return f"_utf8mb4 x'{value.encode().hex()}'" if value else "''"


def moment(chance: random.Random) -> str:
    day, micros = chance.randint(1, 3), chance.choice([0, 1, 999_999, 500_000])
    return f"'2024-03-{day:02d} 0{chance.randint(0, 9)}:59:59.{micros:06d}'"


def collated(collation: str, kind: str = "VARCHAR(20)") -> Case:
    charset = collation.split("_", maxsplit=1)[0]
    ddl = f"k {kind} CHARACTER SET {charset} COLLATE {collation}, PRIMARY KEY (k)"
    latin = [each for each in SYLLABLES if all(ord(character) < 0x100 for character in each)]
    if charset == "latin1":
        return Case(ddl, lambda chance: quoted("".join(chance.choice(latin) for _ in range(3))))
    return Case(ddl, lambda chance: quoted(text(chance)))


# Members as SQL: what the server escapes in information_schema, and what means something to those who parse it.
ESCAPED = [
    r"'a\\b'",
    r"'\\'",
    r"'n\nl'",
    r"'\r'",
    r"'t\tt'",
    r"'z\0z'",
    r"'\\n'",
    "'q''q'",
    "'('",
    "')'",
    "'\"'",
    "'%'",
]
ESCAPED_SETS = ", ".join(ESCAPED)
NUL_OR_SPACE = b"\0\0\x01 \xff"


def some_bytes(chance: random.Random) -> str:
    return f"x'{bytes(chance.choice(NUL_OR_SPACE) for _ in range(chance.randint(0, 3))).hex()}'"


def edge_time(chance: random.Random) -> str:
    return f"'{chance.choice(['', '-'])}{chance.choice(['838:59:58', '00:00:00', '00:00:01'])}.{chance.randint(0, 40):06d}'"


def edge_moments(chance: random.Random) -> str:
    moment = chance.choice(["1970-01-01 00:00:01", "2038-01-19 03:14:07", "2024-10-27 01:30:00"])
    day = chance.choice(["1000-01-01", "9999-12-31"])
    return f"'{moment}.{chance.randint(0, 3):06d}', '{day} 23:59:59.{chance.randint(0, 9):03d}'"


def edge_integers(chance: random.Random) -> str:
    signed = chance.choice([-(2**63), 2**63 - 9, -(2**53) - 1, 2**53]) + chance.randint(0, 8)
    return f"{signed}, {2**64 - 1 - chance.randint(0, 3)}"


def german(chance: random.Random) -> str:
    first = chance.choice(["ss", "ß", "ẞ", "s", "sß"]) + chance.choice(["", " ", "x", "\t"])
    return f"{quoted(first)}, {quoted(chance.choice(['ue', 'ü', 'u']))}, {chance.randint(0, 9)}"


CASES = {
    "dense integer": Case("k INT PRIMARY KEY", lambda chance: str(chance.randint(-70, 70))),
    "scattered integer": Case("k BIGINT PRIMARY KEY", lambda chance: str(chance.randint(-(2**63), 2**63 - 1))),
    "unsigned": Case("k BIGINT UNSIGNED PRIMARY KEY", lambda chance: str(chance.choice([0, 2**63, 2**64 - 1]) or chance.randint(2**62, 2**64 - 1))),
    "decimal": Case("k DECIMAL(20,6) PRIMARY KEY", lambda chance: f"{chance.uniform(-1e3, 1e3):.6f}"),
    "large decimal": Case("k DECIMAL(65,30) PRIMARY KEY", lambda chance: f"{chance.randint(-(10**34), 10**34)}.{chance.randint(0, 10**30 - 1):030d}"),
    "ci": collated("utf8mb4_general_ci"),
    "ai": collated("utf8mb4_unicode_520_ci"),
    "pad space": collated("utf8mb4_unicode_ci", "CHAR(20)"),
    "binary collation": collated("utf8mb4_bin"),
    "latin1": collated("latin1_swedish_ci"),
    "german": collated("latin1_german2_ci"),
    "varbinary": Case("k VARBINARY(6) PRIMARY KEY", lambda chance: f"x'{chance.randbytes(chance.randint(1, 6)).hex()}'"),
    "fixed binary": Case("k BINARY(4) PRIMARY KEY", lambda chance: f"x'{chance.randbytes(chance.randint(1, 4)).hex()}'"),
    "datetime": Case("k DATETIME(6) PRIMARY KEY", moment),
    "timestamp": Case("k TIMESTAMP(6) PRIMARY KEY", moment),
    "date": Case("k DATE PRIMARY KEY", lambda chance: f"'{chance.randint(1000, 9999)}-0{chance.randint(1, 9)}-28'"),
    "time": Case("k TIME(3) PRIMARY KEY", lambda chance: f"'{chance.randint(-838, 838)}:10:10.{chance.randint(0, 999):03d}'"),
    "year": Case("k YEAR PRIMARY KEY", lambda chance: str(chance.randint(1901, 2155))),
    "bit": Case("k BIT(60) PRIMARY KEY", lambda chance: str(chance.randint(0, 2**60 - 1))),
    "enum and integer": Case(
        "e ENUM('z','b','é','10','it''s,') CHARACTER SET latin1 NOT NULL, k SMALLINT, PRIMARY KEY (e, k)",
        lambda chance: f"{chance.randint(0, 5)}, {chance.randint(-30, 30)}",
    ),
    "enum of escapes": Case(
        f"e ENUM({ESCAPED_SETS}) CHARACTER SET utf8mb4 NOT NULL, k SMALLINT, PRIMARY KEY (e, k)",
        lambda chance: f"{chance.randint(1, len(ESCAPED))}, {chance.randint(-9, 9)}",
    ),
    "set of escapes": Case(
        f"s SET({ESCAPED_SETS}) CHARACTER SET utf8mb4 NOT NULL, UNIQUE (s)",
        lambda chance: str(chance.getrandbits(len(ESCAPED))),
    ),
    "large set": Case(
        "s SET(" + ", ".join(f"'m{bit}'" for bit in range(64)) + ") NOT NULL, UNIQUE (s)",
        lambda chance: str(chance.choice([2**64 - 1, 2**63, 2**53 + 1, 2**53]) - chance.randint(0, 19)),
    ),
    "large bit": Case(
        "k BIT(64) PRIMARY KEY", lambda chance: str(chance.choice([2**64 - 1, 2**63, 2**53 + 5]) - chance.randint(0, 40))
    ),
    "edges of integers": Case("a BIGINT, b BIGINT UNSIGNED, PRIMARY KEY (a, b)", edge_integers),
    "edges of times": Case("k TIME(6) PRIMARY KEY", edge_time),
    "edges of years": Case(
        "y YEAR, k INT, PRIMARY KEY (y, k)",
        lambda chance: f"{chance.choice([0, 1901, 2155, 2000])}, {chance.randint(0, 40)}",
    ),
    "edges of dates": Case(
        "d DATE, k INT, PRIMARY KEY (d, k)",
        lambda chance: f"'{chance.choice(['0001-01-01', '9999-12-31', '1582-10-10'])}', {chance.randint(0, 40)}",
    ),
    "edges of moments": Case("t TIMESTAMP(6), k DATETIME(3), PRIMARY KEY (t, k)", edge_moments),
    "zeros in bytes": Case(
        "a BINARY(3), b VARBINARY(3), PRIMARY KEY (a, b)", lambda chance: f"{some_bytes(chance)}, {some_bytes(chance)}"
    ),
    "text after text": Case(
        "a CHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci, "
        "b VARCHAR(9) CHARACTER SET latin1 COLLATE latin1_german2_ci, c INT, PRIMARY KEY (a, b, c)",
        german,
    ),
    "float beside another": Case(
        "f DOUBLE, u INT NOT NULL, PRIMARY KEY (f), UNIQUE (u)",
        lambda chance: f"{chance.random()!r}, {chance.randint(0, 10**6)}",
    ),
    "set": Case("s SET('z','y','x','w','v','u','t') NOT NULL, UNIQUE (s)", lambda chance: str(chance.randint(0, 127))),
    "three columns": Case(
        "a VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, b DATETIME(6), c INT UNSIGNED, PRIMARY KEY (a, b, c)",
        lambda chance: f"'{chance.choice(['a', 'B', 'ç', 'c '])}', {moment(chance)}, {chance.randint(0, 3)}",
    ),
    "unique beside others": Case(
        "id INT NULL, u INT NOT NULL, note TEXT, UNIQUE (u), KEY (id)",
        lambda chance: f"NULL, {chance.randint(0, 10**9)}, 'x'",
    ),
}  # fmt: skip
BY_SERVER = {
    "default collation": {False: collated("utf8mb4_0900_ai_ci"), True: collated("utf8mb4_uca1400_ai_ci")},
    "case and accent": {False: collated("utf8mb4_0900_as_cs"), True: collated("utf8mb4_uca1400_as_cs")},
}
DOUBLE = Case("k DOUBLE PRIMARY KEY", lambda chance: repr(chance.random()))
UUID = Case("k UUID PRIMARY KEY", lambda chance: f"'{uuid.UUID(int=chance.getrandbits(128), version=4)}'")
# Collations and labels are each server's own; numbers and times need not be looked at three times.
ON_EVERY_SERVER = ("ci", "ai", "pad space", "binary collation", "latin1", "german", "three columns", *BY_SERVER)
ESCAPING = ("enum of escapes", "set of escapes", "large set", "text after text")
WHERE = [(server, name) for name in [*CASES, *BY_SERVER] for server in ("newest", "mariadb")]
WHERE += [("8.0", name) for name in (*ON_EVERY_SERVER, *ESCAPING, "enum and integer", "time")]
MAKE_ROWS = "INSERT IGNORE INTO {table} VALUES {rows}"


class Table:
    """One table on a server, and its rows' keys in the server's order."""

    def __init__(self, server: MySqlServer, connection: Any, case: Case) -> None:
        self.database = server.create_database()
        self.connection = connection
        chance = random.Random(7)
        rows = ", ".join(f"({case.row(chance)})" for _ in range(ROWS))
        server.execute(
            f"CREATE TABLE {self.database}.t ({case.ddl})",
            MAKE_ROWS.format(table=f"{self.database}.t", rows=rows),
            f"ANALYZE TABLE {self.database}.t",  # else the server may think that reading it all is less work
        )
        login = server.reader
        options = {"hostname": login.host, "username": login.user, "database-name": self.database, "table-name": "t"}
        [info] = read_tables(connection, parse_wanted(options))
        self.key = info.key

    @property
    def order(self) -> str:
        return ", ".join(f"`{column.name}`" for column in self.key.columns)

    def keys(self, wanted: KeyRange | None = None) -> list[Bound]:
        values = ", ".join(select_expression(column) for column in self.key.columns)
        where = range_condition(self.key, wanted or KeyRange())
        with self.connection.cursor() as cursor:
            cursor.execute(f"SELECT {values} FROM {self.database}.t WHERE {where} ORDER BY {self.order}")
            return [tuple(value.decode() if isinstance(value, bytes) else value for value in row) for row in cursor]

    def plan(self, after: Bound | None, **more: int) -> BoundsPlan:
        request = {"size": SIZE, "count": 4, **more}
        wanted = BoundsRequest(database=self.database, table="t", key=self.key, rows=ROWS, **request)
        return next_bounds(self.connection, wanted, after)

    def ranges(self) -> list[KeyRange]:
        """All ranges of the table, planned a few at a time as batches do, the open one last."""
        found: list[KeyRange] = []
        after: Bound | None = None
        for _ in range(ROWS):
            plan = self.plan(after)
            planned = PlannedChunks(table=(self.database, "t"), lower=after, bounds=plan.bounds, is_open=plan.is_end)
            found += [each.keys for each in planned.ranges]
            after = plan.bounds[-1] if plan.bounds else after
            if plan.is_end:
                return found
        raise AssertionError("the plans do not end")

    def explain(self, wanted: KeyRange) -> str:
        with self.connection.cursor() as cursor:
            where = range_condition(self.key, wanted)
            cursor.execute(
                f"EXPLAIN FORMAT=TRADITIONAL SELECT * FROM {self.database}.t FORCE INDEX (`{self.key.name}`) WHERE {where}"
            )
            row = dict(zip([each[0] for each in cursor.description], cursor.fetchone(), strict=True))
        return str(row["type"])


def case_of(name: str, *, is_mariadb: bool) -> Case:
    """Return the case of a name of `WHERE`."""
    return CASES[name] if name in CASES else BY_SERVER[name][is_mariadb]
