"""The two ways to read ISO text agree with each other and with the calendar of the standard library."""

from __future__ import annotations

import datetime as dt

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.expressions.kernels.datetime_casts import parse_timestamp
from datasources.expressions.kernels.datetime_columns import parse_columns
from datasources.expressions.vectors.vectors import EvalError, objects
from datasources.formats.values.datetime_text import read_timestamp
from datasources.grammar.timestamp_text import UnreadableText
from datasources.grammar.zones import FixedOffset, fixed_offset_us

EPOCH = dt.datetime(1970, 1, 1)
MICROSECOND = dt.timedelta(microseconds=1)


def numbered(width, largest):
    return st.one_of(st.integers(0, largest), st.integers(0, 10**width - 1)).map(lambda number: f"{number:0{width}d}")


NEARLY_ISO = st.builds(
    "{}-{}-{}{}{}:{}:{}{}{}".format,
    numbered(4, 9999), numbered(2, 13), numbered(2, 31), st.sampled_from(" Tt"), numbered(2, 24), numbered(2, 60), numbered(2, 60),
    st.sampled_from(["", ".5", ".123", ".123456", ".1234567", ".x23", "x123"]), st.sampled_from(["", "Z", "z", "+00:00", "-05:30", " Z"]),
)  # fmt: skip


@given(
    texts=st.lists(st.one_of(NEARLY_ISO, st.text(max_size=30)), max_size=20),
    keeps=st.booleans(),
    offset=st.sampled_from([None, 0, -19_800_000_000]),
)
@settings(max_examples=200, deadline=None)
def test_columns_are_read_as_single_texts_are(texts, keeps, offset):
    moments, done = parse_columns(objects(texts), keeps_wall_clock=keeps, offset_us=offset)
    for text, moment, read in zip(texts, moments, done, strict=True):
        single = parse_timestamp(text, keeps_wall_clock=keeps, offset_us=offset)
        if read:
            assert (text, int(moment)) == (text, single)


@given(moment=st.datetimes(), offset_minutes=st.integers(-18 * 60, 18 * 60))
@settings(max_examples=200, deadline=None)
def test_every_moment_is_read_back(moment, offset_minutes):
    hours, minutes = divmod(abs(offset_minutes), 60)
    zone = f"{'-' if offset_minutes < 0 else '+'}{hours:02d}:{minutes:02d}"
    expected = (
        (moment - dt.timedelta(minutes=offset_minutes) - EPOCH) // MICROSECOND
        if dt.datetime(2, 1, 1) < moment < dt.datetime(9998, 1, 1)
        else None
    )
    found = parse_timestamp(f"{moment.isoformat(sep=' ')}{zone}", keeps_wall_clock=False, offset_us=None)
    assert expected is None or found == expected
    plain = np.array([moment.isoformat(timespec="microseconds")], dtype=object)
    columns, done = parse_columns(plain, keeps_wall_clock=True, offset_us=None)
    assert (columns.tolist(), done.tolist()) == ([(moment - EPOCH) // MICROSECOND], [True])


def test_offsets_of_zones_are_known_only_where_they_never_change():
    hour = 3_600_000_000
    known = {
        "UTC": 0,
        "Z": 0,
        "Etc/GMT+5": -5 * hour,
        "Etc/GMT-14": 14 * hour,
        "+05:30": 5.5 * hour,
        "UTC-3": -3 * hour,
        "GMT+02:00": 2 * hour,
        "+18:00": 18 * hour,
        "+18:01": None,
        "+05:60": None,
        "+05:9:02": None,
        "UTC+5:9:02": None,
        "+5:09:02": 5 * hour + 542_000_000,
        "Etc/GMT+05": None,
    }
    unknown = dict.fromkeys(["Europe/Berlin", "America/New_York", "EST", "", "utc+", "Etc/UTC+1"])
    assert {zone: fixed_offset_us(zone) for zone in known | unknown} == known | unknown


def test_text_that_needs_a_zone_is_an_error():
    assert parse_timestamp("2026-01-01 00:00:00", keeps_wall_clock=False, offset_us=None) is EvalError.ZONE_NEEDED
    assert (
        parse_timestamp("2026-01-01 00:00:00 Europe/Paris", keeps_wall_clock=False, offset_us=0)
        is EvalError.REGION_IN_TEXT
    )
    assert parse_timestamp("T12:00", keeps_wall_clock=False, offset_us=0) is EvalError.CLOCK_IN_TEXT
    assert parse_timestamp("x", keeps_wall_clock=False, offset_us=0) is EvalError.MALFORMED_TIMESTAMP


ZONES = st.one_of(
    st.sampled_from(
        ["", "Z", " Z", "\u2003Z", "\x7fZ", "\x1fZ", "UTC", "Etc/GMT+5", "Etc/GMT+05", "EST", "Europe/Paris", "x"]
    ),
    st.from_regex(r" ?(UTC|UT|GMT)?[+-][0-9]{1,2}(:?[0-9]{1,2}(:?[0-9]{1,2})?)?", fullmatch=True),
)


@given(text=st.builds("{}{}".format, NEARLY_ISO, ZONES), offset_s=st.sampled_from([0, -19_800]))
@settings(max_examples=500, deadline=None)
def test_a_cast_and_the_json_reader_give_a_text_the_same_moment(text, offset_s):
    cast = parse_timestamp(text, keeps_wall_clock=False, offset_us=offset_s * 1_000_000)
    try:
        moment = read_timestamp(text, FixedOffset(offset_s))
    except UnreadableText:
        assert cast in {EvalError.MALFORMED_TIMESTAMP, EvalError.REGION_IN_TEXT}
    else:
        # The reader of JSON knows regions, and tries a text again without GMT in it.
        assert cast in {moment, EvalError.REGION_IN_TEXT} or "GMT" in text
