"""Dates, times, timestamps and intervals: arithmetic, units, texts and zones."""

from __future__ import annotations

from typing import Final

from tests.support.flink.corpus.forms import TEMPORALS, each, lines, pairs

_ARITHMETIC: Final = tuple(
    each(
        """
        {t} + {i}
        {t} - {i}
        """,
        t=(*TEMPORALS, "dt2", "ts2", "ltz2"),
        i=(
            "INTERVAL '1' SECOND",
            "INTERVAL '90' MINUTE",
            "INTERVAL '25' HOUR",
            "INTERVAL '1' DAY",
            "INTERVAL '1' MONTH",
            "INTERVAL '1' YEAR",
            "INTERVAL '1 02:03:04.567' DAY TO SECOND",
            "INTERVAL '1-2' YEAR TO MONTH",
        ),
    )
)
_UNITS: Final = (
    "EPOCH", "MILLENNIUM", "CENTURY", "DECADE", "YEAR", "ISOYEAR", "QUARTER", "MONTH", "WEEK", "ISOWEEK", "DAY", "DOY", "DOW", "ISODOW",
    "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND",
)  # fmt: skip
_OF_UNITS: Final = tuple(
    each(
        """
        EXTRACT({u} FROM {t})
        FLOOR({t} TO {u})
        CEIL({t} TO {u})
        """,
        t=TEMPORALS,
        u=_UNITS,
    )
)
_ADD: Final = tuple(
    each(
        """
        TIMESTAMPADD({u}, 1, {t})
        TIMESTAMPADD({u}, -13, {t})
        """,
        u=("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"),
        t=TEMPORALS,
    )
)
_DIFF: Final = tuple(
    f"TIMESTAMPDIFF({unit}, {left}, {right})"
    for unit in ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
    for left, right in (("dt", "dt2"), ("ts", "ts2"), ("ts2", "ts"), ("ltz", "ltz2"), ("dt", "ts"), ("ts6", "ts"))
)
_DIFF_OF_TYPES: Final = tuple(
    f"TIMESTAMPDIFF({unit}, {left}, {right})"
    for unit in ("SECOND", "MONTH")
    for left, right in pairs(TEMPORALS, TEMPORALS)
)
_FIELDS: Final = tuple(
    each(
        "{f}({t})",
        f=("YEAR", "QUARTER", "MONTH", "WEEK", "DAYOFYEAR", "DAYOFMONTH", "DAYOFWEEK", "HOUR", "MINUTE", "SECOND"),
        t=(*TEMPORALS, "tst"),
    )
)
_FORMATS: Final = (
    "'yyyy-MM-dd HH:mm:ss'", "'yyyy-MM-dd HH:mm:ss.SSS'", "'yy/M/d'", "'MMM dd, yyyy'", "'EEEE'", "'hh:mm a'", "'yyyyMMddHHmmssSSS'",
    "'D'", "'u'", "'QQQ'", "'w'", "'''T''HH'", "'z'", "'Z'", "'XXX'", "'VV'", "'SSSSSS'", "'YYYY'", "'e'", "'G'", "'quatsch'", "''",
)  # fmt: skip
_FORMATTED: Final = tuple(each("DATE_FORMAT({t}, {f})", t=("ts", "ts6", "ltz"), f=_FORMATS))
_PARSED: Final = tuple(
    each(
        """
        {f}(tst)
        {f}(s)
        {f}(tst, 'yyyy-MM-dd HH:mm:ss')
        {f}(tst, 'yyyy-MM-dd')
        {f}('2024-02-29 12:34:56')
        {f}('2024-02-29 12:34:56.789')
        {f}('2024-02-29 12:34:56.123456789')
        {f}('2024-02-29')
        {f}('2024-02-30')
        {f}('2023-02-29 00:00:00')
        {f}('2024-13-01')
        {f}('2024-2-9')
        {f}('2024-2-9 1:2:3')
        {f}('2024')
        {f}('2024-02')
        {f}(' 2024-02-29 ')
        {f}('2024-02-29T12:34:56')
        {f}('2024-02-29T12:34:56Z')
        {f}('2024-02-29 12:34:56+02:00')
        {f}('2024-02-29 12:34')
        {f}('2024-02-29 24:00:00')
        {f}('2024-02-29 12:60:00')
        {f}('0000-01-01')
        {f}('10000-01-01')
        {f}('-0001-01-01')
        {f}('1582-10-10')
        {f}('2025-03-09 02:30:00')
        {f}('2025-11-02 01:30:00')
        {f}('')
        {f}('abc')
        {f}(CAST(NULL AS STRING))
        {f}('29/02/2024', 'dd/MM/yyyy')
        {f}('29/02/2024 01:02', 'dd/MM/yyyy HH:mm')
        {f}('29.02.24', 'dd.MM.yy')
        {f}('30/02/2024', 'dd/MM/yyyy')
        {f}('31/04/2024', 'dd/MM/yyyy')
        {f}('Feb 29, 2024', 'MMM dd, yyyy')
        {f}('20240229123456', 'yyyyMMddHHmmss')
        {f}('20240229', 'yyyyMMdd')
        {f}('2024-02-29 12:34:56.7', 'yyyy-MM-dd HH:mm:ss.SSS')
        {f}('2024-02-29 12:34:56.789', 'yyyy-MM-dd HH:mm:ss.SSS')
        {f}('2024-02-29 12:34:56.789123', 'yyyy-MM-dd HH:mm:ss.SSSSSS')
        {f}('2024-02-29 12:34:56 +0200', 'yyyy-MM-dd HH:mm:ss Z')
        {f}('2024-02-29 12:34:56 Europe/Berlin', 'yyyy-MM-dd HH:mm:ss VV')
        {f}('12:34:56', 'HH:mm:ss')
        {f}('2024-060', 'yyyy-DDD')
        {f}('2024-02-29 trailing', 'yyyy-MM-dd')
        {f}('2024-02-29', 'quatsch')
        {f}('2024-02-29', CAST(NULL AS STRING))
        {f}('01:02 PM 2024-02-29', 'hh:mm a yyyy-MM-dd')
        """,
        f=("TO_TIMESTAMP", "TO_DATE", "UNIX_TIMESTAMP", "TO_TIMESTAMP_LTZ"),
    )
)
_CONSTRUCTED: Final = tuple(
    each(
        """
        TO_TIMESTAMP_LTZ({n}, 0)
        TO_TIMESTAMP_LTZ({n}, 3)
        TO_TIMESTAMP_LTZ({n})
        FROM_UNIXTIME({n})
        FROM_UNIXTIME({n}, 'yyyy-MM-dd')
        """,
        n=("l", "l2", "i", "ti", "d", "dec1", "0", "1700000000", "1700000000123", "-1", "1.5", "1741505400", "1762061400", "1762065000",
           "CAST(NULL AS BIGINT)", "'5'"),
    )
)  # fmt: skip
_OVERLAPS: Final = tuple(
    f"({a}, {b}) OVERLAPS ({c}, {d})"
    for a, b, c, d in (
        ("TIME '2:55:00'", "INTERVAL '1' HOUR", "TIME '3:30:00'", "INTERVAL '2' HOUR"),
        ("TIME '9:00:00'", "TIME '10:00:00'", "TIME '10:15:00'", "INTERVAL '3' HOUR"),
        ("DATE '2024-01-01'", "DATE '2024-01-10'", "DATE '2024-01-10'", "DATE '2024-01-20'"),
        ("DATE '2024-01-01'", "DATE '2024-01-10'", "DATE '2024-01-05'", "INTERVAL '3' DAY"),
        ("DATE '2024-01-10'", "DATE '2024-01-01'", "DATE '2024-01-05'", "DATE '2024-01-06'"),
        ("DATE '2024-01-01'", "DATE '2024-01-01'", "DATE '2024-01-01'", "DATE '2024-01-01'"),
        ("dt", "dt2", "DATE '1969-08-01'", "DATE '2024-12-31'"),
        ("ts", "ts2", "TIMESTAMP '2023-06-01 00:00:00'", "INTERVAL '10' DAY"),
        ("ts", "INTERVAL '1' DAY", "ts2", "INTERVAL '500' DAY"),
        ("ltz", "ltz2", "ltz2", "ltz"),
    )
)
_PERIODS: Final = tuple(
    f"(DATE '2024-01-01', DATE '2024-01-10') {relation} (DATE '2024-01-10', DATE '2024-01-20')"
    for relation in ("CONTAINS", "EQUALS", "PRECEDES", "SUCCEEDS", "IMMEDIATELY PRECEDES", "IMMEDIATELY SUCCEEDS")
)
_SPECIAL: Final = lines(
    r"""
    # arithmetic
    DATE '2024-01-31' + INTERVAL '1' MONTH
    DATE '2023-01-31' + INTERVAL '1' MONTH
    DATE '2024-02-29' + INTERVAL '1' YEAR
    DATE '2024-03-31' - INTERVAL '1' MONTH
    DATE '2024-01-01' + INTERVAL '25' HOUR
    DATE '2024-01-01' + INTERVAL '1' SECOND
    DATE '2024-01-01' + INTERVAL '1 01:00:00' DAY TO SECOND
    INTERVAL '1' DAY + DATE '2024-01-01'
    INTERVAL '1' MONTH + ts
    TIME '23:30:00' + INTERVAL '1' HOUR
    TIME '00:30:00' - INTERVAL '1' HOUR
    TIME '12:00:00' + INTERVAL '1' DAY
    TIME '12:00:00' + INTERVAL '1' MONTH
    TIME '12:00:00' + INTERVAL '0.5' SECOND
    TIMESTAMP '2025-03-09 01:30:00' + INTERVAL '1' HOUR
    TIMESTAMP '2024-01-31 00:00:00' + INTERVAL '1' MONTH
    CAST(TIMESTAMP '2025-03-09 01:30:00' AS TIMESTAMP_LTZ(3)) + INTERVAL '1' HOUR
    CAST(TIMESTAMP '2025-03-08 02:30:00' AS TIMESTAMP_LTZ(3)) + INTERVAL '1' DAY
    CAST(TIMESTAMP '2025-02-09 02:30:00' AS TIMESTAMP_LTZ(3)) + INTERVAL '1' MONTH
    ltz + INTERVAL '0' DAY
    ts + INTERVAL '0.001' SECOND
    ts6 + INTERVAL '0.000001' SECOND
    ts6 + INTERVAL '0.0005' SECOND
    ts + i2 * INTERVAL '1' SECOND
    ts + i2 * INTERVAL '1' MONTH
    ts + ti * INTERVAL '1' DAY
    ts + INTERVAL '1' DAY * i2
    dt + i2 * INTERVAL '1' DAY
    ts + d * INTERVAL '1' SECOND
    ts + 1.5 * INTERVAL '1' SECOND
    ts - ts2
    (ts - ts2) DAY
    (ts - ts2) SECOND
    (ts - ts2) DAY TO SECOND
    (ts - ts2) MONTH
    (dt - dt2) DAY
    (dt - dt2) YEAR TO MONTH
    (ltz - ltz2) SECOND
    (tm - TIME '12:00:00') MINUTE
    (ts - dt) HOUR
    dt - dt2
    tm - tm
    ltz - ltz2
    dt - 1
    dt + 1
    ts + 1
    ts + dt
    dt + tm
    ts + '1'
    INTERVAL '1' DAY + INTERVAL '1' HOUR
    INTERVAL '1' YEAR + INTERVAL '1' MONTH
    INTERVAL '1' MONTH + INTERVAL '1' DAY
    INTERVAL '1' DAY - INTERVAL '25' HOUR
    -INTERVAL '1' DAY
    INTERVAL '1' DAY * 2
    INTERVAL '1' DAY * 1.5
    2 * INTERVAL '1' MONTH
    INTERVAL '1' DAY / 2
    INTERVAL '7' MONTH / 2
    INTERVAL '1' DAY / INTERVAL '1' HOUR
    INTERVAL '1' DAY > INTERVAL '23' HOUR
    i * INTERVAL '1' DAY
    i2 * INTERVAL '1' MONTH
    INTERVAL i2 DAY
    EXTRACT(DAY FROM INTERVAL '3 04:05:06' DAY TO SECOND)
    EXTRACT(HOUR FROM INTERVAL '3 04:05:06' DAY TO SECOND)
    EXTRACT(SECOND FROM INTERVAL '3 04:05:06' DAY TO SECOND)
    EXTRACT(YEAR FROM INTERVAL '1-2' YEAR TO MONTH)
    EXTRACT(MONTH FROM INTERVAL '1-2' YEAR TO MONTH)
    EXTRACT(EPOCH FROM INTERVAL '1' DAY)
    EXTRACT(MINUTE FROM INTERVAL '90' MINUTE)
    CAST(INTERVAL '90' MINUTE AS BIGINT)
    CAST(INTERVAL '1' YEAR AS INT)
    DATE '2024-01-01' + INTERVAL '1' WEEK
    TIMESTAMP '2024-01-01 00:00:00' + INTERVAL '1' WEEK
    ts + INTERVAL '2' WEEK
    DATE '2024-01-31' + INTERVAL '1' QUARTER
    ts + INTERVAL '2' QUARTER
    CAST(TIMESTAMP WITH LOCAL TIME ZONE '2024-02-29 12:34:56' AS STRING)
    ltz > TIMESTAMP WITH LOCAL TIME ZONE '2024-02-29 12:34:56'
    # units
    EXTRACT(DAY FROM DATE '2006-06-05')
    EXTRACT(WEEK FROM DATE '2021-01-03')
    EXTRACT(WEEK FROM DATE '2024-12-30')
    EXTRACT(DOW FROM DATE '2024-02-25')
    EXTRACT(ISODOW FROM DATE '2024-02-25')
    EXTRACT(ISOYEAR FROM DATE '2024-12-30')
    EXTRACT(CENTURY FROM DATE '2000-01-01')
    EXTRACT(CENTURY FROM DATE '2001-01-01')
    EXTRACT(MILLENNIUM FROM DATE '2001-01-01')
    EXTRACT(DECADE FROM DATE '1999-01-01')
    EXTRACT(EPOCH FROM TIMESTAMP '1970-01-01 00:00:01.5')
    EXTRACT(EPOCH FROM DATE '1970-01-02')
    EXTRACT(SECOND FROM TIMESTAMP '2024-01-01 00:00:01.987')
    EXTRACT(MILLISECOND FROM TIMESTAMP '2024-01-01 00:00:01.987')
    EXTRACT(MICROSECOND FROM TIMESTAMP '2024-01-01 00:00:01.987654')
    EXTRACT(YEAR FROM '2024-01-01')
    EXTRACT(YEAR FROM tst)
    EXTRACT(HOUR FROM TIME '12:34:56')
    EXTRACT(DAY FROM NULL)
    YEAR(DATE '1994-09-27')
    QUARTER(DATE '1994-09-27')
    WEEK(DATE '1994-09-27')
    DAYOFWEEK(DATE '1994-09-27')
    DAYOFYEAR(DATE '2024-12-31')
    HOUR(TIMESTAMP '1994-09-27 13:14:15')
    SECOND(TIME '13:14:15')
    YEAR(i)
    MONTH(NULL)
    FLOOR(DATE '2024-05-17' TO WEEK)
    CEIL(DATE '2024-05-17' TO WEEK)
    FLOOR(DATE '2024-05-19' TO WEEK)
    CEIL(DATE '2024-05-19' TO WEEK)
    FLOOR(DATE '2024-05-17' TO QUARTER)
    CEIL(DATE '2024-05-17' TO QUARTER)
    CEIL(DATE '2024-01-01' TO YEAR)
    CEIL(TIMESTAMP '2024-01-01 00:00:00.001' TO YEAR)
    CEIL(TIMESTAMP '2024-05-17 12:34:56.789' TO SECOND)
    CEIL(TIMESTAMP '2024-05-17 12:34:56' TO SECOND)
    FLOOR(TIMESTAMP '1969-12-31 23:59:59.999' TO HOUR)
    FLOOR(TIME '12:44:31' TO MINUTE)
    CEIL(TIME '12:44:31' TO MINUTE)
    CEIL(TIME '23:59:31' TO HOUR)
    FLOOR(CAST(TIMESTAMP '2025-03-09 03:30:00' AS TIMESTAMP_LTZ(3)) TO DAY)
    CEIL(CAST(TIMESTAMP '2025-03-09 01:30:00' AS TIMESTAMP_LTZ(3)) TO HOUR)
    CEIL(CAST(TIMESTAMP '2025-11-02 00:30:00' AS TIMESTAMP_LTZ(3)) TO DAY)
    FLOOR(s TO DAY)
    # add and difference
    TIMESTAMPADD(WEEK, 1, DATE '2003-01-02')
    TIMESTAMPADD(HOUR, 1, DATE '2003-01-02')
    TIMESTAMPADD(MONTH, 1, DATE '2024-01-31')
    TIMESTAMPADD(MONTH, 1, TIMESTAMP '2024-01-31 10:00:00')
    TIMESTAMPADD(QUARTER, 1, TIMESTAMP '2023-11-30 10:00:00')
    TIMESTAMPADD(DAY, i2, ts)
    TIMESTAMPADD(MONTH, i2, dt)
    TIMESTAMPADD(SECOND, l2, ts)
    TIMESTAMPADD(DAY, 1.5, ts)
    TIMESTAMPADD(DAY, 1, '2024-01-01')
    TIMESTAMPADD(DAY, 1, tst)
    TIMESTAMPADD(MILLISECOND, 1, ts)
    TIMESTAMPADD(FRAC_SECOND, 1, ts)
    TIMESTAMPADD(MICROSECOND, 1, ts6)
    TIMESTAMPADD(DAY, NULL, ts)
    TIMESTAMPADD(DAY, 1, CAST(TIMESTAMP '2025-03-08 02:30:00' AS TIMESTAMP_LTZ(3)))
    TIMESTAMPDIFF(DAY, TIMESTAMP '2003-01-02 10:00:00', TIMESTAMP '2003-01-03 10:00:00')
    TIMESTAMPDIFF(DAY, TIMESTAMP '2003-01-02 10:00:00', TIMESTAMP '2003-01-03 09:59:59.999')
    TIMESTAMPDIFF(DAY, TIMESTAMP '2003-01-03 10:00:00', TIMESTAMP '2003-01-02 10:00:00.001')
    TIMESTAMPDIFF(SECOND, TIMESTAMP '2003-01-02 10:00:00.999', TIMESTAMP '2003-01-02 10:00:01')
    TIMESTAMPDIFF(MONTH, DATE '2024-01-31', DATE '2024-02-29')
    TIMESTAMPDIFF(MONTH, DATE '2024-02-29', DATE '2024-01-31')
    TIMESTAMPDIFF(MONTH, TIMESTAMP '2024-01-31 10:00:00', TIMESTAMP '2024-02-29 10:00:00')
    TIMESTAMPDIFF(YEAR, DATE '2024-02-29', DATE '2025-02-28')
    TIMESTAMPDIFF(QUARTER, DATE '2024-01-01', DATE '2024-12-31')
    TIMESTAMPDIFF(WEEK, DATE '2024-01-01', DATE '2024-01-14')
    TIMESTAMPDIFF(HOUR, TIME '01:00:00', TIME '12:30:00')
    TIMESTAMPDIFF(MILLISECOND, ts, ts2)
    TIMESTAMPDIFF(MICROSECOND, ts6, ts)
    TIMESTAMPDIFF(FRAC_SECOND, ts, ts2)
    TIMESTAMPDIFF(DAY, '2024-01-01', '2024-01-03')
    TIMESTAMPDIFF(DAY, tst, ts)
    TIMESTAMPDIFF(DAY, NULL, ts)
    # texts and zones
    CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles')
    CONVERT_TZ('2025-03-09 02:30:00', 'America/New_York', 'UTC')
    CONVERT_TZ('2025-11-02 01:30:00', 'America/New_York', 'UTC')
    CONVERT_TZ('2024-07-01 00:00:00', 'GMT+02:00', 'Asia/Kolkata')
    CONVERT_TZ('2024-07-01 00:00:00', 'PST', 'UTC')
    CONVERT_TZ('2024-07-01 00:00:00', 'nowhere', 'UTC')
    CONVERT_TZ('2024-07-01', 'UTC', 'Asia/Tokyo')
    CONVERT_TZ('abc', 'UTC', 'Asia/Tokyo')
    CONVERT_TZ(tst, 'UTC', 'Asia/Tokyo')
    CONVERT_TZ(tst, s, s2)
    CONVERT_TZ(CAST(NULL AS STRING), 'UTC', 'Asia/Tokyo')
    DATE_FORMAT('2024-02-29 12:34:56', 'yyyy/MM/dd')
    DATE_FORMAT('2024-02-29', 'yyyy/MM/dd')
    DATE_FORMAT('abc', 'yyyy/MM/dd')
    DATE_FORMAT(tst, 'yyyy/MM/dd HH')
    DATE_FORMAT(dt, 'yyyy')
    DATE_FORMAT(tm, 'HH')
    DATE_FORMAT(ts, NULL)
    DATE_FORMAT(ts, s)
    DATE_FORMAT(TIMESTAMP '2024-12-30 00:00:00', 'YYYY-ww')
    DATE_FORMAT(TIMESTAMP '2024-02-29 00:00:00', 'yyyy')
    FROM_UNIXTIME(44)
    FROM_UNIXTIME(44, 'yyyy-MM-dd HH:mm:ss z')
    FROM_UNIXTIME(44, 'quatsch')
    FROM_UNIXTIME(44, NULL)
    FROM_UNIXTIME(253402300800)
    UNIX_TIMESTAMP()
    UNIX_TIMESTAMP('1970-01-01 08:00:01.001', 'yyyy-MM-dd HH:mm:ss.SSS')
    UNIX_TIMESTAMP('1970-01-01 08:00:01.001 +0800', 'yyyy-MM-dd HH:mm:ss.SSS X')
    UNIX_TIMESTAMP('1970-01-01 08:00:01.001', 'yyyy-MM-dd HH:mm:ss.SSS X')
    UNIX_TIMESTAMP(ts)
    UNIX_TIMESTAMP(dt)
    TO_TIMESTAMP_LTZ('2024-02-29 12:34:56', 'yyyy-MM-dd HH:mm:ss', 'Asia/Tokyo')
    TO_TIMESTAMP_LTZ('2024-02-29 12:34:56', 'yyyy-MM-dd HH:mm:ss', 'nowhere')
    TO_TIMESTAMP_LTZ(1700000000123456, 6)
    TO_TIMESTAMP_LTZ(1700000000, 1)
    TO_TIMESTAMP_LTZ(l, i)
    TO_TIMESTAMP_LTZ(1.5e0, 3)
    TO_TIMESTAMP_LTZ(1700000000.123, 0)
    TO_DATE(s2, p)
    TO_DATE(dt)
    TO_TIMESTAMP(ts)
    TO_TIMESTAMP(l)
    # now
    CURRENT_DATE
    CURRENT_TIME
    CURRENT_TIME(3)
    CURRENT_TIMESTAMP
    CURRENT_TIMESTAMP(6)
    LOCALTIME
    LOCALTIMESTAMP
    LOCALTIMESTAMP(6)
    NOW()
    CURRENT_ROW_TIMESTAMP()
    PROCTIME()
    CURRENT_WATERMARK(ts)
    # daylight saving
    CAST(TIMESTAMP '2025-03-09 02:30:00' AS TIMESTAMP_LTZ(3))
    CAST(TIMESTAMP '2025-11-02 01:30:00' AS TIMESTAMP_LTZ(3))
    CAST(ltz AS DATE)
    CAST(ltz AS TIMESTAMP(3))
    HOUR(ltz)
    DAYOFMONTH(ltz)
    EXTRACT(DAY FROM ltz)
    DATE_FORMAT(ltz, 'yyyy-MM-dd HH:mm:ss VV')
    ltz > TIMESTAMP '2025-03-09 02:30:00'
    ltz AT TIME ZONE 'UTC'
    SOURCE_WATERMARK()
    """
)
EXPRESSIONS: Final = (
    *_ARITHMETIC, *_OF_UNITS, *_ADD, *_DIFF, *_DIFF_OF_TYPES, *_FIELDS, *_FORMATTED, *_PARSED, *_CONSTRUCTED, *_OVERLAPS, *_PERIODS, *_SPECIAL,
)  # fmt: skip
