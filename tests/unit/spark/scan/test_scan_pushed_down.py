"""What a planner pushes into a scan by options: a computed rowtime, columns, a filter, metadata, the clock alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
import pytest

from datasources.errors import ExpressionError, OptionError, SchemaError
from datasources.formats.schema_text.ddl import parse_schema
from datasources.scripted.source import ScriptedSource
from datasources.source.api.abilities import (
    ProcessingTime,
    SupportsColumnPruning,
    SupportsReadingMetadata,
    SupportsSourceWatermark,
    SupportsWatermarkPushDown,
)
from datasources.source.api.connector import ScanSource
from datasources.spark.scan.scan import build_scan
from datasources.spark.scan.schema import spark_schema, time_attribute_of

WATERMARK = {"watermark.for": "ts", "watermark.as": "ts - INTERVAL '5' SECOND"}
COMPUTED = {
    "watermark.for": "d",
    "watermark.rowtime": "ts + INTERVAL '5' SECOND",
    "watermark.as": "ts + INTERVAL '5' SECOND - INTERVAL '2' SECOND",
}
CLOCK = {"watermark.for": "pt", "watermark.processing-time": "always"}


@pytest.fixture
def scan(tmp_path):
    plain = {
        "path": str(tmp_path),
        "schema": "id BIGINT, ts TIMESTAMP, local TIMESTAMP_NTZ, `order time` TIMESTAMP, s STRING",
        "scan.session.time-zone": "UTC",
        "scan.session.ansi": "true",
    }

    def build(connector=ScriptedSource, **options):
        return build_scan(connector, {**plain, **options}, {})

    return build


def refusal(kind, build):
    with pytest.raises(kind) as caught:
        build()
    return caught.value.message


def delivered(scan):
    return spark_schema(scan).names


# -- watermark.rowtime --


def test_a_computed_rowtime_names_an_attribute_that_is_no_column(scan):
    built = scan(**COMPUTED)
    strategy = built.source.strategy
    assert (strategy.attribute_name, strategy.rowtime.text) == ("d", "ts + INTERVAL '5' SECOND")
    assert strategy.columns == {"ts"}
    attribute = time_attribute_of(spark_schema(built))
    assert (attribute.path, attribute.delay_ms, attribute.is_local, attribute.time) == ("d", 2_000, False, "rowtime")


def test_only_a_computed_rowtime_changes_the_text_of_the_identity(scan):
    zone = "on-periodic in UTC, ansi true"
    assert scan(**WATERMARK).identity.strategy == f"ts AS ts - INTERVAL '5' SECOND, {zone}"
    assert scan(**COMPUTED).identity.strategy == (
        f"d = ts + INTERVAL '5' SECOND AS ts + INTERVAL '5' SECOND - INTERVAL '2' SECOND, {zone}"
    )


@pytest.mark.parametrize(
    ("rowtime", "watermark", "delay_ms"),
    [
        ("ts + INTERVAL '5' SECOND", "ts + INTERVAL '5' SECOND", 0),
        ("ts + INTERVAL '5' SECOND", "ts", 5_000),
        ("ts - INTERVAL '5' SECOND", "ts", None),  # the watermark is ahead of the rowtime
        ("to_timestamp(s)", "to_timestamp(s) - INTERVAL '3' SECOND", 3_000),
        ("to_timestamp(s)", "ts - INTERVAL '3' SECOND", None),
        ("timestamp_millis(id)", "id - 1000", None),
    ],
)
def test_the_delay_is_the_constant_between_the_watermark_and_the_computed_rowtime(scan, rowtime, watermark, delay_ms):
    options = {"watermark.for": "d", "watermark.rowtime": rowtime, "watermark.as": watermark}
    assert scan(**options).delay_ms == delay_ms


def test_a_computed_local_rowtime_is_local(scan):
    options = {**COMPUTED, "watermark.rowtime": "local + INTERVAL '1' SECOND", "watermark.as": "local"}
    built = scan(**options)
    assert not built.is_instant
    assert time_attribute_of(spark_schema(built)).is_local


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"watermark.rowtime": "id"},
            "watermark.rowtime: the time attribute d is BIGINT, and has to be TIMESTAMP or TIMESTAMP_NTZ.",
        ),
        (
            {"watermark.rowtime": "local"},
            "watermark.as: the watermark is TIMESTAMP, and has to be TIMESTAMP_NTZ, as local is, or BIGINT.",
        ),
        ({"watermark.rowtime": "tss"}, "watermark.rowtime: the column tss does not exist."),
        ({"watermark.rowtime": "now()"}, "watermark.rowtime: now does not depend on the record alone"),
    ],
)
def test_a_computed_rowtime_that_cannot_be_one_is_refused(scan, changes, message):
    assert refusal(ExpressionError, lambda: scan(**{**COMPUTED, **changes})).startswith(message)


def test_a_computed_rowtime_needs_its_attribute(scan):
    message = refusal(OptionError, lambda: scan(**{"watermark.rowtime": "ts"}))
    assert (
        message
        == "option 'watermark.rowtime' has no effect without a watermark: set 'watermark.for' and 'watermark.as'."
    )


# -- scan.columns --


def test_only_the_named_columns_are_delivered_in_the_order_of_the_schema(scan):
    assert delivered(scan(**{"scan.columns": "`order time`, ID"})) == ["id", "order time"]
    assert delivered(scan(**WATERMARK, **{"scan.columns": "s"})) == ["s", "_watermark", "_heartbeat"]
    assert delivered(scan(**WATERMARK, **{"scan.columns": ""})) == ["_watermark", "_heartbeat"]


def test_what_the_strategy_and_the_filter_need_is_decoded_too(scan):
    built = scan(**WATERMARK, **{"scan.columns": "s", "scan.filter": "id > 3"})
    assert built.source.factory.columns.names == ["id", "ts", "s"]
    assert scan(**WATERMARK, **{"scan.columns": ""}).source.factory.columns.names == ["ts"]
    assert scan(**WATERMARK).source.factory.columns is None


def test_a_changed_list_of_columns_or_filter_is_the_same_scan_to_a_checkpoint(scan):
    identities = {
        scan(**WATERMARK, **more).identity
        for more in ({}, {"scan.columns": "s"}, {"scan.columns": "id,s", "scan.filter": "id > 3"})
    }
    assert len(identities) == 1


NESTED = "id BIGINT, s STRUCT<x: INT, At: TIMESTAMP, t: STRUCT<y: STRING, `a.b`: INT>>, ts TIMESTAMP"


def test_of_a_struct_only_the_named_fields_are_delivered_and_decoded_with_those_that_expressions_read(scan):
    watermark = {"watermark.for": "s.At", "watermark.as": "s.At - INTERVAL '5' SECOND"}
    built = scan(**watermark, schema=NESTED, **{"scan.columns": "S.T.`a.b`, ID", "scan.filter": "s.x > 3"})
    fields = spark_schema(built).fields[:2]
    assert [each.dataType.simpleString() for each in fields] == ["bigint", "struct<t:struct<a.b:int>>"]
    decoded = built.source.factory.columns
    assert decoded == parse_schema("id BIGINT, s STRUCT<x: INT, At: TIMESTAMP, t: STRUCT<`a.b`: INT>>")
    assert built.identity == scan(**watermark, schema=NESTED).identity


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s.y", "option 'scan.columns': the STRUCT 's' has no field 'y'. Its fields are x, At, t."),
        ("s.t.z", "option 'scan.columns': the STRUCT 's.t' has no field 'z'. Its fields are y, a.b."),
        ("s.x.y", "option 'scan.columns': 's.x' is no STRUCT, so it has no field 'y'."),
        ("id.x", "option 'scan.columns': 'id' is no STRUCT, so it has no field 'x'."),
    ],
)
def test_a_field_that_does_not_exist_is_refused(scan, text, message):
    assert refusal(OptionError, lambda: scan(schema=NESTED, **{"scan.columns": text})) == message


def test_a_column_that_does_not_exist_is_refused_with_near_matches(scan):
    message = refusal(OptionError, lambda: scan(**{"scan.columns": "id, locl"}))
    assert message == (
        "option 'scan.columns': there is no column 'locl'. Did you mean 'local'? The columns are id, ts, local, order "
        "time, s."
    )


def test_a_scan_without_any_column_needs_a_watermark(scan):
    message = refusal(OptionError, lambda: scan(**{"scan.columns": " "}))
    assert message == "option 'scan.columns' is empty: name at least one column, or leave the option out."


@dataclass(frozen=True, kw_only=True)
class Stubborn(ScanSource):
    """A source without abilities around a scripted one."""

    format_name: ClassVar[str] = "stubborn"
    option_groups = ScriptedSource.option_groups
    inner: ScriptedSource

    @classmethod
    def create(cls, options, session) -> Stubborn:
        return cls(inner=ScriptedSource.create(options, session))

    schema = property(lambda self: self.inner.schema)
    subscription = property(lambda self: self.inner.subscription)

    def enumerator(self, *, is_batch):
        return self.inner.enumerator(is_batch=is_batch)

    def reader_factory(self):
        return self.inner.reader_factory()


def test_a_source_that_cannot_prune_decodes_all_and_delivers_what_was_asked_for(scan):
    built = scan(Stubborn, **WATERMARK, **{"scan.columns": "s"})
    assert built.source.reader_factory().columns is None
    assert delivered(built) == ["s", "_watermark", "_heartbeat"]


def test_abilities_are_asked_of_the_class():
    able = [
        a
        for a in (SupportsColumnPruning, SupportsReadingMetadata, SupportsSourceWatermark)
        if issubclass(ScriptedSource, a)
    ]
    assert able == [SupportsColumnPruning, SupportsReadingMetadata]
    assert not issubclass(Stubborn, SupportsColumnPruning)
    assert not issubclass(Stubborn, SupportsReadingMetadata)
    assert issubclass(Stubborn, SupportsWatermarkPushDown)


# -- scan.filter --


def test_a_filter_is_compiled_over_all_columns_of_the_scan(scan):
    built = scan(
        **WATERMARK, **{"scan.columns": "s", "scan.filter": "id > 3 AND part = 'a'", "scan.metadata": "part FROM split"}
    )
    assert built.condition.text == "id > 3 AND part = 'a'"
    assert built.condition.paths == (("id",), ("part",))
    assert scan(**WATERMARK).condition is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id + 1", "scan.filter: the filter is BIGINT, and has to be BOOLEAN."),
        ("NULL", "scan.filter: the filter is VOID, and has to be BOOLEAN."),
        ("idd > 1", "scan.filter: the column idd does not exist."),
        ("rand() < 0.5", "scan.filter: rand does not depend on the record alone"),
        ("frobnicate(id)", "scan.filter: the function frobnicate is not evaluated in the reader."),
    ],
)
def test_a_filter_that_cannot_be_evaluated_is_refused(scan, text, message):
    assert refusal(ExpressionError, lambda: scan(**{"scan.filter": text})).startswith(message)


# -- scan.metadata --


def test_metadata_columns_follow_the_schema_in_their_order_and_types(scan):
    built = scan(**WATERMARK, **{"scan.metadata": "at FROM position, split"})
    fields = spark_schema(built).fields[5:7]
    assert [(f.name, f.dataType.simpleString(), f.nullable) for f in fields] == [
        ("at", "bigint", True),
        ("split", "string", True),
    ]
    assert built.identity.schema.endswith("at BIGINT, split STRING")
    assert scan(**WATERMARK).identity.schema.endswith("s STRING")


def test_expressions_may_use_metadata_columns(scan):
    options = {"watermark.for": "d", "watermark.rowtime": "timestamp_seconds(at)", "watermark.as": "at * 1000"}
    built = scan(**options, **{"scan.metadata": "at FROM position", "scan.columns": "id"})
    assert built.source.factory.columns.names == ["id", "at"]


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (
            OptionError,
            "p FROM positon",
            "option 'scan.metadata': tidemark-scripted has no metadata key 'positon'. Did you mean 'position'? The keys are position, split.",
        ),
        (
            SchemaError,
            "ID FROM position",
            "option 'scan.metadata': there is a column 'ID' already; choose another name.",
        ),
        (
            SchemaError,
            "_late FROM position",
            "option 'scan.metadata': '_late' is a name that Tidemark uses itself; choose another one.",
        ),
    ],
)
def test_metadata_that_cannot_be_a_column_is_refused(scan, kind, text, message):
    assert refusal(kind, lambda: scan(**{"scan.metadata": text})) == message


def test_metadata_of_a_source_without_any_is_an_error(scan):
    message = refusal(OptionError, lambda: scan(Stubborn, **{"scan.metadata": "a FROM b"}))
    assert message == "option 'scan.metadata': stubborn has no metadata columns; leave the option out."


# -- the clock alone --


def test_processing_time_needs_neither_a_column_nor_an_expression(scan):
    built = scan(**CLOCK)
    strategy = built.source.strategy
    assert (strategy.attribute_name, strategy.columns) == ("pt", frozenset())
    assert built.planner_settings().watermark.processing_time is ProcessingTime.ALWAYS
    attribute = time_attribute_of(spark_schema(built))
    assert (attribute.path, attribute.delay_ms, attribute.time) == ("pt", 0, "proctime")
    assert built.identity.strategy.startswith("pt AS the clock")


def test_the_clock_alone_gives_no_candidate_and_no_row_without_a_rowtime(scan):
    strategy = scan(**CLOCK).source.strategy
    batch = pa.record_batch({"id": pa.array([1, 2])})
    values, valid = strategy.rowtime.evaluator().event_time_us(batch)
    assert (values.tolist(), valid) == ([0, 0], None)
    _, valid = strategy.watermark.evaluator().event_time_us(batch)
    assert valid.tolist() == [False, False]


@pytest.mark.parametrize(
    "more",
    [
        {"watermark.null-rowtime": "drop"},
        {"watermark.late-rows": "drop"},
        {"watermark.rowtime": "ts"},
        {"watermark.dedup-horizon": "1 s"},
        {"scan.watermark.alignment.group": "g", "scan.watermark.alignment.max-drift": "1 s"},
    ],
)
def test_what_is_about_event_time_needs_an_expression(scan, more):
    message = refusal(OptionError, lambda: scan(**CLOCK, **more))
    assert (
        message == f"option '{next(iter(more))}' needs 'watermark.as' beside it: without it no row has an event time."
    )


@pytest.mark.parametrize("from_when", ["never", "after-backlog"])
def test_only_a_source_that_is_always_in_processing_time_needs_no_expression(scan, from_when):
    message = refusal(OptionError, lambda: scan(**{**CLOCK, "watermark.processing-time": from_when}))
    assert message == "option 'watermark.for' needs 'watermark.as' beside it."
