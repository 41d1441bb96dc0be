"""Tables of files without Spark: which columns are in files and which in directories, and what Spark is given."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError, SchemaError
from datasources.sql.planner.files.file_layout import FileColumn
from datasources.sql.planner.files.file_table import FileTable, file_table


def files(format_name: str, *columns: str, keys: tuple[str, ...] = (), **options: str) -> FileTable:
    """Return a table `t`; `a__b` in an option's name stands for `a.b`, `a_b` for `a-b`."""
    given = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    found = tuple(FileColumn(name=name, spark_type=kind) for name, kind in (each.split(" ", 1) for each in columns))
    return file_table("t", {"path": "/data", "format": format_name, **given}, found, keys)


def values(table: FileTable) -> list[str]:
    return [each.value for each in table.layout.columns]


def written(table: FileTable) -> list[str]:
    return [each.written for each in table.layout.columns]


# -- CSV --


def test_csv_is_read_as_text_with_flinks_characters():
    table = files("csv", "a INT", "b STRING")
    assert table.schema == "`a` STRING, `b` STRING"
    assert table.layout.read_options == {
        "sep": ",",
        "quote": '"',
        "escape": '"',
        "header": "false",
        "nullValue": "",
        "multiLine": "true",
        "mode": "FAILFAST",
        "columnPruning": "false",
    }
    assert [each.text for each in table.layout.columns] == ["coalesce(`a`, '')", "coalesce(`b`, '')"]
    assert values(table) == [
        (
            "coalesce(try_cast(`a` AS INT), IF(`a` IS NULL, NULL, CAST(raise_error(concat('table ''t'': column ''a'' is "
            "INT, and a file has ''', `a`, '''')) AS INT)))"
        ),
        "`b`",
    ]


def test_csv_options_are_sparks_where_they_mean_the_same():
    table = files(
        "csv",
        "a INT",
        "b STRING",
        csv__field_delimiter="\\t",
        csv__quote_character="'",
        csv__null_literal="N/A",
        csv__allow_comments="true",
        csv__ignore_parse_errors="true",
        multiline="false",
    )
    assert table.layout.read_options.items() >= {
        "sep": "\t", "quote": "'", "escape": "'", "comment": "#", "multiLine": "false", "mode": "PERMISSIVE"
    }.items()  # fmt: skip
    assert table.layout.write_options.items() >= {"sep": "\t", "nullValue": "N/A"}.items()
    assert table.schema == "`a` STRING, `b` STRING, __tidemark_surplus STRING"
    assert table.layout.condition == "__tidemark_surplus IS NULL"
    assert table.layout.columns[0].text == "nullif(coalesce(`a`, ''), 'N/A')"
    assert values(table) == ["try_cast(`a` AS INT)", "`b`"]


def test_csv_without_quotes_is_read_and_not_written():
    table = files("csv", "a STRING", csv__disable_quote_character="true")
    assert table.layout.read_options["quote"] == ""
    with pytest.raises(OptionError, match=r"csv\.disable-quote-character.*could not be read again"):
        table.require_writable({})


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("csv__escape_character", "^", "before quotes within quotes only"),
        ("csv__field_delimiter", "ab", "it is one character"),
        ("csv__quote_character", ",", "one character for two of"),
        ("csv__ignore_parse_errors", "maybe", "use 'true' or 'false'"),
    ],
)
def test_csv_options_without_an_equivalent_are_refused(option, value, message):
    with pytest.raises(OptionError, match=message):
        files("csv", "a STRING", **{option: value})


def test_csv_has_values_and_one_level_of_parts():
    files("csv", "a ARRAY<INT>", "b STRUCT<x: INT, y: STRING>")
    with pytest.raises(SchemaError, match="table 't': column 'm': a field of CSV is one value"):
        files("csv", "m MAP<STRING, INT>")


def test_the_only_column_of_a_line_is_never_blank():
    assert written(files("csv", "a INT")) == ["coalesce(CAST(`a` AS STRING), '')"]
    assert written(files("csv", "a INT", csv__null_literal="N")) == ["CAST(`a` AS STRING)"]
    assert written(files("csv", "a INT", "b STRING")) == ["CAST(`a` AS STRING)", "`b`"]


# -- JSON --


