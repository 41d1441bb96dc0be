"""Every option of Spark's own Kafka source: it works here under the same name, or is refused with what to do instead."""

from __future__ import annotations

import re

import pytest

from datasources.errors import OptionError
from datasources.kafka.source import KafkaSource
from datasources.kafka.startup.refused_options import REFUSED
from datasources.mysql.source import MySqlSource
from datasources.source.api.abilities import DelaySettings, DivisionSettings
from datasources.spark.scan.scan import build_scan
from tests.support.project import ROOT

PAGE = ROOT / "docs" / "kafka.md"
BASE = {"kafka.bootstrap.servers": "b:1", "subscribe": "orders"}
DEFAULTS = {"scan.session.time-zone": "UTC", "scan.session.ansi": "true"}
BUILT = {
    "assign": '{"orders":[0]}',
    "subscribe": "orders",
    "subscribePattern": "ord.*",
    "kafka.bootstrap.servers": "b:2",
    "startingTimestamp": "1700000000000",
    "startingOffsetsByTimestamp": '{"orders":{"0":1700000000000}}',
    "startingOffsets": "earliest",
    "startingOffsetsByTimestampStrategy": "latest",
    "endingTimestamp": "1700000000000",
    "endingOffsetsByTimestamp": '{"orders":{"0":1700000000000}}',
    "endingOffsets": "latest",
    "failOnDataLoss": "false",
    "kafkaConsumer.pollTimeoutMs": "1000",
    "fetchOffset.numRetries": "1",
    "fetchOffset.retryIntervalMs": "10",
    "maxOffsetsPerTrigger": "10",
    "minOffsetsPerTrigger": "5",
    "maxTriggerDelay": "30m",
    "groupIdPrefix": "team",
    "kafka.group.id": "team-orders",
    "kafka.isolation.level": "read_committed",
    "includeHeaders": "true",
    "minPartitions": "4",
    "maxRecordsPerPartition": "1000",
}
"""What is built, with a value that is not the default where there is one."""
WITH_OTHERS = {
    "startingOffsetsByTimestampStrategy": {"startingTimestamp": "1700000000000"},
    "maxTriggerDelay": {"minOffsetsPerTrigger": "5"},
}
CLIENT_SETTINGS = (
    "auto.offset.reset",
    "key.deserializer",
    "value.deserializer",
    "key.serializer",
    "value.serializer",
    "enable.auto.commit",
    "interceptor.classes",
)
"""What Spark's guide lists as not settable."""
OF_FLINK = ("commit.offsets.on.checkpoint",)
ALL = (*BUILT, *REFUSED, *OF_FLINK, *(f"kafka.{name}" for name in CLIENT_SETTINGS))


def scan(**given):
    return build_scan(KafkaSource, {**BASE, **given}, DEFAULTS)


def error(**given):
    with pytest.raises(OptionError) as caught:
        scan(**given)
    return caught.value.message


def without_topics(key):
    return {k: v for k, v in BASE.items() if k != "subscribe" or key not in {"assign", "subscribePattern"}}


@pytest.mark.parametrize("key", BUILT)
def test_an_option_that_is_built_changes_the_scan(key):
    base = {**without_topics(key), **WITH_OTHERS.get(key, {})}
    found = build_scan(KafkaSource, {**base, key: BUILT[key]}, DEFAULTS)
    if BUILT[key] not in {"orders", "latest"}:
        other = build_scan(KafkaSource, {**BASE, **WITH_OTHERS.get(key, {})}, DEFAULTS)
        assert found != other, "the option is accepted and has no effect"


@pytest.mark.parametrize("key", REFUSED)
def test_a_bound_in_bytes_is_refused_with_the_one_in_rows(key):
    message = error(**{key: "4"})
    assert message == f"option '{key}' {REFUSED[key]}"
    assert "Set maxOffsetsPerTrigger" in message
    assert error(**{key.lower(): "4"}) == message


