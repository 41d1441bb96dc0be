"""Tables with random columns in random order, filled with extremes, for every server."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

__all__ = ["RandomTable", "random_table"]

_CHARSETS: Final = (
    "utf8mb4",
    "utf8mb3",
    "latin1",
    "cp1251",
    "ascii",
    "utf16",
    "utf32",
    "ucs2",
    "gbk",
    "sjis",
    "koi8r",
    "big5",
)
_COLLATE: Final = {"utf8mb4": "utf8mb4_bin", "latin1": "latin1_general_cs", "cp1251": "cp1251_bin"}
_EXTREMES: Final = ("0", "1", "-1", "-1e30", "1e30", "127", "128", "255", "2147483648", "9223372036854775808")
_TEXTS: Final = ("''", "'a'", "' b'", "'plain text'", "REPEAT('x', 30)")
_SHAPES: Final = (
    ("GEOMETRY", "ST_GeomFromText('LINESTRING(0 0, 1 1)')"),
    ("POINT", "ST_GeomFromText('POINT(1 2)')"),
    ("LINESTRING", "ST_GeomFromText('LINESTRING(0 0, 1 1)')"),
    ("POLYGON", "ST_GeomFromText('POLYGON((0 0, 0 1, 1 1, 0 0))')"),
    ("MULTIPOINT", "ST_GeomFromText('MULTIPOINT(0 0, 1 1)')"),
)
_MANY_COLUMNS: Final = 300
_Made = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomTable:
    """A table and its rows.

    Attributes:
        create: the statement that creates it.
        inserts: the statements that fill it, one row each; the session's sql_mode must be empty.
        columns: the names of its columns.
    """

    create: str
    inserts: tuple[str, ...]
    columns: tuple[str, ...]


def random_table(name: str, *, seed: int, version: str, rows: int = 5) -> RandomTable:
    """Return a table that depends on the seed and the server's kind only."""
    dice = random.Random(seed)
    # Beyond 250 columns the binlog counts them in another form.
    count = _MANY_COLUMNS if seed % 20 == 19 else dice.randrange(1, 30)
    kinds = [kind for kind in _KINDS if version not in _ABSENT.get(kind, ())]
    made = [dice.choice(kinds)(dice, version) for _ in range(count)]
    ordinary = [(f"c{number}", f"`c{number}` {ddl}", literals) for number, (ddl, literals) in enumerate(made)]
    key = ("k", f"`k` INT{dice.choice(('', ' UNSIGNED'))} NOT NULL", ())
    text_key = ("kt", "`kt` VARCHAR(20) CHARACTER SET latin1 NOT NULL", ())
    columns = [*ordinary, key, text_key, *_generated(dice)]
    dice.shuffle(columns)
    keys = dice.choice(("`k`", "`kt`, `k`", "`kt`(3), `k`", "`k`, `kt`(2)"))
    create = f"CREATE TABLE {name} ({', '.join(ddl for _, ddl, _ in columns)}, PRIMARY KEY ({keys}))"
    written = [(column, literals) for column, _, literals in columns if not column.startswith("g")]
    names = ", ".join(f"`{column}`" for column, _ in written)
    inserts = tuple(
        f"INSERT INTO {name} ({names}) VALUES ({', '.join(_literal(dice, row, *column) for column in written)})"
        for row in range(rows)
    )
    return RandomTable(create=create, inserts=inserts, columns=tuple(column for column, _, _ in columns))


def _literal(dice: random.Random, row: int, name: str, literals: tuple[str, ...]) -> str:
    if name == "k":
        return str(row)
    if name == "kt":
        return f"'key{row}'"
    return "NULL" if dice.random() < 0.15 else dice.choice(literals)


def _generated(dice: random.Random) -> list[tuple[str, str, tuple[str, ...]]]:
    kind = dice.choice(("STORED", "VIRTUAL"))
    every = [
        ("g0", f"`g0` BIGINT UNSIGNED GENERATED ALWAYS AS (`k` + 9223372036854775808) {kind}", ()),
        ("g1", f"`g1` VARCHAR(30) CHARACTER SET cp1251 GENERATED ALWAYS AS (CONCAT(`kt`, '-')) {kind}", ()),
        ("g2", f"`g2` YEAR GENERATED ALWAYS AS (2000 + `k`) {kind}", ()),
    ]
    return dice.sample(every, dice.randrange(3))


def _invisible(dice: random.Random) -> str:
    return dice.choice(("", "", "", "", " INVISIBLE"))


