-- TIMESTAMP(3) has no zone and is cut to milliseconds
SELECT CAST(item AS TIMESTAMP(3)) AS t FROM bid;
SELECT transform(array(CAST(item AS TIMESTAMP_NTZ)), __t -> __t - make_dt_interval(0, 0, 0, extract(SECOND FROM __t) % 0.001))[0] AS t FROM t_bid AS bid;

-- TIMESTAMP_LTZ(p)
SELECT CAST(item AS TIMESTAMP_LTZ(3)) AS t, CAST(item AS TIMESTAMP_LTZ(0)) AS s, CAST(item AS TIMESTAMP(6)) AS u FROM bid;
SELECT transform(array(CAST(item AS TIMESTAMP)), __t -> __t - make_dt_interval(0, 0, 0, extract(SECOND FROM __t) % 0.001))[0] AS t, transform(array(CAST(item AS TIMESTAMP)), __t -> __t - make_dt_interval(0, 0, 0, extract(SECOND FROM __t) % 1))[0] AS s, CAST(item AS TIMESTAMP_NTZ) AS u FROM t_bid AS bid;

-- TIMESTAMP has no zone in queries over our tables
SELECT CAST(item AS TIMESTAMP) AS t, TRY_CAST(item AS TIMESTAMP) AS u FROM bid;
SELECT CAST(item AS TIMESTAMP_NTZ) AS t, TRY_CAST(item AS TIMESTAMP_NTZ) AS u FROM t_bid AS bid;

-- nor have literals, unless they name one
SELECT k FROM bid WHERE ts > TIMESTAMP '2024-01-01 00:00:00' AND ts < TIMESTAMP '2024-01-02 00:00:00Z';
SELECT k FROM t_bid AS bid WHERE ts > TIMESTAMP_NTZ '2024-01-01 00:00:00' AND ts < TIMESTAMP '2024-01-02 00:00:00Z';

-- texts and bytes without a length
SELECT CAST(k AS VARCHAR) AS v, CAST(item AS BYTES) AS b, CAST(item AS VARBINARY(5)) AS w FROM bid;
SELECT CAST(k AS STRING) AS v, CAST(item AS BINARY) AS b, CAST(item AS BINARY) AS w FROM t_bid AS bid;

-- ROW
SELECT CAST(named_struct('a', k) AS ROW<a BIGINT>) AS r, CAST(array(k) AS ARRAY<VARCHAR>) AS a FROM bid;
SELECT CAST(named_struct('a', k) AS STRUCT<a: BIGINT>) AS r, CAST(array(k) AS ARRAY<STRING>) AS a FROM t_bid AS bid;

-- INTERVAL left out
SELECT ts - '5' SECOND AS t FROM bid WHERE ts > ts - '1' MINUTE;
SELECT ts - INTERVAL '5' SECOND AS t FROM t_bid AS bid WHERE ts > ts - INTERVAL '1' MINUTE;

-- times from numbers
SELECT TO_TIMESTAMP_LTZ(k, 0) AS s, TO_TIMESTAMP_LTZ(k * 1000, 3) AS m FROM bid;
SELECT transform(array(k), __value -> CASE WHEN typeof((__value)) = 'double' THEN CASE WHEN (__value) >= -62167219200 AND (__value) <= 253402300799 THEN timestamp_millis(CAST((__value) * 1000 AS BIGINT)) END ELSE CASE WHEN (__value) > -62167219201 AND (__value) < 253402300800 THEN timestamp_seconds(CAST((__value) AS BIGINT)) END END)[0] AS s, transform(array(k * 1000), __value -> CASE WHEN (__value) > -62167219200001 AND (__value) < 253402300800000 THEN timestamp_millis(CAST((__value) AS BIGINT)) END)[0] AS m FROM t_bid AS bid;

-- of a literal
SELECT TO_TIMESTAMP_LTZ(1700000000, 0) AS s, TO_TIMESTAMP_LTZ(5, 3) FROM bid;
SELECT timestamp_seconds(1700000000) AS s, timestamp_millis(5) AS `TO_TIMESTAMP_LTZ(5, 3)` FROM t_bid AS bid;

-- casts in casts, without a name
SELECT CAST(CAST(item AS TIMESTAMP(3)) AS VARCHAR) FROM bid;
SELECT CAST(transform(array(CAST(item AS TIMESTAMP_NTZ)), __t -> __t - make_dt_interval(0, 0, 0, extract(SECOND FROM __t) % 0.001))[0] AS STRING) FROM t_bid AS bid;

-- what Spark would not read is spelled anew in its own queries as well
SELECT CAST(name AS TIMESTAMP(3)) AS t FROM names;
SELECT transform(array(CAST(name AS TIMESTAMP_NTZ)), __t -> __t - make_dt_interval(0, 0, 0, extract(SECOND FROM __t) % 0.001))[0] AS t FROM names;

-- what it reads is left alone there
SELECT CAST(name AS TIMESTAMP) AS t, CAST(name AS VARCHAR(5)) AS v, since > TIMESTAMP '2024-01-01 00:00:00' AS s FROM names;
SELECT CAST(name AS TIMESTAMP) AS t, CAST(name AS VARCHAR(5)) AS v, since > TIMESTAMP '2024-01-01 00:00:00' AS s FROM names;

-- types that are the same
SELECT CAST(k AS BIGINT) AS b, CAST(k AS DECIMAL(10, 2)) AS d, CAST(item AS VARCHAR(5)) AS v, CAST(item AS DATE) AS t FROM bid;
SELECT CAST(k AS BIGINT) AS b, CAST(k AS DECIMAL(10, 2)) AS d, CAST(item AS VARCHAR(5)) AS v, CAST(item AS DATE) AS t FROM t_bid AS bid;

-- Spark's functions of times are not touched
SELECT TIMESTAMPADD(SECOND, 5, ts) AS a, TIMESTAMPDIFF(MINUTE, ts, ts) AS d FROM bid;
SELECT TIMESTAMPADD(SECOND, 5, ts) AS a, TIMESTAMPDIFF(MINUTE, ts, ts) AS d FROM t_bid AS bid;

-- in a join and in a sub-query
SELECT b.k FROM bid b JOIN names n ON n.name = CAST(b.ts AS VARCHAR) AND b.k IN (SELECT CAST(k AS INT) FROM ask WHERE at > TIMESTAMP '2024-01-01 00:00:00');
SELECT b.k FROM t_bid b JOIN names n ON n.name = CAST(b.ts AS STRING) AND b.k IN (SELECT CAST(k AS INT) FROM t_ask AS ask WHERE at > TIMESTAMP_NTZ '2024-01-01 00:00:00');

-- digits that nobody has
SELECT TO_TIMESTAMP_LTZ(k, 4) AS s FROM bid;
ERROR line 1, column 28: TO_TIMESTAMP_LTZ counts in 0, 3 or 6 digits, not 4.
  SELECT TO_TIMESTAMP_LTZ(k, 4) AS s FROM bid
                             ^;