@pytest.mark.parametrize("name", CLIENT_SETTINGS)
def test_client_settings_that_spark_refuses_are_refused_here_as_well(name):
    assert f"option 'kafka.{name}' is set by the source:" in error(**{f"kafka.{name}": "x"})


@pytest.mark.parametrize("key", ALL)
def test_the_page_about_moving_from_sparks_source_names_every_option(key):
    assert f"`{key}`" in PAGE.read_text()


def test_the_page_names_no_option_that_does_not_exist():
    rows = re.findall(r"^\| `([^`]+)` \|", PAGE.read_text(), re.MULTILINE)
    assert set(rows) <= set(ALL)


def test_the_refusals_are_of_this_source_only():
    with pytest.raises(OptionError, match="unknown option 'minpartitions' for tidemark-mysql"):
        build_scan(MySqlSource, {"minPartitions": "4"}, DEFAULTS)


@pytest.mark.parametrize(
    ("given", "group"),
    [
        ({}, None),
        ({"groupIdPrefix": "team"}, "team-tidemark"),
        ({"kafka.group.id": "team-orders"}, "team-orders"),
        ({"properties.group.id": "team-orders"}, "team-orders"),
    ],
)
def test_the_consumer_group(given, group):
    assert scan(**given).source.factory.settings.config.get("group.id") == group


@pytest.mark.parametrize("key", ["kafka.group.id", "properties.group.id"])
def test_a_group_and_a_prefix_of_groups_do_not_go_together(key):
    assert error(**{key: "orders", "groupIdPrefix": "team"}) == (
        "options 'kafka.group.id' and 'groupIdPrefix' both name the consumer group: set one of them."
    )


def test_committed_offsets_are_those_of_a_group_that_is_named():
    assert "kafka.group.id" in error(**{"groupIdPrefix": "team", "scan.startup.mode": "group-offsets"})


def test_committing_positions_needs_a_named_group():
    assert "needs 'kafka.group.id'" in error(**{"commit.offsets.on.checkpoint": "true"})
    assert "needs 'kafka.group.id'" in error(**{"commit.offsets.on.checkpoint": "true", "groupIdPrefix": "team"})
    assert not scan(**{"kafka.group.id": "g"}).source.options.commits_offsets
    assert scan(**{"kafka.group.id": "g", "commit.offsets.on.checkpoint": "true"}).source.options.commits_offsets


def test_flinks_spelling_with_a_prefix_names_the_option():
    assert "'commit.offsets.on.checkpoint'" in error(**{"properties.commit.offsets.on.checkpoint": "true"})


WATERMARK = {"watermark.for": "timestamp", "watermark.as": "timestamp"}


@pytest.mark.parametrize(
    ("given", "settings"),
    [
        ({}, None),
        ({"maxOffsetsPerTrigger": "5"}, None),
        ({"minOffsetsPerTrigger": "5"}, DelaySettings(min_rows=5, max_delay_ms=900_000)),
        ({"minOffsetsPerTrigger": "5", "maxTriggerDelay": "90s"}, DelaySettings(min_rows=5, max_delay_ms=90_000)),
        ({"minOffsetsPerTrigger": "5", "maxOffsetsPerTrigger": "5"}, DelaySettings(min_rows=5, max_delay_ms=900_000)),
        ({"minOffsetsPerTrigger": "5", "scan.hold.until": "t"}, DelaySettings(min_rows=5, max_delay_ms=900_000)),
    ],
)
@pytest.mark.parametrize("watermark", [{}, WATERMARK], ids=["plain", "watermark"])
def test_how_long_batches_wait_for_rows(given, settings, watermark):
    assert scan(**given, **watermark).planner_settings().batch_delay == settings


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"minOffsetsPerTrigger": "6", "maxOffsetsPerTrigger": "5"}, "is above 'maxOffsetsPerTrigger' = '5'"),
        ({"minOffsetsPerTrigger": "6", "scan.max-rows-per-batch": "5"}, "Set it to 5 or less."),
        ({"minOffsetsPerTrigger": "0"}, "option 'minOffsetsPerTrigger' = '0'"),
        ({"maxTriggerDelay": "1m"}, "'maxTriggerDelay' has no effect without 'minOffsetsPerTrigger'"),
        ({"minOffsetsPerTrigger": "5", "maxTriggerDelay": "0s"}, "no batch would wait"),
        ({"minOffsetsPerTrigger": "5", "maxTriggerDelay": "soon"}, "option 'maxTriggerDelay' = 'soon'"),
        (
            {
                "minOffsetsPerTrigger": "5",
                "scan.watermark.alignment.group": "g",
                "scan.watermark.alignment.max-drift": "1 min",
                **WATERMARK,
            },
            "does not go with the alignment group 'g'",
        ),
        ({"minOffsetsPerTrigger": "5", "scan.hold.name": "t", **WATERMARK}, "does not go with 'scan.hold.name' = 't'"),
        (
            {"minOffsetsPerTrigger": "5", "watermark.processing-time": "after-backlog", **WATERMARK},
            "does not go with processing time",
        ),
    ],
)
def test_what_waiting_for_rows_does_not_go_with(given, part):
    assert part in error(**given)


