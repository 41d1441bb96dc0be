-- "Event & Processing Time in Table API and SQL".

-- name: amounts with the rate that is valid when they arrive
-- as written
SELECT
  a.amount, r.rate
FROM
  amounts AS a,
  rates AS r
WHERE
  a.currency = r.currency AND
  r.proctime = (
    SELECT MAX(r2.proctime)
  FROM rates AS r2
  AND r2.proctime <= a.proctime)</pre>
-- repaired: AND where WHERE was meant, and a remnant of HTML; the join with the rates as of a time is written FOR SYSTEM_TIME AS OF
-- error: </pre>
-- as run
SELECT
  a.amount, r.rate
FROM
  amounts AS a
  JOIN rates FOR SYSTEM_TIME AS OF a.proctime AS r ON a.currency = r.currency

-- name: amounts per day with the closing rate
-- as written
SELECT
  a.amountSum, r.rate, a.day
FROM
  (
    SELECT
    currency,
    SUM(amount) AS amountSum,
CEIL(rowtime TO DAY) AS day
FROM amounts
GROUP BY currency, CEIL(rowtime TO DAY)
) AS a
rates AS r
WHERE
a.currency = r.currency AND
r.rowtime = (
SELECT MAX(r2.rowtime)
FROM rates AS r2
AND r2.rowtime <= a.day)
-- repaired: a comma and a WHERE were missing; the join with the rates as of a time is written FOR SYSTEM_TIME AS OF
-- as run
SELECT
  a.amountSum, r.rate, a.day
FROM
  (
    SELECT
    currency,
    SUM(amount) AS amountSum,
CEIL(rowtime TO DAY) AS day
FROM amounts
GROUP BY currency, CEIL(rowtime TO DAY)
) AS a
  JOIN rates FOR SYSTEM_TIME AS OF a.day AS r ON a.currency = r.currency
