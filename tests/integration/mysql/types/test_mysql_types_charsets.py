"""Every code of every character set decodes as in the server's own conversion."""

from __future__ import annotations

from contextlib import closing

import pymysql
import pytest

from datasources.embedded import MySqlVersion
from datasources.mysql.types.charset_tables import SINGLE_BYTE
from datasources.mysql.types.charsets import charset_of_collation, decode_bytes
from tests.support.mysql.mysql_binlog import everything, position, read_changes, rows_of
from tests.support.mysql.mysql_server import MySqlServer, every_server

pytestmark = pytest.mark.mysql

_ONLY = {"VECTOR(3)": (MySqlVersion.NEWEST,), **dict.fromkeys(("UUID", "INET6", "INET4"), (MySqlVersion.MARIADB,))}
MULTI_BYTE = ("big5", "cp932", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "sjis", "ujis")


def _ask(server: MySqlServer, codes: list[bytes], charsets: list[str]) -> dict[str, dict[bytes, str]]:
    """Return the server's conversion of each code that it would store."""
    meanings: dict[str, dict[bytes, str]] = {}
    with closing(server.connect(charset="utf8mb4", database=server.create_database("codes"))) as connection:
        cursor = connection.cursor()
        cursor.execute("SET sql_mode = ''")
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, b VARBINARY(4))")
        cursor.execute("INSERT INTO t VALUES " + ", ".join(f"({n}, x'{code.hex()}')" for n, code in enumerate(codes)))
        for charset in charsets:
            cursor.execute(f"CREATE TABLE c_{charset} (id INT PRIMARY KEY, x VARCHAR(8) CHARACTER SET {charset})")
            cursor.execute(f"INSERT IGNORE INTO c_{charset} SELECT id, b FROM t")
            cursor.execute(f"SELECT id, HEX(x), CONVERT(x USING utf8mb4) FROM c_{charset}")
            meanings[charset] = {
                codes[index]: text
                for index, stored, text in cursor.fetchall()
                if stored == codes[index].hex().upper() and text
            }
    return meanings


@every_server
def test_every_byte_decodes_as_at_the_server(mysql: MySqlServer):
    meanings = _ask(mysql, [bytes([code]) for code in range(256)], sorted(SINGLE_BYTE))
    for charset, letters in meanings.items():
        assert len(letters) > 100
        assert {code: decode_bytes(code, charset) for code in letters} == letters, charset


def _several_bytes() -> list[bytes]:
    codes = [bytes([lead, trail]) for lead in range(0x80, 0x100) for trail in range(0x30, 0x100)]
    codes += [bytes([single]) for single in range(0x100)]
    codes += [bytes([0x8F, lead, trail]) for lead in range(0xA1, 0xFF) for trail in range(0xA1, 0xFF)]
    planes = (0x81, 0x82, 0x84, 0x85, 0x90, 0x95, 0xE3, 0xE4, 0xFD, 0xFE)
    codes += [
        bytes([lead, second, third, last])
        for lead in planes
        for second in range(0x30, 0x3A)
        for third in range(0x81, 0xFF, 3)
        for last in range(0x30, 0x3A)
    ]
    return codes


def _check_codes(mysql: MySqlServer, codes: list[bytes]) -> None:
    charsets = [charset for charset in MULTI_BYTE if not (mysql.is_mariadb and charset == "gb18030")]
    for charset, letters in _ask(mysql, codes, charsets).items():
        assert len(letters) > len(codes) // 20
        assert {code: decode_bytes(code, charset) for code in letters} == letters, charset


@every_server
def test_multi_byte_codes_decode_as_at_the_server(mysql: MySqlServer):
    _check_codes(mysql, [*_several_bytes()[::7], b"\x81\x35\xf4\x37", b"\x81\x5f", b"\x8e\xa0", b"\\", b"~"])


@pytest.mark.full
@every_server
def test_every_multi_byte_code_decodes_as_at_the_server(mysql: MySqlServer):
    _check_codes(mysql, _several_bytes())


@every_server
def test_undefined_codes_are_decoded_as_the_server_reads_them(mysql: MySqlServer):
    texts = {"sjis": "5c7e41fcf45c42", "cp932": "4181ad42", "gbk": "41a14042", "big5": "41a3c042", "euckr": "41a2e842"}
    texts |= {"gb2312": "41a2a142", "ujis": "41a2af42", "eucjpms": "41a2af42"}
    database = mysql.create_database()
    columns = ", ".join(f"{charset} VARCHAR(9) CHARACTER SET {charset}" for charset in texts)
    mysql.execute(f"CREATE TABLE {database}.t (id INT PRIMARY KEY, {columns})")
    start = position(mysql)
    values = ", ".join(f"_{charset} x'{text}'" for charset, text in texts.items())
    mysql.execute(f"INSERT INTO {database}.t VALUES (1, {values})")
    [batch] = rows_of(read_changes(mysql, start, everything(database)))
    [row] = batch.images.to_pylist()
    with closing(mysql.connect(charset="utf8mb4", database=database)) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(f'CONVERT({charset} USING utf8mb4)' for charset in texts)} FROM t")
        assert cursor.fetchone() == tuple(row[charset] for charset in texts)
    assert row["sjis"] == "\\~A?\\B"


@every_server
def test_collation_numbers_are_those_of_the_server(mysql: MySqlServer):
    source = "COLLATION_CHARACTER_SET_APPLICABILITY" if mysql.is_mariadb else "COLLATIONS"
    rows = mysql.execute(f"SELECT ID, CHARACTER_SET_NAME FROM information_schema.{source} WHERE ID IS NOT NULL")
    assert len(rows) > 200
    for number, charset in rows:
        assert charset_of_collation(int(number)) == {"utf8": "utf8mb3"}.get(charset, charset)


@every_server
@pytest.mark.parametrize(
    "middle", ["VARBINARY(9)", "JSON", "GEOMETRY", "POINT", "VECTOR(3)", "BLOB", "YEAR", "UUID", "INET6", "INET4"]
)
@pytest.mark.parametrize("others", [0, 6])
def test_columns_without_text_do_not_shift_the_character_sets_of_others(mysql: MySqlServer, middle: str, others: int):
    """Servers differ in which columns the binlog's list of collations counts."""
    if mysql.version not in _ONLY.get(middle, tuple(MySqlVersion)):
        with pytest.raises(pymysql.MySQLError):
            mysql.execute(f"CREATE TABLE {mysql.create_database()}.t (g {middle})")
        return
    database = mysql.create_database()
    more = "".join(f", c{n} VARCHAR(9) CHARACTER SET utf8mb4" for n in range(others))
    mysql.execute(
        f"CREATE TABLE {database}.t (id INT PRIMARY KEY, a VARCHAR(9) CHARACTER SET utf8mb4, g {middle}, "
        f"b VARCHAR(9) CHARACTER SET cp1251, d VARCHAR(9) CHARACTER SET latin1{more})"
    )
    start = position(mysql)
    with closing(mysql.connect(charset="utf8mb4", database=database)) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO t (id, a, b, d) VALUES (1, 'жé€', 'жД', 'é€')")
    [batch] = rows_of(read_changes(mysql, start, everything(database)))
    [row] = batch.images.to_pylist()
    assert (row["a"], row["b"], row["d"]) == ("жé€", "жД", "é€")
