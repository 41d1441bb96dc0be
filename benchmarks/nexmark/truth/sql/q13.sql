-- The side input maps each number below 10,000 to itself, as a text.
SELECT auction, bidder, price, "dateTime", CAST(auction % 10000 AS VARCHAR) AS "value" FROM bid
