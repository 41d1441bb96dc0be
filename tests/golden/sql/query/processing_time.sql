-- the time at which a batch runs
SELECT k, PROCTIME() AS p FROM bid;
SELECT k, current_timestamp() AS p FROM t_bid AS bid;

-- without a name
SELECT PROCTIME() FROM bid;
SELECT current_timestamp() AS `PROCTIME()` FROM t_bid AS bid;

-- in a condition
SELECT k FROM click JOIN names ON since < PROCTIME() WHERE lt < PROCTIME() - INTERVAL '1' HOUR;
SELECT k FROM t_click AS click JOIN names ON since < current_timestamp() WHERE lt < current_timestamp() - INTERVAL '1' HOUR;

-- twice
SELECT PROCTIME() AS a, proctime( ) AS b FROM bid;
SELECT current_timestamp() AS a, current_timestamp() AS b FROM t_bid AS bid;

-- inside of a function
SELECT unix_seconds(PROCTIME()) AS s FROM bid;
SELECT unix_seconds(current_timestamp()) AS s FROM t_bid AS bid;

-- without a table of ours, because Spark has no such function
SELECT PROCTIME() AS p FROM names;
SELECT current_timestamp() AS p FROM names;

-- in a sub-query
SELECT p FROM (SELECT PROCTIME() AS p, k FROM bid) WHERE k = 1;
SELECT p FROM (SELECT current_timestamp() AS p, k FROM t_bid AS bid) WHERE k = 1;

-- a column of this name is none
SELECT proctime FROM (SELECT k AS proctime FROM bid);
SELECT proctime FROM (SELECT k AS proctime FROM t_bid AS bid);

-- a string is none
SELECT 'PROCTIME()' AS p FROM bid;
SELECT 'PROCTIME()' AS p FROM t_bid AS bid;

-- arguments
SELECT PROCTIME(3) AS p FROM bid;
ERROR line 1, column 8: PROCTIME takes no arguments. Write PROCTIME().
  SELECT PROCTIME(3) AS p FROM bid
         ^^^^^^^^^^^;
