"""MySQL's types with their extremes: what is written, and what must be read, from the snapshot and the binlog alike."""

from __future__ import annotations

import datetime as dt
import struct
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

__all__ = ["CASES", "TypeCase"]

ALL: Final = frozenset({"newest", "8.0", "mariadb"})
MYSQL: Final = frozenset({"newest", "8.0"})


@dataclass(frozen=True)
class TypeCase:
    """A column.

    Attributes:
        name: what the test is called.
        ddl: its type.
        values: SQL literal and the value that must be read; NULL is added by the test.
        servers: the servers that have the type.
    """

    name: str
    ddl: str
    values: list[tuple[str, Any]]
    servers: frozenset[str] = field(default=ALL)


def _utc(*parts: int) -> dt.datetime:
    return dt.datetime(*parts, tzinfo=dt.UTC)  # type: ignore[misc, arg-type]


def _integers(name: str, bits: int) -> list[TypeCase]:
    low, high, top = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 2**bits - 1
    kind = Decimal if bits == 64 else int
    return [
        TypeCase(name, name.upper(), [(str(n), n) for n in (low, -1, 0, 1, high)]),
        TypeCase(f"{name}_unsigned", f"{name} UNSIGNED", [(str(n), kind(n)) for n in (0, 1, high + 1, top)]),
    ]


_MICROS: Final = 1_000_000
_NINES: Final = "9" * 35 + "." + "9" * 30


def _time_us(hours: int, minutes: int, seconds: int, micros: int = 0) -> int:
    return (hours * 3600 + minutes * 60 + seconds) * _MICROS + micros


def _float(text: str) -> float:
    return float(struct.unpack("<f", struct.pack("<f", float(text)))[0])


