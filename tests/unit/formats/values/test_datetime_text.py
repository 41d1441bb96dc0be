"""The expected values were printed by Spark 4.3.0's `from_json` in zone Europe/Berlin."""

# ruff: noqa: SIM905 - one line for each text would be a page

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from datasources.formats.values.datetime_text import ZoneMissing, read_date, read_local, read_timestamp
from datasources.grammar.timestamp_text import UnreadableText, days_from_civil
from datasources.grammar.zones import FixedOffset, find_zone

BERLIN = find_zone("Europe/Berlin")


def micros(text: str) -> int:
    return (datetime.fromisoformat(text).replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        microseconds=1
    )


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-01-01T00:00:00.123Z", "2026-01-01 00:00:00.123"),
        ("2026-01-01", "2025-12-31 23:00:00"),
        ("2026", "2025-12-31 23:00:00"),
        ("2026-07-01T1:2:3", "2026-06-30 23:02:03"),
        ("2026-07-01T01", "2026-06-30 23:00:00"),
        (" 2026-07-01 ", "2026-06-30 22:00:00"),
        ("2026-07-01T01:02:03.123456789Z", "2026-07-01 01:02:03.123456"),
        ("2026-07-01T01:02:03.Z", "2026-07-01 01:02:03"),
        ("2026-07-01T01:02:03+1:0", "2026-07-01 00:02:03"),
        ("2026-07-01T01:02:03+01:00:30", "2026-07-01 00:01:33"),
        ("2026-07-01T01:02:03 \x1fZ\x7f", "2026-07-01 01:02:03"),
        ("2026-07-01T01:02:03 PST", "2026-07-01 08:02:03"),
        ("2026-07-01T01:02:03Europe/Paris", "2026-06-30 23:02:03"),
        ("2026-07-01T01:02:03GMTZ", "2026-07-01 01:02:03"),
        ("GMT2026", "2025-12-31 23:00:00"),
        ("2026-03-29T02:30:00", "2026-03-29 01:30:00"),  # skipped by the clocks
        ("2026-10-25T02:30:00", "2026-10-25 00:30:00"),  # the earlier of two
        ("1880-01-01T00:00:00", "1879-12-31 23:06:32"),
        ("1893-04-01T00:05:00", "1893-03-31 23:11:32"),
        ("2100-07-01T00:00:00", "2100-06-30 22:00:00"),
    ],
)
def test_a_timestamp_is_the_instant_that_spark_reads(text, utc):
    assert read_timestamp(text, BERLIN) == micros(utc)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("0001-01-01", -62_135_600_008_000_000),
        ("-2026-01-01", -126_101_580_808_000_000),
        ("12345", 327_403_378_800_000_000),
        ("10000-07-01T00:00:00", 253_418_018_400_000_000),
        ("294247-01-10T04:00:54.775807Z", 2**63 - 1),
        ("-290308-12-21T19:59:05.224192Z", -(2**63)),
    ],
)
def test_years_beyond_pythons_are_read(text, instant):
    assert read_timestamp(text, BERLIN) == instant


@pytest.mark.parametrize(
    "text",
    "2026-07-01T|2026-07-01T24:00:00|2026-07-01T23:59:60|2026-02-30|2026-07-01T01:02:03z|2026-07-01T01:02:03+19:00|294247-01-10T04:00:54.775808Z|999999-01-01|now|"
    "1770000000|2026-07-01t01:02:03|2026-007-01|2026-07-01T01:02Z|2026-07-01T01:02:03[Europe/Paris]|2026-07-01T01:02:03 europe/paris||2026-00-01|+-2026-01-01|2026-07-01T01:02:03\x7fZ|2026-07-01T01:02:03\u2003Z".split(
        "|"
    ),
)
def test_other_texts_are_no_timestamps(text):
    with pytest.raises(UnreadableText):
        read_timestamp(text, BERLIN)


def test_a_time_without_a_date_is_refused_because_it_means_today_to_spark():
    with pytest.raises(UnreadableText, match="another day each time"):
        read_timestamp("12:30", BERLIN)


def test_a_text_without_a_zone_needs_one():
    with pytest.raises(ZoneMissing):
        read_timestamp("2026-07-01T01:02:03", None)
    assert read_timestamp("2026-07-01T01:02:03Z", None) == micros("2026-07-01 01:02:03")


def test_a_local_timestamp_has_no_zone():
    assert read_local("2026-03-29T02:30:00") == micros("2026-03-29 02:30:00")
    with pytest.raises(UnreadableText, match="has no zone"):
        read_local("2026-03-29T02:30:00Z")


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2026-01-01", 20_454), ("2026-1-1", 20_454), ("2026", 20_454), ("2026-01-01Tgarbage", 20_454), ("0000-01-01", -719_528), ("18000", 5_854_837), ("12", 12),
        ("-5", -5), ("12345678", 12_345_678), ("-100000000", -99_997_959), ("2026-1-1 GMT+2", 20_454), ("٣", 3), ("5881580-07-11", 2**31 - 1),
    ],
)  # fmt: skip
def test_a_date_is_the_day_that_spark_reads(text, days):
    assert read_date(text) == days


@pytest.mark.parametrize(
    "text", ["2026-02-30", "2026-01-01x", "99999999999", "", "now", "5881580-07-12", "\x0012", "2026-13-01"]
)
def test_other_texts_are_no_dates(text):
    with pytest.raises(UnreadableText):
        read_date(text)


def test_days_are_counted_as_the_standard_library_counts_them():
    first, last = date(1, 1, 1).toordinal(), date(9999, 12, 31).toordinal()
    for ordinal in range(first, last, 997):
        day = date.fromordinal(ordinal)
        assert days_from_civil(day.year, day.month, day.day) == (day - date(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("name", "seconds"),
    [("UTC", 0), ("Z", 0), ("+02:00", 7200), ("-3", -10_800), ("GMT+5", 18_000), ("+1:30", 5_400), ("EST", -18_000), ("UT-00:30", -1_800), ("+013015", 5_415), ("+18", 64_800)],
)  # fmt: skip
def test_offsets_have_many_spellings(name, seconds):
    assert find_zone(name) == FixedOffset(seconds)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x",
        "utc",
        "europe/berlin",
        "+19",
        "+01:60",
        "+18:01",
        "+001",
        "UTC0",
        "+01:0000",
        "Factory",
        "posix/UTC",
        "../UTC",
        "+",
    ],
)
def test_other_names_are_no_zones(name):
    assert find_zone(name) is None
