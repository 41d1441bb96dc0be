from __future__ import annotations

import pytest

from datasources.errors import RecordError, SchemaError
from datasources.mysql.types import ColumnType, Kind, column_type_of
from datasources.mysql.types.charsets import charset_of_collation
from datasources.mysql.types.decoders.json.json_binary import parse_json
from datasources.mysql.types.decoders.json.json_diff import apply_json_diffs
from tests.support.mysql_values.mysql_selects import snapshot_values


@pytest.mark.parametrize(
    ("text", "charset", "column"),
    [
        ("bigint unsigned zerofill", None, ColumnType(kind=Kind.INTEGER, width=8, is_unsigned=True)),
        ("int(11)", None, ColumnType(kind=Kind.INTEGER, width=4)),
        ("decimal(65,30) unsigned", None, ColumnType(kind=Kind.DECIMAL, precision=65, scale=30)),
        ("datetime /* mariadb-5.3 */", None, ColumnType(kind=Kind.DATETIME)),
        ("timestamp(6)", None, ColumnType(kind=Kind.TIMESTAMP, scale=6)),
        ("enum('a,b','it''s')", "latin1", ColumnType(kind=Kind.ENUM, members=("a,b", "it's"), charset="latin1")),
        ("longtext", "utf8mb4", ColumnType(kind=Kind.TEXT, charset="utf8mb4")),
        ("binary(16)", None, ColumnType(kind=Kind.BINARY, width=16)),
        ("inet6", None, ColumnType(kind=Kind.INET6)),
        ("geomcollection", None, ColumnType(kind=Kind.GEOMETRY)),
    ],
)
def test_types_are_read_from_information_schema(text, charset, column):
    assert column_type_of(text, charset, column="c") == column


@pytest.mark.parametrize("text", ["uuid", "time(3) /* mariadb-5.3 */", "text /*!100301 COMPRESSED*/"])
def test_types_without_an_exact_counterpart_are_refused_by_name(text):
    with pytest.raises(SchemaError, match="column 'c' has the type"):
        column_type_of(text, "utf8mb4", column="c")


def test_unknown_collations_are_refused():
    with pytest.raises(SchemaError, match="collation number 65000"):
        charset_of_collation(65000)


def test_a_malformed_snapshot_value_is_refused_with_the_column():
    with pytest.raises(RecordError, match="column 'd': the server returned what is no date"):
        snapshot_values(ColumnType(kind=Kind.DATE), [b"tomorrow"], name="d")


@pytest.mark.parametrize("document", [b"\x00", b"\x0c\xff", b"\x0c\x02\xff\xff", b"\x63\x00"])
def test_bytes_that_are_no_json_are_refused(document):
    with pytest.raises(RecordError, match="JSON column"):
        parse_json(document)


@pytest.mark.parametrize("path", [b"$.b", b"$[0]", b"$.a[5]", b"$.a.x"])
def test_a_partial_update_that_does_not_apply_is_refused(path):
    diffs = b"\x00" + bytes([len(path)]) + path + b"\x02\x04\x01"
    with pytest.raises(RecordError, match="partial JSON update"):
        apply_json_diffs({"a": [1]}, diffs)
