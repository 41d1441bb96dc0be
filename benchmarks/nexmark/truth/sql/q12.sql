-- The windows are those of the clock: only the bids of each bidder in all of them are known.
SELECT bidder, count(*) AS bid_count FROM bid GROUP BY bidder
