-- Sessions that touch are one.
WITH starts AS (
  SELECT bidder, "dateTime",
    coalesce("dateTime" > lag("dateTime") OVER bidders + INTERVAL 10 SECOND, true) AS is_first
  FROM bid
  WINDOW bidders AS (PARTITION BY bidder ORDER BY "dateTime")
), numbered AS (
  SELECT bidder, "dateTime",
    sum(CAST(is_first AS BIGINT)) OVER (PARTITION BY bidder ORDER BY "dateTime" ROWS UNBOUNDED PRECEDING) AS session
  FROM starts
)
SELECT bidder, count(*) AS bid_count, min("dateTime") AS starttime, max("dateTime") + INTERVAL 10 SECOND AS endtime
FROM numbered
GROUP BY bidder, session
HAVING endtime <= getvariable('until')
