"""Functions of dates and timestamps: no use of the session's zone for a TIMESTAMP, and what is refused."""

from __future__ import annotations

import pytest

from tests.support.flink.translation import refusal, translated


@pytest.mark.parametrize(
    ("expression", "text", "kind"),
    [
        ("YEAR(dt)", "CAST(year(dt) AS BIGINT)", "BIGINT"),
        ("EXTRACT(DOW FROM ts)", "CAST(dayofweek(ts) AS BIGINT)", "BIGINT"),
        ("EXTRACT(MILLISECOND FROM ts)", "CAST((extract(SECOND FROM ts) * 1000 % 1000) AS BIGINT)", "BIGINT"),
        ("EXTRACT(EPOCH FROM dt)", "(unix_date(dt) * 86400L)", "BIGINT"),
        ("FLOOR(dt TO WEEK)", "(trunc(dt + 1, 'WEEK') - 1)", "DATE"),
        ("FLOOR(ts TO DAY)", "CAST(CAST(ts AS DATE) AS TIMESTAMP_NTZ)", "TIMESTAMP(3)"),
        (
            "FLOOR(ts TO HOUR)",
            "CAST(concat(left(CAST(ts AS STRING), 13), ':00:00') AS TIMESTAMP_NTZ)",
            "TIMESTAMP(3)",
        ),
        ("TIMESTAMPADD(DAY, 1, ts)", "(ts + INTERVAL '1' DAY * 1)", "TIMESTAMP(3)"),
        ("TIMESTAMPADD(MONTH, i, dt)", "add_months(dt, i)", "DATE"),
        ("TIMESTAMPDIFF(DAY, dt, dt)", "datediff(dt, dt)", "INT"),
        (
            "TIMESTAMPDIFF(MINUTE, ltz, ltz)",
            "CAST((unix_micros(ltz) - unix_micros(ltz)) div 60000000L AS INT)",
            "INT",
        ),
        ("DATE_FORMAT(ts, 'yyyy-MM-dd')", "substr(CAST(ts AS STRING), 1, 10)", "STRING"),
        ("DATE_FORMAT(ts, 'HH:mm')", "substr(CAST(ts AS STRING), 12, 5)", "STRING"),
        (
            "DATE_FORMAT(ts, 'MM-yyyy')",
            "concat(substr(CAST(ts AS STRING), 6, 2), '-', substr(CAST(ts AS STRING), 1, 4))",
            "STRING",
        ),
        ("DATE_FORMAT(ts, '''d''dd')", "concat('d', substr(CAST(ts AS STRING), 9, 2))", "STRING"),
        ("DATE_FORMAT(ts, 'MMM')", "date_format(ts, 'MMM')", "STRING"),
        (
            "DATE_FORMAT(ts, 'EEE d, h:mm a')",
            (
                "concat(date_format(CAST(ts AS DATE), 'EEE d, '), CAST(((hour(ts) + 11) % 12 + 1) AS STRING), "
                "':', lpad(CAST(minute(ts) AS STRING), 2, '0'), ' ', if(hour(ts) < 12, 'AM', 'PM'))"
            ),
            "STRING",
        ),
        ("DATE_FORMAT(ltz, 'HH:mm')", "date_format(ltz, 'HH:mm')", "STRING"),
        ("FROM_UNIXTIME(l)", "from_unixtime(l, 'yyyy-MM-dd HH:mm:ss')", "STRING"),
        ("TO_TIMESTAMP_LTZ(i, 0)", "timestamp_seconds(i)", "TIMESTAMP_LTZ(3)"),
        ("CURRENT_TIMESTAMP", "current_timestamp()", "TIMESTAMP_LTZ(3)"),
    ],
)
def test_results(expression: str, text: str, kind: str) -> None:
    assert translated(expression) == (text, kind)


def test_the_clock_of_a_timestamp_is_formatted_without_a_zone() -> None:
    text, kind = translated("DATE_FORMAT(ts, 'HH:mm:ss.SSS')")
    assert kind == "STRING"
    assert text.endswith(r"r'$4\:$5\:$6\.$7$8$9')")
    assert "date_format" not in text


def test_a_date_of_text_ends_before_a_time() -> None:
    pattern = r"r'^ *([0-9]{4}(?:-[0-9]{1,2}){0,2})(?: .*)?\z', 1"
    assert translated("TO_DATE(s)") == (f"TRY_CAST(regexp_extract(s, {pattern}) AS DATE)", "DATE")


def test_a_format_of_ones_own_reads_the_fields_in_their_order() -> None:
    pattern = r"r'^ *([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})'"
    fields = ", '-', ".join(f"regexp_extract(s, {pattern}, {group})" for group in (3, 2, 1))
    assert translated("TO_DATE(s, 'dd/MM/yyyy')")[0] == f"TRY_CAST(concat({fields}) AS DATE)"


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("EXTRACT(HOUR FROM dt)", "a DATE has no HOUR"),
        ("FLOOR(dt TO MINUTE)", "a DATE has no MINUTE"),
        ("FLOOR(ts)", "needs a unit"),
        ("TIMESTAMPADD(MONTH, 1, ltz)", "counts the months of a TIMESTAMP_LTZ in UTC"),
        ("TIMESTAMPDIFF(MONTH, ltz, ltz)", "CAST both to TIMESTAMP(3) first"),
        ("DATE_FORMAT(ts, 'yyyy-MM-dd z')", "the letter 'z' of the format is not there"),
        ("TO_DATE(s, 'MMM dd, yyyy')", "'MMM' of the format is not there"),
        ("TO_DATE(s, s)", "the format is a constant here"),
        ("TO_TIMESTAMP(s, 'hh:mm a')", "of the format is not there"),
        ("TO_TIMESTAMP_LTZ(l, 6)", "the precision of TO_TIMESTAMP_LTZ"),
        ("YEAR(s)", "YEAR takes"),
    ],
)
def test_refused(expression: str, wanted: str) -> None:
    assert wanted in refusal(expression)
