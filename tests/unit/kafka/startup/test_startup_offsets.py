"""Where to begin and where to end, in Spark's words and in Flink's."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError
from datasources.kafka.startup.kafka_options import KafkaOptions
from datasources.kafka.startup.startup_offsets import (
    AtEarliest,
    AtGroup,
    AtLatest,
    AtPositions,
    AtTimestamp,
    ending,
    starting,
)
from datasources.options import lower_keys, parse_group

MODE, MILLIS, SPECIFIC = "scan.startup.mode", "scan.startup.timestamp-millis", "scan.startup.specific-offsets"
BOUND, BOUND_MILLIS, BOUND_SPECIFIC = (
    "scan.bounded.mode",
    "scan.bounded.timestamp-millis",
    "scan.bounded.specific-offsets",
)
POSITIONS = '{"orders": {"0": 23, "1": -2}}'
TIMES = '{"orders": {"0": 1700000000000}}'


def options(given):
    return parse_group(KafkaOptions, lower_keys(given))


def start_error(given, *, is_batch=False):
    with pytest.raises(OptionError) as caught:
        starting(options(given), is_batch=is_batch)
    return caught.value.message


def end_error(given, *, is_batch=True):
    with pytest.raises(OptionError) as caught:
        ending(options(given), is_batch=is_batch)
    return caught.value.message


# -- where to begin --


def test_streams_begin_at_the_end_and_batch_reads_at_the_beginning():
    assert starting(options({}), is_batch=False) == AtLatest()
    assert starting(options({}), is_batch=True) == AtEarliest()


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"startingOffsets": "earliest"}, AtEarliest()),
        ({"startingOffsets": " Latest "}, AtLatest()),
        ({"startingOffsets": POSITIONS}, AtPositions(((("orders", 0), 23), (("orders", 1), -2)))),
        ({"startingOffsets": '{"a": {"0": -1}}'}, AtPositions(((("a", 0), -1),))),
        ({"startingTimestamp": "17"}, AtTimestamp(17, or_latest=False)),
        ({"startingOffsetsByTimestamp": TIMES}, AtTimestamp(((("orders", 0), 1_700_000_000_000),), or_latest=False)),
        (
            {"startingTimestamp": "17", "startingOffsetsByTimestampStrategy": "latest"},
            AtTimestamp(17, or_latest=True),
        ),
        ({MODE: "earliest-offset"}, AtEarliest()),
        ({MODE: "latest-offset"}, AtLatest()),
        ({MODE: "group-offsets"}, AtGroup()),
        ({MODE: "timestamp", MILLIS: "17"}, AtTimestamp(17, or_latest=True)),
        (
            {MODE: "specific-offsets", SPECIFIC: "partition:0,offset:42; partition:1,offset:300;"},
            AtPositions(((("*", 0), 42), (("*", 1), 300))),
        ),
    ],
)
def test_where_a_stream_begins(given, where):
    assert starting(options(given), is_batch=False) == where


def test_among_spark_s_own_the_precedence_is_spark_s():
    both = {"startingTimestamp": "17", "startingOffsetsByTimestamp": TIMES, "startingOffsets": "earliest"}
    assert starting(options(both), is_batch=False) == AtTimestamp(17, or_latest=False)
    del both["startingTimestamp"]
    assert isinstance(starting(options(both), is_batch=False), AtTimestamp)


def test_a_batch_read_from_the_latest_offset_is_an_error():
    assert "reads nothing" in start_error({"startingOffsets": "latest"}, is_batch=True)


@pytest.mark.parametrize("key", ["startingTimestamp", "startingOffsetsByTimestamp", "startingOffsets"])
@pytest.mark.parametrize("mode", ["earliest-offset", "latest-offset"])
def test_flinks_and_sparks_options_together_are_an_error(key, mode):
    value = {"startingTimestamp": "17", "startingOffsetsByTimestamp": TIMES, "startingOffsets": "earliest"}[key]
    assert (
        start_error({MODE: mode, key: value})
        == f"options 'scan.startup.mode' and '{key}' mean the same: set one of them."
    )


def test_a_mode_needs_its_detail():
    assert start_error({MODE: "timestamp"}) == f"scan.startup.mode = 'timestamp' needs '{MILLIS}'."
    assert "write 'partition:0,offset:42;partition:1,offset:300'" in start_error({MODE: "specific-offsets"})


@pytest.mark.parametrize(
    ("given", "key", "mode"),
    [
        ({MILLIS: "17"}, MILLIS, "timestamp"),
        ({MODE: "earliest-offset", MILLIS: "17"}, MILLIS, "timestamp"),
        ({"startingOffsets": "earliest", MILLIS: "17"}, MILLIS, "timestamp"),
        ({SPECIFIC: "partition:0,offset:1"}, SPECIFIC, "specific-offsets"),
        ({MODE: "timestamp", MILLIS: "1", SPECIFIC: "partition:0,offset:1"}, SPECIFIC, "specific-offsets"),
    ],
)
def test_a_detail_without_its_mode_is_never_ignored(given, key, mode):
    assert (
        start_error(given)
        == f"option '{key}' has no effect without 'scan.startup.mode' = '{mode}': set both or neither."
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "newest",
        "5",
        "[]",
        "null",
        "{}",
        '{"orders": {}}',
        '{"orders": [0]}',
        '{"orders": 5}',
        '{"orders": {"0": "23"}}',
        '{"orders": {"0": 2.5}}',
        '{"orders": {"0": true}}',
        '{"orders": {"0": null}}',
        '{"orders": {"0": -3}}',
        '{"orders": {"0": 9223372036854775808}}',
        '{"orders": {"zero": 1}}',
        '{"orders": {"-1": 1}}',
        '{"orders": {" 1": 1}}',
        '{"orders": {"1_0": 1}}',
        '{"orders": {"٣": 1}}',
        '{"orders": {"99999999999": 1}}',
        '{"orders": {"0": 1}, "returns": {"0": -9}}',
        "{" * 10,
        '{"a":' * 100_000,
    ],
)
def test_malformed_positions_are_an_error_that_shows_the_form(text):
    expected = f'option \'startingOffsets\' = \'{text}\': write JSON such as {{"orders": {{"0": 23, "1": 345}}}}.'
    assert start_error({"startingOffsets": text}) == expected


@pytest.mark.parametrize("key", ["startingOffsetsByTimestamp", "endingOffsetsByTimestamp"])
@pytest.mark.parametrize("value", ['{"orders": {"0": -1}}', "latest", '{"orders": {"0": "now"}}'])
def test_malformed_times_are_an_error(key, value):
    found = start_error({key: value}) if key.startswith("starting") else end_error({key: value})
    assert found.startswith(f"option '{key}' = '{value}': write JSON such as")


@pytest.mark.parametrize("key", ["startingTimestamp", MILLIS, "endingTimestamp", BOUND_MILLIS])
@pytest.mark.parametrize("value", ["-1", "yesterday", "1.5"])
def test_a_time_is_a_number_of_milliseconds_since_the_epoch(key, value):
    # -1 and -2 would mean latest and earliest to the broker.
    with pytest.raises(OptionError, match=f"option '{key}' = '{value}': "):
        options({key: value})


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        "partition:0",
        "partition:0,offset:-1",
        "partition:a,offset:1",
        "0:42",
        "partition:0,offset:1,x",
        "partition:٣,offset:1",
    ],
)
def test_malformed_specific_offsets_are_an_error_that_shows_the_form(text):
    expected = f"option '{SPECIFIC}' = '{text}': write 'partition:0,offset:42;partition:1,offset:300'."
    assert start_error({MODE: "specific-offsets", SPECIFIC: text}) == expected
    expected = expected.replace("startup", "bounded")
    assert end_error({BOUND: "specific-offsets", BOUND_SPECIFIC: text}) == expected


def test_an_unknown_mode_is_refused_with_the_modes():
    with pytest.raises(OptionError) as caught:
        options({MODE: "newest"})
    for mode in ("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets"):
        assert f"'{mode}'" in caught.value.message


# -- where to end --


def test_streams_never_end_and_batch_reads_end_at_the_end():
    assert ending(options({}), is_batch=False) is None
    assert ending(options({}), is_batch=True) == AtLatest()


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"endingOffsets": "latest"}, AtLatest()),
        ({"endingOffsets": '{"a": {"0": 5, "1": -1}}'}, AtPositions(((("a", 0), 5), (("a", 1), -1)))),
        ({"endingTimestamp": "17"}, AtTimestamp(17, or_latest=True)),
        ({"endingOffsetsByTimestamp": '{"a": {"0": 5}}'}, AtTimestamp(((("a", 0), 5),), or_latest=True)),
        ({"endingTimestamp": "17", "endingOffsets": "latest"}, AtTimestamp(17, or_latest=True)),
    ],
)
def test_where_a_batch_read_ends(given, where):
    assert ending(options(given), is_batch=True) == where


@pytest.mark.parametrize("is_batch", [True, False])
@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({BOUND: "latest-offset"}, AtLatest()),
        ({BOUND: "timestamp", BOUND_MILLIS: "17"}, AtTimestamp(17, or_latest=True)),
        ({BOUND: "specific-offsets", BOUND_SPECIFIC: "partition:3,offset:9"}, AtPositions(((("*", 3), 9),))),
    ],
)
def test_a_bounded_mode_ends_streams_and_batch_reads(given, where, is_batch):
    assert ending(options(given), is_batch=is_batch) == where


@pytest.mark.parametrize(
    ("key", "value"),
    [("endingOffsets", "latest"), ("endingTimestamp", "17"), ("endingOffsetsByTimestamp", '{"a": {"0": 5}}')],
)
def test_a_batch_end_in_a_stream_is_an_error_with_a_hint(key, value):
    message = end_error({key: value}, is_batch=False)
    assert message == f"option '{key}' ends batch reads only. To end a stream for good use scan.bounded.mode."
    message = end_error({key: value, BOUND: "latest-offset"})
    assert message == f"options 'scan.bounded.mode' and '{key}' mean the same: set one of them."


@pytest.mark.parametrize("value", ["earliest", '{"a": {"0": 5, "1": -2}}'])
def test_a_read_to_the_earliest_offset_is_an_error(value):
    assert "earliest" in end_error({"endingOffsets": value})


def test_a_bounded_mode_needs_its_detail():
    assert end_error({BOUND: "timestamp"}) == f"scan.bounded.mode = 'timestamp' needs '{BOUND_MILLIS}'."


@pytest.mark.parametrize(
    ("given", "key", "mode"),
    [
        ({BOUND_MILLIS: "17"}, BOUND_MILLIS, "timestamp"),
        ({BOUND: "latest-offset", BOUND_MILLIS: "17"}, BOUND_MILLIS, "timestamp"),
        ({BOUND_SPECIFIC: "partition:0,offset:1"}, BOUND_SPECIFIC, "specific-offsets"),
    ],
)
def test_an_end_option_without_its_mode_is_not_ignored(given, key, mode):
    assert (
        end_error(given) == f"option '{key}' has no effect without 'scan.bounded.mode' = '{mode}': set both or neither."
    )
