-- A window of ten seconds is five panes of two; `first_pane` numbers them since 1970.
WITH panes AS (
  SELECT auction, epoch_ms("dateTime") // 2000 AS pane, count(*) AS n FROM bid GROUP BY ALL
), counts AS (
  SELECT auction, pane - back AS first_pane, CAST(sum(n) AS BIGINT) AS num
  FROM panes, range(5) AS earlier(back)
  GROUP BY ALL
)
SELECT auction, num
FROM counts
WHERE make_timestamp_ms((first_pane + 5) * 2000) <= getvariable('until')
QUALIFY num = max(num) OVER (PARTITION BY first_pane)
