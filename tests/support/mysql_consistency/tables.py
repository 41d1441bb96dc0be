"""The twenty tables of the consistency test: equal columns, another key each."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from datasources.embedded import MySqlVersion
from tests.support.mysql.mysql_server import MySqlServer

__all__ = [
    "COLUMNS",
    "INVISIBLE",
    "LARGEST_KEY",
    "PATTERN",
    "SCHEMA",
    "TABLES",
    "TRUNCATED",
    "Row",
    "Table",
    "by_name",
    "create_tables",
    "random_row",
]

COLUMNS: Final = ("i", "s", "d", "t", "n", "v")
SCHEMA: Final = "i INT, s STRING, d DECIMAL(12,3), t TIMESTAMP_NTZ, n INT, v STRING"
PATTERN: Final = "t[0-9][0-9]"
INVISIBLE: Final = "my_row_id"
TRUNCATED: Final = "t19"
LARGEST_KEY: Final = 200
_BEGIN: Final = datetime(2024, 1, 1)
_WORDS: Final = ("Äpfel", "apfel", "birne", "Birne ", "straße", "strasse", "élan", "elan", "z", "_", "10", "9", "Zoë")

Row = tuple[Any, ...]
"""The values of COLUMNS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table.

    Attributes:
        name: its name.
        key: the columns that identify its rows; none = they are not identified.
        collation: of its text.
        is_primary: whether the key is its primary key, and not a unique index.
        parent: the table of which its column n is a foreign key with ON DELETE CASCADE.
    """

    name: str
    key: tuple[str, ...]
    collation: str = "utf8mb4_0900_ai_ci"
    is_primary: bool = True
    parent: str | None = None

    def key_of(self, row: Row, invisible: Any = None) -> tuple[Any, ...]:
        """Return the values of the key."""
        values = {**dict(zip(COLUMNS, row, strict=True)), INVISIBLE: invisible}
        return tuple(values[name] for name in self.key)

    @property
    def is_keyed(self) -> bool:
        """Whether emitted rows identify their row."""
        return bool(self.key) and self.key != (INVISIBLE,)

    def create(self, *, has_cascades: bool) -> str:
        """Return the statement that creates it."""
        keys = ""
        if self.is_keyed:
            keys = f", {'PRIMARY KEY' if self.is_primary else 'UNIQUE KEY'} ({', '.join(self.key)})"
        if self.parent and has_cascades:
            keys += f", FOREIGN KEY (n) REFERENCES {self.parent} (i) ON DELETE CASCADE"
        return (
            f"CREATE TABLE {self.name} (i INT NOT NULL, s VARCHAR(40) COLLATE {self.collation} NOT NULL, "
            f"d DECIMAL(12,3) NOT NULL, t DATETIME(6) NOT NULL, n INT NULL, v VARCHAR(60) NULL{keys})"
        )


TABLES: Final = (
    *(Table(name=f"t0{number}", key=("i",)) for number in range(1, 6)),
    Table(name="t06", key=("s",)),
    Table(name="t07", key=("s",), collation="utf8mb4_general_ci"),
    Table(name="t08", key=("i", "s")),
    Table(name="t09", key=("s", "t"), collation="utf8mb4_0900_bin"),
    Table(name="t10", key=("d",)),
    Table(name="t11", key=("i",), is_primary=False),
    Table(name="t12", key=("t",)),
    Table(name="t13", key=(INVISIBLE,)),
    Table(name="t14", key=()),
    Table(name="t15", key=()),
    Table(name="t16", key=("i",)),
    Table(name="t17", key=("i",), parent="t16"),
    Table(name="t18", key=("i",)),
    Table(name="t19", key=("i",)),
    Table(name="t20", key=("i",)),
)
"""t16 and t17 are parent and child; columns and indexes come and go in t18, t19 is truncated, t20 swapped."""


def by_name(name: str) -> Table:
    """Return a table."""
    return next(table for table in TABLES if table.name == name)


def create_tables(server: MySqlServer, database: str, chance: random.Random, *, rows: int) -> None:
    """Create all tables, each with about so many rows."""
    has_cascades = server.version is not MySqlVersion.V8_0
    connection = server.connect(database=database, charset="utf8mb4")
    with connection, connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"SET sql_generate_invisible_primary_key = {'ON' if INVISIBLE in table.key else 'OFF'}")
            cursor.execute(table.create(has_cascades=has_cascades))
            some = [random_row(chance) for _ in range(rows)]
            orphans = [(*row[:4], None, row[5]) if table.parent else row for row in some]
            cursor.executemany(
                f"INSERT IGNORE INTO {table.name} (i, s, d, t, n, v) VALUES (%s, %s, %s, %s, %s, %s)", orphans
            )


def random_row(chance: random.Random) -> Row:
    """Return a row; the values of a key repeat after some hundreds."""
    number = chance.randrange(LARGEST_KEY)
    word = f"{chance.choice(_WORDS)}{chance.choice(('', ' ', '-', 'é'))}{chance.randrange(LARGEST_KEY // 10)}"
    return (
        number,
        word.strip(),
        Decimal(chance.randrange(-LARGEST_KEY, LARGEST_KEY)) / 8,
        _BEGIN + timedelta(microseconds=chance.randrange(LARGEST_KEY) * 1_234_567_891),
        chance.choice((None, chance.randrange(LARGEST_KEY))),
        chance.choice((None, "", "x" * chance.randrange(60), f"wert {chance.random()}")),
    )