def test_json_is_read_with_types_and_written_with_flinks_times():
    table = files("json", "a INT", "ts TIMESTAMP_NTZ", "r STRUCT<x: ARRAY<TIMESTAMP_NTZ>, y: INT>")
    assert table.schema == "`a` INT, `ts` TIMESTAMP_NTZ, `r` STRUCT<x: ARRAY<TIMESTAMP_NTZ>, y: INT>"
    assert table.layout.read_options == {"mode": "FAILFAST"}
    assert table.layout.write_options == {"ignoreNullFields": "false"}
    assert written(table) == [
        "`a`",
        "CAST(`ts` AS STRING)",
        (
            "IF(`r` IS NULL, NULL, named_struct('x', transform(`r`.`x`, __each_0 -> CAST(__each_0 AS STRING)), "
            "'y', `r`.`y`))"
        ),
    ]


def test_json_of_the_standard_iso_has_a_t():
    table = files("json", "ts TIMESTAMP_NTZ", json__timestamp_format__standard="ISO-8601")
    assert written(table) == ["replace(CAST(`ts` AS STRING), ' ', 'T')"]


def test_broken_json_is_left_out_if_the_table_ignores_errors():
    table = files("json", "a INT", "b STRING", json__ignore_parse_errors="true")
    assert table.layout.read_options == {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "__tidemark_broken"}
    assert table.layout.condition == "__tidemark_broken IS NULL OR `a` IS NOT NULL OR `b` IS NOT NULL"


def test_json_options_without_an_equivalent_are_refused():
    with pytest.raises(OptionError, match=r"json\.fail-on-missing-field.*reads a missing field as NULL"):
        files("json", "a INT", json__fail_on_missing_field="true")
    with pytest.raises(OptionError, match=r"decimal-as-plain-number.*the same number"):
        files("json", "a INT", json__encode__decimal_as_plain_number="true").require_writable({})
    files("json", "a INT", json__map_null_key__mode="DROP", json__encode__ignore_null_fields="true")


# -- other formats --


@pytest.mark.parametrize(
    ("format_name", "options", "expected"),
    [
        ("parquet", {"parquet.compression": "gzip"}, {"parquet.compression": "gzip"}),
        ("parquet", {"parquet.utc-timezone": "true", "parquet.write.int64.timestamp": "true"}, {}),
        ("orc", {"orc.compress": "ZSTD"}, {"orc.compress": "ZSTD"}),
        ("avro", {"avro.codec": "deflate"}, {"compression": "deflate"}),
        ("avro", {"avro.codec": "null"}, {"compression": "uncompressed"}),
    ],
)
def test_a_format_with_types_is_sparks(format_name, options, expected):
    table = file_table(
        "t", {"path": "/d", "format": format_name, **options}, (FileColumn(name="a", spark_type="INT"),), ()
    )
    assert (table.layout.spark_format, table.schema) == (format_name, "`a` INT")
    assert table.layout.write_options == expected
    assert (values(table), written(table)) == (["`a`"], ["`a`"])


@pytest.mark.parametrize(
    ("format_name", "option", "value", "message"),
    [
        ("parquet", "parquet.utc-timezone", "false", "keeps a timestamp as it is"),
        ("parquet", "parquet.timestamp.time.unit", "nanos", "Spark writes microseconds"),
        ("avro", "avro.encoding", "json", "files of Avro are binary"),
        ("avro", "avro.timestamp_mapping.legacy", "true", "would be stored as an instant"),
        ("raw", "raw.charset", "UTF-16", "read as UTF-8"),
    ],
)
def test_a_format_refuses_what_spark_does_in_another_way(format_name, option, value, message):
    column = FileColumn(name="a", spark_type="STRING")
    with pytest.raises(OptionError, match=message):
        file_table("t", {"path": "/d", "format": format_name, option: value}, (column,), ())


def test_a_line_of_raw_is_text_or_bytes():
    assert files("raw", "a STRING").layout.spark_format == "text"
    assert (values(files("raw", "a BINARY")), written(files("raw", "a BINARY"))) == (
        ["CAST(`a` AS BINARY)"],
        ["CAST(`a` AS STRING)"],
    )
    with pytest.raises(SchemaError, match="one column"):
        files("raw", "a STRING", "b STRING")
    with pytest.raises(SchemaError, match="STRING or BYTES"):
        files("raw", "a INT")


# -- directories --


def test_partition_keys_are_texts_behind_the_columns_of_the_files():
    table = files("parquet", "dt STRING", "a INT", "n INT", keys=("dt", "n"))
    assert table.schema == "`a` INT, `dt` STRING, `n` STRING"
    assert [each.name for each in table.partition_keys] == ["dt", "n"]
    assert [each.name for each in table.layout.columns] == ["a"]


def test_a_raw_line_may_be_in_a_directory():
    assert files("raw", "a STRING", "dt STRING", keys=("dt",)).schema == "`a` STRING, `dt` STRING"