DIVIDING = {"minPartitions": DivisionSettings(min_tasks=4), "maxRecordsPerPartition": DivisionSettings(max_rows=4)}
ALIGNED = {"scan.watermark.alignment.group": "g", "scan.watermark.alignment.max-drift": "1 min"}


@pytest.mark.parametrize("key", DIVIDING)
@pytest.mark.parametrize("watermark", [{}, WATERMARK], ids=["plain", "on-periodic"])
def test_ranges_are_divided_where_no_row_depends_on_others(key, watermark):
    assert scan(**{key: "4"}, **watermark).source.division == DIVIDING[key]
    assert scan(**watermark).source.division is None


@pytest.mark.parametrize("key", DIVIDING)
@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({**WATERMARK, "scan.watermark.emit.strategy": "on-event"}, "With 'on-periodic' the option works"),
        ({**WATERMARK, **ALIGNED}, "does not go with the alignment group 'g'"),
        ({"format": "debezium-json", "schema": "id INT"}, "does not go with a changelog"),
        (
            {"format": "json", "schema": "id INT", "key.format": "json", "primary-key": "id", "scan.upsert": "true"},
            "does not go with a changelog",
        ),
    ],
)
def test_ranges_are_not_divided_where_the_order_counts(key, given, part):
    message = error(**{key: "4"}, **given)
    assert message.startswith(f"option '{key}' does not go with")
    assert part in message


@pytest.mark.parametrize("key", DIVIDING)
def test_a_number_of_pieces_is_positive(key):
    assert f"option '{key}' = '0'" in error(**{key: "0"})


def test_an_empty_prefix_is_refused():
    assert "option 'groupIdPrefix' = ''" in error(groupIdPrefix="")


@pytest.mark.parametrize("value", ["READ_COMMITTED", "committed", "", "serializable"])
def test_an_isolation_level_is_one_of_kafkas_two(value):
    """The client takes other spellings; the driver would then ask for the end of another log than tasks read."""
    assert error(**{"kafka.isolation.level": value}) == (
        f"option 'kafka.isolation.level' = '{value}': use one of 'read_uncommitted', 'read_committed'."
    )


@pytest.mark.parametrize(
    ("given", "level"),
    [
        ({}, "read_uncommitted"),
        ({"kafka.isolation.level": "read_uncommitted"}, "read_uncommitted"),
        ({"properties.isolation.level": "read_committed"}, "read_committed"),
    ],
)
def test_the_isolation_level_belongs_to_the_identity(given, level):
    assert scan(**given).identity.isolation == level


def test_other_sources_have_no_isolation_level():
    assert KafkaSource.isolation is not MySqlSource.isolation
