-- BETWEEN around the other side's time: each bound once more, of TIMESTAMP
SELECT b.k FROM bid b FULL JOIN ask a ON b.k = a.k AND b.ts BETWEEN a.at - INTERVAL '2' SECOND AND a.at + INTERVAL '3' SECOND;
SELECT b.k FROM t_bid b FULL JOIN t_ask a ON b.k = a.k AND b.ts BETWEEN a.at - INTERVAL '2' SECOND AND a.at + INTERVAL '3' SECOND AND CAST(b.ts AS TIMESTAMP) >= CAST(a.at AS TIMESTAMP) - INTERVAL '2' SECOND AND CAST(b.ts AS TIMESTAMP) <= CAST(a.at AS TIMESTAMP) + INTERVAL '3' SECOND;

-- a bound without a shift is one already
SELECT b.k FROM bid b LEFT OUTER JOIN ask a ON b.k = a.k AND a.at BETWEEN b.ts AND b.ts + INTERVAL '8' SECOND;
SELECT b.k FROM t_bid b LEFT OUTER JOIN t_ask a ON b.k = a.k AND a.at BETWEEN b.ts AND b.ts + INTERVAL '8' SECOND AND CAST(a.at AS TIMESTAMP) <= CAST(b.ts AS TIMESTAMP) + INTERVAL '8' SECOND;

-- comparisons, shifts on either side
SELECT b.k FROM bid b RIGHT JOIN ask a ON b.ts + INTERVAL '1' MINUTE >= a.at AND b.ts - INTERVAL '1' HOUR < at + INTERVAL '1 2' DAY TO HOUR AND a.k = b.k;
SELECT b.k FROM t_bid b RIGHT JOIN t_ask a ON b.ts + INTERVAL '1' MINUTE >= a.at AND b.ts - INTERVAL '1' HOUR < at + INTERVAL '1 2' DAY TO HOUR AND a.k = b.k AND CAST(b.ts AS TIMESTAMP) + INTERVAL '1' MINUTE >= CAST(a.at AS TIMESTAMP) AND CAST(b.ts AS TIMESTAMP) - INTERVAL '1' HOUR < CAST(at AS TIMESTAMP) + INTERVAL '1 2' DAY TO HOUR;

-- a zone whose clocks change: a FULL JOIN cannot be had
# time zone: Europe/Berlin
SELECT b.k FROM bid b FULL JOIN ask a ON b.k = a.k AND b.ts < a.at + INTERVAL '1' DAY AND b.ts > a.at;
ERROR line 1, column 42: a FULL JOIN by times of type TIMESTAMP needs a time zone whose clocks never change, not Europe/Berlin. SET 'table.local-time-zone' = 'UTC', or make the times TIMESTAMP_LTZ.
  SELECT b.k FROM bid b FULL JOIN ask a ON b.k = a.k AND b.ts < a.at + INTERVAL '1' DAY AND b.ts > a.at
                                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^;

-- there a LEFT JOIN may have a bound that is enough: not touched
# time zone: Europe/Berlin
SELECT b.k FROM bid b LEFT JOIN ask a ON b.k = a.k AND a.at BETWEEN b.ts AND b.ts + INTERVAL '8' SECOND;
SELECT b.k FROM t_bid b LEFT JOIN t_ask a ON b.k = a.k AND a.at BETWEEN b.ts AND b.ts + INTERVAL '8' SECOND;

-- an inner join needs no bounds to begin: not touched
SELECT b.k FROM bid b JOIN ask a ON b.k = a.k AND b.ts BETWEEN a.at - INTERVAL '2' SECOND AND a.at + INTERVAL '3' SECOND;
SELECT b.k FROM t_bid b JOIN t_ask a ON b.k = a.k AND b.ts BETWEEN a.at - INTERVAL '2' SECOND AND a.at + INTERVAL '3' SECOND;

-- what is joined by OR bounds nothing: not touched
SELECT b.k FROM bid b FULL JOIN ask a ON b.k = a.k OR b.ts < a.at + INTERVAL '3' SECOND;
SELECT b.k FROM t_bid b FULL JOIN t_ask a ON b.k = a.k OR b.ts < a.at + INTERVAL '3' SECOND;

-- NOT BETWEEN, and columns that are no time attributes: not touched
SELECT b.k FROM bid b FULL JOIN names n ON b.k = n.k AND b.ts NOT BETWEEN n.since - INTERVAL '2' SECOND AND n.since AND b.ts < n.since + INTERVAL '1' DAY;
SELECT b.k FROM t_bid b FULL JOIN names n ON b.k = n.k AND b.ts NOT BETWEEN n.since - INTERVAL '2' SECOND AND n.since AND b.ts < n.since + INTERVAL '1' DAY;

-- in a batch there is no state: not touched
# mode: batch
SELECT b.k FROM bid b FULL JOIN ask a ON b.k = a.k AND b.ts > a.at - INTERVAL '2' SECOND;
SELECT b.k FROM t_bid b FULL JOIN t_ask a ON b.k = a.k AND b.ts > a.at - INTERVAL '2' SECOND;