CASES: Final = [
    *_integers("tinyint", 8),
    *_integers("smallint", 16),
    *_integers("mediumint", 24),
    *_integers("int", 32),
    *_integers("bigint", 64),
    TypeCase("tinyint1", "TINYINT(1)", [("0", 0), ("1", 1), ("127", 127), ("-128", -128)]),
    TypeCase("zerofill", "INT(8) UNSIGNED ZEROFILL", [("42", 42), ("4294967295", 4294967295)]),
    TypeCase(
        "float",
        "FLOAT",
        [(t, _float(t)) for t in ("0", "16777217", "123456.789", "-1.1", "3.4e38", "1.17549435e-38", "1e-45")],
    ),
    TypeCase("float_digits", "FLOAT(7,3)", [("1234.567", _float("1234.567")), ("-0.001", _float("-0.001"))]),
    TypeCase(
        "double",
        "DOUBLE",
        [(t, float(t)) for t in ("0", "0.1", "1e308", "-1.7976931348623157e308", "2.2250738585072014e-308", "1e15")],
    ),
    TypeCase("double_digits", "DOUBLE(12,3)", [("123456.789", 123456.789), ("0.001", 0.001)]),
    TypeCase(
        "decimal_small",
        "DECIMAL(9,2)",
        [(t, Decimal(t)) for t in ("0.00", "-0.01", "9999999.99", "-9999999.99", "1.10")],
    ),
    TypeCase("decimal_18", "DECIMAL(18,9)", [(t, Decimal(t)) for t in ("999999999.999999999", "-999999999.999999999")]),
    TypeCase(
        "decimal_38",
        "DECIMAL(38,10)",
        [
            (t, Decimal(t))
            for t in (
                "9" * 28 + ".9999999999",
                "-" + "9" * 28 + ".9999999999",
                "0.0000000001",
                "-0.0000000001",
                "18446744073709551616.0000000000",
                "-4294967296.0000000000",
            )
        ],
    ),
    TypeCase("decimal_whole", "DECIMAL(20,0)", [(t, Decimal(t)) for t in ("99999999999999999999", "-1", "0")]),
    TypeCase("decimal_fraction", "DECIMAL(10,10)", [(t, Decimal(t)) for t in ("0.0123456789", "-0.9999999999")]),
    TypeCase(
        "decimal_65_30",
        "DECIMAL(65,30)",
        [(_NINES, _NINES), (f"-{_NINES}", f"-{_NINES}"), ("0", "0." + "0" * 30), ("-1e-30", "-0." + "0" * 29 + "1")],
    ),
    TypeCase("decimal_39", "DECIMAL(39,0)", [("9" * 39, "9" * 39), ("-7", "-7")]),
    TypeCase("decimal_zerofill", "DECIMAL(40,2) ZEROFILL", [("7", "7.00"), ("9" * 38, "9" * 38 + ".00")]),
    TypeCase("bit1", "BIT(1)", [("b'0'", False), ("b'1'", True)]),
    TypeCase("bit10", "BIT(10)", [("b'0'", b"\0\0"), ("b'1000000001'", b"\x02\x01"), ("b'1111111111'", b"\x03\xff")]),
    TypeCase("bit64", "BIT(64)", [("0", b"\0" * 8), ("18446744073709551615", b"\xff" * 8), ("1", b"\0" * 7 + b"\1")]),
    TypeCase("year", "YEAR", [("1901", 1901), ("2155", 2155), ("0", 0), ("2026", 2026)]),
    TypeCase(
        "date",
        "DATE",
        [
            (f"'{t}'", dt.date.fromisoformat(t))
            for t in ("1000-01-01", "9999-12-31", "1969-12-31", "2024-02-29", "0001-01-01")
        ],
    ),
    TypeCase(
        "time",
        "TIME",
        [
            ("'838:59:59'", _time_us(838, 59, 59)),
            ("'-838:59:59'", -_time_us(838, 59, 59)),
            ("'-00:00:01'", -_MICROS),
            ("'0'", 0),
        ],
    ),
    TypeCase("time1", "TIME(1)", [("'-00:00:00.1'", -100_000), ("'23:59:59.9'", _time_us(23, 59, 59, 900_000))]),
    TypeCase("time3", "TIME(3)", [("'-01:02:03.004'", -_time_us(1, 2, 3, 4000)), ("'00:00:00.999'", 999_000)]),
    TypeCase(
        "time6",
        "TIME(6)",
        [
            ("'838:59:59.000000'", _time_us(838, 59, 59)),
            ("'-838:59:58.999999'", -_time_us(838, 59, 58, 999_999)),
            ("'-00:00:00.000001'", -1),
            ("'00:00:00.000001'", 1),
        ],
    ),
    *[
        TypeCase(
            f"datetime{p}",
            f"DATETIME({p})",
            [
                ("'1000-01-01 00:00:00'", dt.datetime(1000, 1, 1)),
                (f"'9999-12-31 23:59:59{suffix}'", dt.datetime(9999, 12, 31, 23, 59, 59, micros)),
                (f"'1969-12-31 23:59:59{suffix}'", dt.datetime(1969, 12, 31, 23, 59, 59, micros)),
            ],
        )
        for p, suffix, micros in (
            (0, "", 0),
            (1, ".9", 900_000),
            (3, ".123", 123_000),
            (5, ".98765", 987_650),
            (6, ".999999", 999_999),
        )
    ],
    *[
        TypeCase(
            f"timestamp{p}",
            f"TIMESTAMP({p}) NULL",
            [
                ("'1970-01-01 00:00:01'", _utc(1970, 1, 1, 0, 0, 1)),
                (f"'2038-01-19 03:14:07{suffix}'", _utc(2038, 1, 19, 3, 14, 7, micros)),
                (f"'2026-03-29 02:30:00{suffix}'", _utc(2026, 3, 29, 2, 30, 0, micros)),
            ],
        )
        for p, suffix, micros in ((0, "", 0), (2, ".12", 120_000), (6, ".654321", 654_321))
    ],
    TypeCase("char", "CHAR(10)", [("'a  '", "a"), ("''", ""), ("' b'", " b"), ("'ÄÖ€😀'", "ÄÖ€😀")]),
    TypeCase("char_255", "CHAR(255)", [("REPEAT('😀', 255)", "😀" * 255), ("''", "")]),
    TypeCase(
        "varchar",
        "VARCHAR(40)",
        [("'a  '", "a  "), ("''", ""), ("'日本語 😀'", "日本語 😀"), ("'nul\\0in'", "nul\0in")],
    ),
    TypeCase("varchar_long", "VARCHAR(2000)", [("REPEAT('é', 2000)", "é" * 2000), ("''", "")]),
    *[
        TypeCase(name, name.upper(), [("REPEAT('tÿ', 80)", "tÿ" * 80), ("''", "")])
        for name in ("tinytext", "text", "mediumtext", "longtext")
    ],
    *[
        TypeCase(
            f"varchar_{charset}",
            f"VARCHAR(20) CHARACTER SET {charset}",
            [(f"'{text}'", text), ("'plain'", "plain"), ("''", "")],
        )
        for charset, text in (
            ("latin1", "Zoë € \x81"),
            ("latin2", "žluťoučký"),
            ("cp1251", "Привет"),
            ("koi8r", "Привет"),
            ("greek", "αβγ"),
            ("swe7", "ÅÄÖ"),
            ("utf8mb3", "日本 é"),
            ("ucs2", "日本 é"),
            ("utf16", "日本 😀"),
            ("utf32", "日本 😀"),
            ("gbk", "简体中文"),
            ("gb2312", "简体中文"),
            ("big5", "繁體中文"),
            ("sjis", "カタカナ漢字"),
            ("cp932", "ｶﾅ①髙"),
            ("ujis", "カタカナ漢字"),
            ("eucjpms", "①髙ⅷ"),
            ("euckr", "한국어"),
        )
    ],
    TypeCase("varchar_utf16le", "VARCHAR(20) CHARACTER SET utf16le", [("'日本 😀'", "日本 😀")]),
    TypeCase("varchar_gb18030", "VARCHAR(20) CHARACTER SET gb18030", [("'中文 😀ḿ'", "中文 😀ḿ")], MYSQL),
    TypeCase("char_latin1", "CHAR(5) CHARACTER SET latin1", [("'é'", "é"), ("''", "")]),
    TypeCase("char_utf16", "CHAR(5) CHARACTER SET utf16", [("'é'", "é"), ("''", "")]),
    TypeCase(
        "binary",
        "BINARY(5)",
        [("'a'", b"a\0\0\0\0"), ("x'0000000000'", b"\0" * 5), ("'abcde'", b"abcde"), ("x'00FF00'", b"\0\xff\0\0\0")],
    ),
    TypeCase("binary_255", "BINARY(255)", [("x'01'", b"\1" + b"\0" * 254)]),
    TypeCase(
        "varbinary", "VARBINARY(300)", [("x'00FF00'", b"\0\xff\0"), ("''", b""), ("REPEAT('x', 300)", b"x" * 300)]
    ),
    *[
        TypeCase(name, name.upper(), [("x'00FF'", b"\0\xff"), ("''", b"")])
        for name in ("tinyblob", "blob", "mediumblob", "longblob")
    ],
    TypeCase(
        "enum",
        "ENUM('a','it''s','ü','with,comma')",
        [("'a'", "a"), ("'it''s'", "it's"), ("'ü'", "ü"), ("4", "with,comma")],
    ),
    TypeCase("enum_latin1", "ENUM('é','b') CHARACTER SET latin1", [("'é'", "é"), ("'b'", "b")]),
    TypeCase("enum_utf16", "ENUM('日','b') CHARACTER SET utf16", [("'日'", "日"), ("'b'", "b")]),
    TypeCase(
        "enum_large",
        "ENUM(" + ",".join(f"'m{i}'" for i in range(300)) + ")",
        [("'m0'", "m0"), ("'m299'", "m299"), ("'m255'", "m255")],
    ),
    TypeCase("set", "SET('a','b','ü')", [("''", ""), ("'a'", "a"), ("'ü,a'", "a,ü"), ("7", "a,b,ü")]),
    TypeCase(
        "set_64", "SET(" + ",".join(f"'m{i}'" for i in range(64)) + ")", [("'m63'", "m63"), ("'m0,m33'", "m0,m33")]
    ),
    TypeCase(
        "set_17",
        "SET(" + ",".join(f"'m{i}'" for i in range(17)) + ") CHARACTER SET latin1",
        [("'m16'", "m16"), ("''", "")],
    ),
    TypeCase("geometry", "GEOMETRY", [("ST_GeomFromText('POINT(0 0)')", struct.pack("<IBIdd", 0, 1, 1, 0, 0))]),
    TypeCase(
        "vector", "VECTOR(3)", [("TO_VECTOR('[1,2,-3.5]')", struct.pack("<fff", 1, 2, -3.5))], frozenset({"newest"})
    ),
    TypeCase(
        "inet4",
        "INET4",
        [(f"'{t}'", t) for t in ("0.0.0.1", "1.2.3.0", "255.255.255.255", "10.0.0.1")],
        frozenset({"mariadb"}),
    ),
    TypeCase(
        "inet6",
        "INET6",
        [
            *(
                (f"'{t}'", t)
                for t in ("::", "::1", "1::", "::1.2.3.4", "::ffff:1.2.3.4", "2001:db8::", "fe80::1:2:3:4")
            ),
            ("'1:0:2:3:4:5:6:7'", "1::2:3:4:5:6:7"),
            ("'1:0:0:2:0:0:0:3'", "1:0:0:2::3"),
            ("'1:0:0:2:0:0:3:4'", "1::2:0:0:3:4"),
            ("'1:2:3:4:5:6:7:0'", "1:2:3:4:5:6:7::"),
            ("'ABCD:EF01:2:3:4:5:6:FFFF'", "abcd:ef01:2:3:4:5:6:ffff"),
        ],
        frozenset({"mariadb"}),
    ),
    TypeCase("mariadb_json", "JSON", [('\'{"b":1, "a" : 2}\'', '{"b":1, "a" : 2}')], frozenset({"mariadb"})),
]
