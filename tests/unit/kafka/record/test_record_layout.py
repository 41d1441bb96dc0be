"""Options to the layout of records: which column comes from where, and which options do not fit together."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError, SchemaError
from datasources.formats.api.error_policy import OnError
from datasources.formats.format_table import FORMATS
from datasources.kafka.record.record_layout import RecordLayout
from tests.support.kafka.kafka_records import source_of

DDL = "id BIGINT, region STRING, price DOUBLE"


def layout(**options) -> RecordLayout:
    return source_of(**options).factory.layout


@pytest.mark.parametrize("name", ["format", "value__format"])
def test_the_value_holds_all_columns_by_default(name):
    found = layout(schema=DDL, **{name: "json"})
    assert found == RecordLayout(value_format=FORMATS["json"], value_columns=("id", "region", "price"))


def test_key_columns_are_in_the_value_too_or_not():
    options = {"format": "json", "schema": DDL, "key__format": "json", "key__fields": "region; id"}
    both = layout(**options)
    assert (both.key_format, both.key_columns) == (FORMATS["json"], (("region", "region"), ("id", "id")))
    assert (both.value_columns, both.only_in_key) == (("id", "region", "price"), ())
    apart = layout(**options, value__fields_include="EXCEPT_KEY")
    assert (apart.value_columns, apart.only_in_key) == (("price",), ("region", "id"))


def test_a_prefix_stands_in_the_schema_and_not_in_the_key():
    options = {"key__format": "json", "key__fields": "k_id;k_at", "key__fields_prefix": "k_", "format": "json"}
    found = layout(schema="k_id INT, id INT, k_at INT", value__fields_include="EXCEPT_KEY", **options)
    assert found.key_columns == (("k_id", "id"), ("k_at", "at"))
    assert found.value_columns == ("id",)


def test_an_upsert_table_reads_its_primary_key_from_the_key():
    found = layout(format="json", schema=DDL, scan__upsert="true", key__format="json", primary_key="id;region")
    assert found.is_upsert
    assert found.key_columns == (("id", "id"), ("region", "region"))


def test_raw_columns_are_fixed_unless_there_is_a_schema():
    assert layout().raw_columns == ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")
    assert layout(includeHeaders="true").raw_columns[-1] == "headers"
    one = layout(schema="line STRING", format="raw")
    assert (one.value_format, one.value_columns, one.raw_columns) == (FORMATS["raw"], ("line",), ())
    headed = layout(schema="value BINARY, offset BIGINT", includeHeaders="true")
    assert headed.raw_columns == ("value", "offset", "headers")
    some = layout(schema="value BINARY, offset BIGINT")
    assert (some.value_columns, some.raw_columns) == ((), ("value", "offset"))


def test_debezium_may_have_a_schema_around_its_events_under_two_names():
    options = {"format": "debezium-json", "schema": DDL}
    given = (("schema-include", True),)
    assert layout(**options).value_options == ()
    assert layout(**options, debezium_json__schema_include="true").value_options == given
    as_value = layout(schema=DDL, value__format="debezium-json", value__debezium_json__schema_include="true")
    assert as_value.value_options == given


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, OnError.FAIL),
        ({"debezium_json__ignore_parse_errors": "true"}, OnError.SKIP),
        ({"debezium_json__ignore_parse_errors": "true", "format__on_error": "skip"}, OnError.SKIP),
        ({"debezium_json__ignore_parse_errors": "false"}, OnError.FAIL),
        ({"format__on_error": "null"}, OnError.NULL),
    ],
)
def test_flinks_option_to_skip_bad_events_equals_ours(given, expected):
    assert source_of(format="debezium-json", schema=DDL, **given).factory.on_error is expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"json__ignore_parse_errors": "true"}, OnError.SKIP),
        ({"value__json__ignore_parse_errors": "true", "key__json__ignore_parse_errors": "true"}, OnError.SKIP),
        ({"json__ignore_parse_errors": "false", "format__on_error": "fail"}, OnError.FAIL),
        ({"json__fail_on_missing_field": "false", "json__timestamp_format__standard": "ISO-8601"}, OnError.FAIL),
    ],
)
def test_a_json_table_of_flinks_keeps_its_options(given, expected):
    keys = {"key__format": "json", "key__fields": "id"}
    assert source_of(format="json", schema=DDL, **keys, **given).factory.on_error is expected


JSON = {"format": "json", "schema": DDL}
UPSERT = {**JSON, "scan__upsert": "true", "primary_key": "id", "key__format": "json"}
DEBEZIUM = {"format": "debezium-json", "schema": DDL}


def without(options, *names):
    return {key: value for key, value in options.items() if key not in names}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"format": "jsn"}, "there is no such format; did you mean 'json'\\? Formats here: 'raw', 'json', "),
        ({"format": "orc"}, "there is no such format. Formats here: 'raw'"),
        ({"value__format": "debezium"}, "did you mean 'debezium-json'"),
        ({**JSON, "key__format": "debezium-json"}, "no such format. Formats here: 'raw', 'json'"),
        ({**JSON, "value__format": "json"}, "'format' and 'value.format' mean the same"),
        ({"format": "json"}, "'format' = 'json' needs 'schema'"),
        ({"format": "debezium-json"}, "'format' = 'debezium-json' needs 'schema'"),
        (
            {"format": "json", "schema": "id INT, Headers INT", "includeHeaders": "true"},
            "adds a column 'headers', and the schema has 'Headers' already.*header-list",
        ),
        ({"key__format": "json", "key__fields": "id"}, "'key.format' needs 'schema': raw columns are fixed"),
        ({"scan__upsert": "true"}, "'scan.upsert' needs 'schema'"),
        ({**JSON, "key__fields": "id"}, "'key.fields' needs 'key.format'"),
        ({**JSON, "key__fields_prefix": "k_"}, "'key.fields-prefix' needs 'key.format'"),
        ({**JSON, "value__fields_include": "EXCEPT_KEY"}, "'value.fields-include' needs 'key.format'"),
        ({**JSON, "key__format": "json"}, "'key.format' = 'json' needs 'key.fields'"),
        ({**JSON, "key__format": "json", "key__fields": "; "}, "'key.fields' = '; ': write names of columns"),
        ({**JSON, "key__format": "json", "key__fields": "id;id"}, "each once"),
        (
            {**JSON, "key__format": "json", "key__fields": "regoin"},
            "'regoin', which is no column of the schema. Did you mean 'region'\\? Columns: 'id', 'region', 'price'",
        ),
        ({**JSON, "key__format": "raw", "key__fields": "id;region"}, "gives one column.*'id', 'region'"),
        (
            {**JSON, "key__format": "json", "key__fields": "id", "key__fields_prefix": "i"},
            "'key.fields-prefix' needs 'value.fields-include' = 'EXCEPT_KEY'",
        ),
        (
            {**JSON, "key__format": "json", "key__fields": "id", "key__fields_prefix": "k_"},
            "the key column 'id' does not begin with it. Rename the column to 'k_id'",
        ),
        (
            {
                **JSON,
                "key__format": "json",
                "key__fields": "id;region;price",
                "value__fields_include": "EXCEPT_KEY",
            },
            "leaves no column for the value",
        ),
        ({**JSON, "primary_key": "id"}, "'primary-key' has no effect without 'scan.upsert'"),
        (without(UPSERT, "primary_key"), "'key.format' = 'json' needs 'primary-key'"),
        (without(UPSERT, "key__format"), "'scan.upsert' needs 'key.format'"),
        ({**UPSERT, "key__fields": "region"}, "primary key column 'id' is not among 'key.fields' \\('region'\\)"),
        ({**UPSERT, "key__fields": "region;id"}, "key column 'region' is not in the primary key \\('id'\\)"),
        ({**UPSERT, "primary_key": "idd"}, "'primary-key' names 'idd'.*Did you mean 'id'"),
        ({**UPSERT, "format": "debezium-json"}, "cannot be combined with 'format' = 'debezium-json'"),
        ({**JSON, "debezium_json__schema_include": "true"}, "has no effect without 'format' = 'debezium-json'"),
        (
            {**JSON, "value__debezium_json__ignore_parse_errors": "true"},
            "'value.debezium-json.ignore-parse-errors' has no effect without",
        ),
        (
            {**DEBEZIUM, "debezium_json__schema_include": "true", "value__debezium_json__schema_include": "true"},
            "mean the same: set one",
        ),
        (
            {**DEBEZIUM, "debezium_json__ignore_parse_errors": "true", "format__on_error": "null"},
            "'format.on-error' = 'null' contradict each other",
        ),
        (
            {**JSON, "json__ignore_parse_errors": "true", "format__on_error": "fail"},
            "'json.ignore-parse-errors' = 'true' and 'format.on-error' = 'fail' contradict each other",
        ),
        (
            {**JSON, "json__ignore_parse_errors": "true", "value__json__ignore_parse_errors": "false"},
            "'json.ignore-parse-errors' = 'true' and 'value.json.ignore-parse-errors' = 'false' contradict",
        ),
        (
            {**JSON, "json__ignore_parse_errors": "true", "value__json__ignore_parse_errors": "true"},
            "'json.ignore-parse-errors' and 'value.json.ignore-parse-errors' mean the same: set one",
        ),
        ({**DEBEZIUM, "json__ignore_parse_errors": "true"}, "has no effect without 'format' = 'json'"),
        ({**JSON, "key__json__ignore_parse_errors": "true"}, "has no effect without 'key.format' = 'json'"),
        (
            {**JSON, "json__fail_on_missing_field": "true"},
            "'json.fail-on-missing-field' = 'true' is not supported: declare the column NOT NULL",
        ),
        (
            {**JSON, "json__timestamp_format__standard": "ISO"},
            "'json.timestamp-format.standard' = 'ISO': use one of 'SQL', 'ISO-8601'",
        ),
    ],
)
def test_incompatible_options_are_rejected_with_a_hint(options, reason):
    with pytest.raises(OptionError, match=reason):
        source_of(**options)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"schema": DDL}, "the format 'raw' gives one column, which holds the value, but there are 3: 'id', 'region'"),
        ({"schema": "value STRING, offset BIGINT"}, "the raw column 'value' is BINARY, not STRING"),
        ({"schema": "t TIMESTAMP"}, "the format 'raw' has no TIMESTAMP"),
        ({**JSON, "schema": "id DATE", "key__format": "raw", "key__fields": "id"}, "'raw' has no DATE"),
        ({**JSON, "schema": "m MAP<INT, INT>"}, "column 'm'.*MAP<STRING"),
    ],
)
def test_columns_that_a_format_cannot_have_are_refused(options, reason):
    with pytest.raises(SchemaError, match=reason):
        source_of(**options)


def test_metadata_of_debezium_needs_debezium():
    metadata = {"db": "value.source.database"}
    assert source_of(metadata, **DEBEZIUM).schema.names == ["id", "region", "price", "db"]
    with pytest.raises(OptionError, match=r"'db': the key 'value\.source\.database' needs 'format' = 'debezium-json'"):
        source_of(metadata, **JSON)