def _integer(dice: random.Random, _version: str) -> _Made:
    name = dice.choice(("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "BOOL"))
    sign = "" if name == "BOOL" else dice.choice(("", " UNSIGNED", " ZEROFILL"))
    return f"{name}{sign}{_invisible(dice)}", _EXTREMES


def _real(dice: random.Random, _version: str) -> _Made:
    name = dice.choice(("FLOAT", "DOUBLE", "FLOAT(7,3)", "DOUBLE(12,3)"))
    return f"{name}{dice.choice(('', ' UNSIGNED'))}{_invisible(dice)}", (*_EXTREMES, "0.1", "123456.789")


def _decimal(dice: random.Random, _version: str) -> _Made:
    precision = dice.choice((1, 5, 9, 10, 18, 19, 38, 39, 65))
    scale = dice.randrange(min(precision, 30) + 1)
    return f"DECIMAL({precision},{scale}){dice.choice(('', ' UNSIGNED', ' ZEROFILL'))}", (*_EXTREMES, "0.5")


def _year(dice: random.Random, _version: str) -> _Made:
    return f"YEAR{_invisible(dice)}", ("1901", "2155", "0", "2026")


def _bit(dice: random.Random, _version: str) -> _Made:
    return f"BIT({dice.choice((1, 2, 7, 8, 9, 16, 33, 64))})", ("b'0'", "b'1'", "18446744073709551615")


def _moment(dice: random.Random, _version: str) -> _Made:
    digits = dice.randrange(7)
    name, literals = dice.choice(
        (
            ("DATE", ("'0001-01-01'", "'9999-12-31'", "'1969-12-31'")),
            (f"TIME({digits})", ("'838:59:59'", "'-838:59:59'", "'-00:00:00.999999'", "'0'")),
            (f"DATETIME({digits})", ("'1000-01-01'", "'9999-12-31 23:59:59'", "'1969-12-31 23:59:58.123456'")),
            (
                f"TIMESTAMP({digits}) NULL",
                ("'1970-01-02 00:00:01'", "'2038-01-18 03:14:07'", "'2026-03-29 02:30:00.5'"),
            ),
        )
    )
    return f"{name}{_invisible(dice)}", literals


def _charset(dice: random.Random) -> str:
    charset = dice.choice(_CHARSETS)
    collation = f" COLLATE {_COLLATE[charset]}" if charset in _COLLATE and dice.random() < 0.5 else ""
    return f" CHARACTER SET {charset}{collation}"


def _text(dice: random.Random, _version: str) -> _Made:
    names = ("CHAR(9)", "VARCHAR(9)", "VARCHAR(70)", "VARCHAR(200)", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT")
    return f"{dice.choice(names)}{_charset(dice)}{_invisible(dice)}", _TEXTS


def _bytes(dice: random.Random, _version: str) -> _Made:
    names = ("BINARY(5)", "VARBINARY(9)", "VARBINARY(300)", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB")
    return dice.choice(names), ("x'00FF'", "''", "'abc'", "x'0000000000'")


def _choice(dice: random.Random, _version: str) -> _Made:
    count = dice.choice((2, 3, 17, 64)) if dice.random() < 0.9 else 300
    name = "ENUM" if count > 64 else dice.choice(("ENUM", "SET"))
    members = [f"m{number}" for number in range(count)]
    many = ("'m0,m1'",) if name == "SET" else ()
    listed = ", ".join(f"'{member}'" for member in members)
    ddl = f"{name}({listed}){_charset(dice)}{_invisible(dice)}"
    return ddl, (f"'{members[0]}'", f"'{members[-1]}'", *many)


def _json(_dice: random.Random, _version: str) -> _Made:
    return "JSON", ('\'{"a": [1, -1, 18446744073709551615, 1.5, true, null, "x"]}\'', "'[]'", "'\"text\"'")


def _shape(dice: random.Random, _version: str) -> _Made:
    name, literal = dice.choice(_SHAPES)
    return name, (literal,)


def _vector(_dice: random.Random, _version: str) -> _Made:
    return "VECTOR(2)", ("TO_VECTOR('[1, -2.5]')",)


_Kind = Callable[[random.Random, str], _Made]
_ABSENT: Final[dict[_Kind, tuple[str, ...]]] = {_vector: ("8.0", "mariadb")}
_KINDS: Final[tuple[_Kind, ...]] = (
    *(_integer, _integer, _integer, _real, _decimal, _year, _year, _bit),
    *(_moment, _moment, _text, _text, _bytes, _choice, _choice, _json, _shape, _vector),
)
