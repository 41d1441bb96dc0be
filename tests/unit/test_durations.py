"""Durations as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.durations import format_duration_ms, parse_duration_ms, warn_of_missing_unit
from datasources.errors import OptionError
from datasources.options import parse_group
from datasources.spark.options.watermark_options import WatermarkOptions


@pytest.mark.parametrize(
    ("text", "expected_ms"),
    [
        ("0", 0),
        ("200", 200),
        ("200ms", 200),
        ("200 ms", 200),
        ("200 milliseconds", 200),
        ("1 milli", 1),
        ("5 s", 5_000),
        ("5s", 5_000),
        ("5 S", 5_000),
        ("  5   sec ", 5_000),
        ("5 Seconds", 5_000),
        ("1 m", 60_000),
        ("1 min", 60_000),
        ("2 minutes", 120_000),
        ("2 h", 7_200_000),
        ("1 hour", 3_600_000),
        ("1 d", 86_400_000),
        ("3 days", 259_200_000),
        ("PT5S", 5_000),
        ("pt5s", 5_000),
        ("PT0.2S", 200),
        ("PT1.05S", 1_050),
        ("PT1M30S", 90_000),
        ("PT2H", 7_200_000),
        ("P1D", 86_400_000),
        ("P1DT1H1M1.001S", 90_061_001),
        ("9007199254740992", 2**53),
    ],
)
def test_a_duration_is_read(text, expected_ms):
    assert parse_duration_ms(text, key="k") == expected_ms


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "s",
        "-5 s",
        "+5 s",
        "1.5 s",
        "5 parsecs",
        "5 us",
        "1 month",
        "1 s 5 ms",
        "5s5",
        "P",
        "PT",
        "P1DT",
        "PT1.5M",
        "PT.5S",
        "PT1.2345S",
        "P1M",
        "P1Y",
        "-PT5S",
        "1e3",
        "٣ s",
        "5 \u017f",
        "9007199254740993",
        "9" * 16 + " d",
        "9" * 6_000,
        "PT" + "9" * 6_000 + "S",
        "INTERVAL '5' SECOND",
    ],
)
def test_what_is_no_duration_is_refused_with_examples(text):
    with pytest.raises(OptionError) as caught:
        parse_duration_ms(text, key="scan.watermark.idle-timeout")
    assert caught.value.message.startswith(f"option 'scan.watermark.idle-timeout' = '{text}' is not a duration.")
    assert "'5 s', '1 min'" in caught.value.message


@pytest.mark.parametrize(
    ("value_ms", "text"),
    [(0, "0 ms"), (1, "1 ms"), (1_500, "1500 ms"), (5_000, "5 s"), (90_000, "90 s"), (120_000, "2 min")],
)
def test_a_duration_is_written_in_its_largest_whole_unit(value_ms, text):
    assert format_duration_ms(value_ms) == text


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**53) | st.integers(0, 400).map(lambda days: days * 86_400_000))
def test_what_is_written_is_read_back(value_ms):
    assert parse_duration_ms(format_duration_ms(value_ms), key="k") == value_ms


@pytest.mark.parametrize("text", ["30", "1", " 999 "])
def test_a_small_bare_number_is_milliseconds_and_a_warning_names_the_unit(caplog, text):
    warn_of_missing_unit.cache_clear()
    assert parse_duration_ms(text, key="scan.watermark.idle-timeout") == int(text)
    (record,) = caplog.records
    shown = text.strip()
    assert record.getMessage() == (
        f"option 'scan.watermark.idle-timeout' = '{text}' has no unit and is read as {shown} milliseconds. "
        f"Write '{shown} ms', or '{shown} s' for seconds."
    )
    parse_duration_ms(text, key="scan.watermark.idle-timeout")
    assert len(caplog.records) == 1


@pytest.mark.parametrize("text", ["0", "1000", "30 ms", "5 s", "PT1S"])
def test_zero_large_numbers_and_units_give_no_warning(caplog, text):
    warn_of_missing_unit.cache_clear()
    parse_duration_ms(text, key="k")
    assert not caplog.records


def test_the_warning_names_the_key_of_a_group(caplog):
    warn_of_missing_unit.cache_clear()
    assert (
        parse_group(
            WatermarkOptions, {"watermark.for": "ts", "watermark.as": "ts", "scan.watermark.idle-timeout": "30"}
        ).idle_timeout_ms
        == 30
    )
    (record,) = caplog.records
    assert record.getMessage().startswith("option 'scan.watermark.idle-timeout' = '30' has no unit")
