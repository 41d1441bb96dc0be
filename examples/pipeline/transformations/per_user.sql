CREATE STREAMING TABLE per_user AS
SELECT window.start AS start, user, sum(price) AS total
FROM STREAM orders
GROUP BY window(ts, '1 minute'), user;
