WITH highest AS (
  SELECT max(price) AS maxprice, make_timestamp_ms((epoch_ms("dateTime") // 10000 + 1) * 10000) AS window_end
  FROM bid
  GROUP BY window_end
  HAVING window_end <= getvariable('until')
)
SELECT B.auction, B.price, B.bidder, B."dateTime", B.extra
FROM bid AS B JOIN highest AS H ON B.price = H.maxprice
WHERE B."dateTime" BETWEEN H.window_end - INTERVAL 10 SECOND AND H.window_end
