-- replay 30: unknown column
CREATE TABLE t (orders INT, order_ts TIMESTAMP(3), WATERMARK FOR ordr_ts AS order_ts)
=>
error: line 1, column 66: there is no column 'ordr_ts'. Did you mean 'order_ts' or 'orders'?
  CREATE TABLE t (orders INT, order_ts TIMESTAMP(3), WATERMARK FOR ordr_ts AS order_ts)
                                                                   ^^^^^^^
;
-- unknown, and nothing like it
CREATE TABLE t (a INT, WATERMARK FOR zzzz AS a)
=>
error: line 1, column 38: there is no column 'zzzz'. Columns: a.
  CREATE TABLE t (a INT, WATERMARK FOR zzzz AS a)
                                       ^^^^
;
-- replay 30: text
CREATE TABLE t (
  a INT,
  c STRING,
  WATERMARK FOR c AS c - INTERVAL '5' SECOND
)
=>
error: line 4, column 17: 'c' is STRING: a time attribute is TIMESTAMP or TIMESTAMP_LTZ. Add a column `rowtime AS TO_TIMESTAMP(c)` and declare the watermark for it.
    WATERMARK FOR c AS c - INTERVAL '5' SECOND
                  ^
;
-- a number
CREATE TABLE t (c BIGINT, WATERMARK FOR c AS c - 5000)
=>
error: line 1, column 41: 'c' is BIGINT: a time attribute is TIMESTAMP or TIMESTAMP_LTZ. Add a column `rowtime AS TO_TIMESTAMP_LTZ(c, 3)` and declare the watermark for it.
  CREATE TABLE t (c BIGINT, WATERMARK FOR c AS c - 5000)
                                          ^
;
-- a date
CREATE TABLE t (c DATE, WATERMARK FOR c AS c)
=>
error: line 1, column 39: 'c' is DATE: a time attribute is TIMESTAMP or TIMESTAMP_LTZ. Add a column `rowtime AS CAST(c AS TIMESTAMP)` and declare the watermark for it.
  CREATE TABLE t (c DATE, WATERMARK FOR c AS c)
                                        ^
;
-- replay 30: a processing time (D3; FLIP-296's text shows one)
CREATE TABLE t (a INT, ts AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
=>
error: line 1, column 56: 'ts' is a processing time: it has no watermark. Remove the WATERMARK clause; windows over it work.
  CREATE TABLE t (a INT, ts AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
                                                         ^^
;
-- replay 30: a moment for a wall clock (D4)
-- type: l - INTERVAL '1' SECOND is TIMESTAMP
CREATE TABLE t (c TIMESTAMP(3), l TIMESTAMP_LTZ(3), WATERMARK FOR c AS l - INTERVAL '1' SECOND)
=>
error: line 1, column 72: the expression is TIMESTAMP_LTZ (a moment), and 'c' is TIMESTAMP (a wall clock). A watermark has the type of its column, or is BIGINT: milliseconds since 1970 in UTC.
  CREATE TABLE t (c TIMESTAMP(3), l TIMESTAMP_LTZ(3), WATERMARK FOR c AS l - INTERVAL '1' SECOND)
                                                                         ^^^^^^^^^^^^^^^^^^^^^^^
;
-- a wall clock for a moment
-- type: c is TIMESTAMP_NTZ
CREATE TABLE t (c TIMESTAMP(3), l TIMESTAMP_LTZ(3), WATERMARK FOR l AS c)
=>
error: line 1, column 72: the expression is TIMESTAMP (a wall clock), and 'l' is TIMESTAMP_LTZ (a moment). A watermark has the type of its column, or is BIGINT: milliseconds since 1970 in UTC.
  CREATE TABLE t (c TIMESTAMP(3), l TIMESTAMP_LTZ(3), WATERMARK FOR l AS c)
                                                                         ^
;
-- no time at all
-- type: c > TIMESTAMP_NTZ '2020-01-01 00:00:00' is BOOLEAN
CREATE TABLE t (c TIMESTAMP(3), WATERMARK FOR c AS c > TIMESTAMP_NTZ '2020-01-01 00:00:00')
=>
error: line 1, column 52: the expression is BOOLEAN, and 'c' is TIMESTAMP (a wall clock). A watermark has the type of its column, or is BIGINT: milliseconds since 1970 in UTC.
  CREATE TABLE t (c TIMESTAMP(3), WATERMARK FOR c AS c > TIMESTAMP_NTZ '2020-01-01 00:00:00')
                                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- replay 30: metadata that the connector does not have
CREATE TABLE t (o BIGINT METADATA FROM 'ofset')
=>
error: line 1, column 17: this connector has no metadata 'ofset'. Its keys: headers, offset, partition, timestamp, topic. Did you mean 'offset'?
  CREATE TABLE t (o BIGINT METADATA FROM 'ofset')
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- the column's name is the key
CREATE TABLE t (a INT, leader BIGINT METADATA VIRTUAL)
=>
error: line 1, column 24: this connector has no metadata 'leader'. Its keys: headers, offset, partition, timestamp, topic. Did you mean 'headers'?
  CREATE TABLE t (a INT, leader BIGINT METADATA VIRTUAL)
                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- a connector without metadata
CREATE TABLE t (o BIGINT METADATA FROM 'offset') WITH ('connector' = 'parquet')
=>
error: line 1, column 17: connector 'parquet' has no metadata. Leave METADATA out if the column is one of the source's.
  CREATE TABLE t (o BIGINT METADATA FROM 'offset') WITH ('connector' = 'parquet')
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- metadata that cannot be cast (D8)
CREATE TABLE t (h INT METADATA FROM 'headers')
=>
error: line 1, column 17: the metadata 'headers' is MAP<STRING, BINARY> and cannot become INT: no type for 'CAST(__tidemark_cast_0 AS INT)'.
  CREATE TABLE t (h INT METADATA FROM 'headers')
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- an expression that Spark refuses (D6)
CREATE TABLE t (a INT, b AS no_such(a))
=>
error: line 1, column 29: Spark refuses the expression: no type for 'no_such(a)'.
  CREATE TABLE t (a INT, b AS no_such(a))
                              ^^^^^^^^^^
;
-- in a watermark
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts -  no_such(ts))
=>
error: line 1, column 54: Spark refuses the expression: no type for 'ts -  no_such(ts)'.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts -  no_such(ts))
                                                       ^^^^^^^^^^^^^^^^^
;
-- an unknown column in an expression
CREATE TABLE t (price INT, b AS price * 2 + quantity)
=>
error: line 1, column 45: there is no column 'quantity'. Columns: price, b.
  CREATE TABLE t (price INT, b AS price * 2 + quantity)
                                              ^^^^^^^^
;
-- an unknown column in a watermark, on its second line
CREATE TABLE t (ts TIMESTAMP(3), delay INT, WATERMARK FOR ts AS ts -
    make_dt_interval(0, 0, 0, delya))
=>
error: line 2, column 31: there is no column 'delya'. Did you mean 'delay'?
      make_dt_interval(0, 0, 0, delya))
                                ^^^^^
;
-- a random watermark
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - make_dt_interval(0, 0, 0, rand() * 5))
=>
error: line 1, column 85: a watermark must be the same whenever a record is read again, and RAND() is not. Use what the records hold; for processing time, a column `pt AS PROCTIME()` without a watermark.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - make_dt_interval(0, 0, 0, rand() * 5))
                                                                                      ^^^^^^
;
-- a clock, with parentheses and without
CREATE TABLE t (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS least(ts, now()))
=>
error: line 1, column 68: a watermark must be the same whenever a record is read again, and NOW() is not. Use what the records hold; for processing time, a column `pt AS PROCTIME()` without a watermark.
  CREATE TABLE t (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS least(ts, now()))
                                                                     ^^^^^
;
-- a clock without parentheses
CREATE TABLE t (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS least(ts, CURRENT_TIMESTAMP))
=>
error: line 1, column 68: a watermark must be the same whenever a record is read again, and CURRENT_TIMESTAMP() is not. Use what the records hold; for processing time, a column `pt AS PROCTIME()` without a watermark.
  CREATE TABLE t (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS least(ts, CURRENT_TIMESTAMP))
                                                                     ^^^^^^^^^^^^^^^^^
;
-- a clock inside of a computed column
CREATE TABLE t (ts TIMESTAMP_LTZ(3), age AS now() - ts, WATERMARK FOR ts AS ts - age)
=>
error: line 1, column 82: a watermark must be the same whenever a record is read again, and NOW() in 'age' is not. Use what the records hold; for processing time, a column `pt AS PROCTIME()` without a watermark.
  CREATE TABLE t (ts TIMESTAMP_LTZ(3), age AS now() - ts, WATERMARK FOR ts AS ts - age)
                                                                                   ^^^
;
-- a processing time inside of a watermark
CREATE TABLE t (ts TIMESTAMP_LTZ(3), pt AS PROCTIME(), WATERMARK FOR ts AS least(ts, pt))
=>
error: line 1, column 86: a watermark must be the same whenever a record is read again, and PROCTIME() in 'pt' is not. Use what the records hold; for processing time, a column `pt AS PROCTIME()` without a watermark.
  CREATE TABLE t (ts TIMESTAMP_LTZ(3), pt AS PROCTIME(), WATERMARK FOR ts AS least(ts, pt))
                                                                                       ^^
;
-- an attribute that is a clock
CREATE TABLE t (a INT, ts AS localtimestamp(), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
=>
error: line 1, column 62: 'ts' is computed with LOCALTIMESTAMP(), which differs when a record is read again. Declare the watermark for a time that the records hold.
  CREATE TABLE t (a INT, ts AS localtimestamp(), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
                                                               ^^
;
-- a clock by a call without its argument
CREATE TABLE t (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS unix_timestamp() * 1000)
=>
error: line 1, column 58: a watermark must be the same whenever a record is read again, and unix_timestamp without an argument is not. Use what the records hold; for processing time, a column `pt AS PROCTIME()` without a watermark.
  CREATE TABLE t (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS unix_timestamp() * 1000)
                                                           ^^^^^^^^^^^^^^^^
;
-- seed 000: SYSTEM_WATERMARK() needs SYSTEM_ROWTIME()
CREATE TABLE t (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS SYSTEM_WATERMARK())
=>
error: line 1, column 58: SYSTEM_WATERMARK() needs a column that is SYSTEM_ROWTIME(), and 'ts' is not. Write `rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS SYSTEM_WATERMARK()`.
  CREATE TABLE t (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS SYSTEM_WATERMARK())
                                                           ^^^^^^^^^^^^^^^^^^
;
-- also by Flink's name, and where the column is computed otherwise
CREATE TABLE t (s STRING, ts AS TO_TIMESTAMP(s), WATERMARK FOR ts AS SOURCE_WATERMARK())
=>
error: line 1, column 70: SOURCE_WATERMARK() needs a column that is SYSTEM_ROWTIME(), and 'ts' is not. Write `rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS SOURCE_WATERMARK()`.
  CREATE TABLE t (s STRING, ts AS TO_TIMESTAMP(s), WATERMARK FOR ts AS SOURCE_WATERMARK())
                                                                       ^^^^^^^^^^^^^^^^^^
;
-- S1: not as a part
CREATE TABLE t (rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS SYSTEM_WATERMARK() - INTERVAL '1' SECOND)
=>
error: line 1, column 61: SYSTEM_WATERMARK() can only be a whole watermark expression. Write `rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS SYSTEM_WATERMARK()`.
  CREATE TABLE t (rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS SYSTEM_WATERMARK() - INTERVAL '1' SECOND)
                                                              ^^^^^^^^^^^^^^^^^^
;
-- S1: not in a column
CREATE TABLE t (a INT, w AS SOURCE_WATERMARK())
=>
error: line 1, column 29: SOURCE_WATERMARK() can only be a whole watermark expression. Write `rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS SOURCE_WATERMARK()`.
  CREATE TABLE t (a INT, w AS SOURCE_WATERMARK())
                              ^^^^^^^^^^^^^^^^^^
;
-- S1: no arguments
CREATE TABLE t (rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS SYSTEM_WATERMARK(rt))
=>
error: line 1, column 61: SYSTEM_WATERMARK() takes no arguments.
  CREATE TABLE t (rt AS SYSTEM_ROWTIME(), WATERMARK FOR rt AS SYSTEM_WATERMARK(rt))
                                                              ^^^^^^^^^^^^^^^^^^^^
;
-- SYSTEM_ROWTIME() is all of a column
CREATE TABLE t (rt AS SYSTEM_ROWTIME() - INTERVAL '1' SECOND)
=>
error: line 1, column 23: SYSTEM_ROWTIME() can only be all of a computed column. Write `rt AS SYSTEM_ROWTIME()` and use rt in other expressions.
  CREATE TABLE t (rt AS SYSTEM_ROWTIME() - INTERVAL '1' SECOND)
                        ^^^^^^^^^^^^^^^^
;
-- and no part of a watermark
CREATE TABLE t (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS SYSTEM_ROWTIME())
=>
error: line 1, column 58: SYSTEM_ROWTIME() can only be all of a computed column. Write `rt AS SYSTEM_ROWTIME()` and use rt in other expressions.
  CREATE TABLE t (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS SYSTEM_ROWTIME())
                                                           ^^^^^^^^^^^^^^^^
;
-- a connector whose records have no time
CREATE TABLE t (rt AS SYSTEM_ROWTIME()) WITH ('connector' = 'rate')
=>
error: line 1, column 23: this connector does not give its records a time.
  CREATE TABLE t (rt AS SYSTEM_ROWTIME()) WITH ('connector' = 'rate')
                        ^^^^^^^^^^^^^^^^
;
-- PROCTIME takes no arguments
CREATE TABLE t (pt AS PROCTIME(3))
=>
error: line 1, column 23: PROCTIME() takes no arguments.
  CREATE TABLE t (pt AS PROCTIME(3))
                        ^^^^^^^^^^^
;
-- a name that Tidemark adds
CREATE TABLE t (a INT, _Watermark TIMESTAMP(3))
=>
error: line 1, column 24: '_Watermark' is the name of a column that Tidemark adds. Choose another one.
  CREATE TABLE t (a INT, _Watermark TIMESTAMP(3))
                         ^^^^^^^^^^^^^^^^^^^^^^^
;
-- also of a computed column
CREATE TABLE t (a INT, _late AS a > 1)
=>
error: line 1, column 24: '_late' is the name of a column that Tidemark adds. Choose another one.
  CREATE TABLE t (a INT, _late AS a > 1)
                         ^^^^^^^^^^^^^^
;
-- and the hidden ones
CREATE TABLE t (a INT, __tidemark_stamp INT)
=>
error: line 1, column 24: '__tidemark_stamp' is the name of a column that Tidemark adds. Choose another one.
  CREATE TABLE t (a INT, __tidemark_stamp INT)
                         ^^^^^^^^^^^^^^^^^^^^
;
-- a field of no row
CREATE TABLE t (a ARRAY<INT>, WATERMARK FOR a.b AS a.b)
=>
error: line 1, column 45: 'a' is ARRAY<INT>, not a ROW: it has no field 'b'.
  CREATE TABLE t (a ARRAY<INT>, WATERMARK FOR a.b AS a.b)
                                              ^^^
;
-- a field that is not there
CREATE TABLE t (event ROW<log_ts TIMESTAMP(3), message STRING>, WATERMARK FOR event.logts AS event.log_ts)
=>
error: line 1, column 79: 'event' has no field 'logts'. Did you mean 'log_ts'?
  CREATE TABLE t (event ROW<log_ts TIMESTAMP(3), message STRING>, WATERMARK FOR event.logts AS event.log_ts)
                                                                                ^^^^^^^^^^^
;
-- a field of another type
CREATE TABLE t (event ROW<log_ts TIMESTAMP(3), message STRING>, WATERMARK FOR event.message AS event.log_ts)
=>
error: line 1, column 79: 'event.message' is STRING: a time attribute is TIMESTAMP or TIMESTAMP_LTZ. Add a column `rowtime AS TO_TIMESTAMP(event.message)` and declare the watermark for it.
  CREATE TABLE t (event ROW<log_ts TIMESTAMP(3), message STRING>, WATERMARK FOR event.message AS event.log_ts)
                                                                                ^^^^^^^^^^^^^
;
-- the column that carries a nested attribute is taken
CREATE TABLE t (a ROW<b TIMESTAMP(3)>, a_b INT, WATERMARK FOR a.b AS a.b)
=>
error: line 1, column 63: the nested attribute 'a.b' becomes the column 'a_b', which is there already. Rename that one.
  CREATE TABLE t (a ROW<b TIMESTAMP(3)>, a_b INT, WATERMARK FOR a.b AS a.b)
                                                                ^^^
;
-- computed columns in a circle
CREATE TABLE t (a AS b + 1, b AS c + 1, c AS a + 1)
=>
error: line 1, column 22: computed columns refer to each other in a circle: a -> b -> c -> a.
  CREATE TABLE t (a AS b + 1, b AS c + 1, c AS a + 1)
                       ^^^^^
;
-- a column in terms of itself
CREATE TABLE t (x INT, a AS a + x)
=>
error: line 1, column 29: computed columns refer to each other in a circle: a -> a.
  CREATE TABLE t (x INT, a AS a + x)
                              ^^^^^
;
-- a circle that only a watermark would follow
CREATE TABLE t (ts TIMESTAMP(3), a AS b, b AS a, WATERMARK FOR ts AS ts - a)
=>
error: line 1, column 39: computed columns refer to each other in a circle: a -> b -> a.
  CREATE TABLE t (ts TIMESTAMP(3), a AS b, b AS a, WATERMARK FOR ts AS ts - a)
                                        ^
;
-- two operators in a row
CREATE TABLE t (a INT, b AS a + * 2)
=>
error: line 1, column 35: the expression does not parse. It is Spark SQL, one expression.
  CREATE TABLE t (a INT, b AS a + * 2)
                                    ^
;
-- a query
CREATE TABLE t (a INT, b AS (SELECT max(a) FROM s))
=>
error: line 1, column 29: a query cannot stand in an expression of a table. It is Spark SQL, one expression.
  CREATE TABLE t (a INT, b AS (SELECT max(a) FROM s))
                              ^^^^^^^^^^^^^^^^^^^^^^
;
-- a key of a column that is not there
CREATE TABLE t (order_id INT, PRIMARY KEY (orderid) NOT ENFORCED)
=>
error: line 1, column 31: there is no column 'orderid'. Did you mean 'order_id'?
  CREATE TABLE t (order_id INT, PRIMARY KEY (orderid) NOT ENFORCED)
                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- a key of a computed column
CREATE TABLE t (a INT, b AS a + 1, PRIMARY KEY (b) NOT ENFORCED)
=>
error: line 1, column 36: column 'b' is computed: a key consists of columns that the records hold.
  CREATE TABLE t (a INT, b AS a + 1, PRIMARY KEY (b) NOT ENFORCED)
                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- a key of a metadata column
CREATE TABLE t (a INT, offset BIGINT METADATA, PRIMARY KEY (a, offset) NOT ENFORCED)
=>
error: line 1, column 48: column 'offset' is a metadata column: a key consists of columns that the records hold.
  CREATE TABLE t (a INT, offset BIGINT METADATA, PRIMARY KEY (a, offset) NOT ENFORCED)
                                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- a type that cannot be read
CREATE TABLE t (a INT, b ARRAY<TIME(0)>)
=>
error: line 1, column 24: 'b' is ARRAY<TIME(0)>: columns of type TIME cannot be read: no source of Tidemark makes times without a date. Declare it as STRING, or as TIMESTAMP(3) with a date.
  CREATE TABLE t (a INT, b ARRAY<TIME(0)>)
                         ^^^^^^^^^^^^^^^^
;
-- a lambda variable with the name of a column that a computed column is made of
CREATE TABLE t (x INT, d AS x * 2, xs ARRAY<INT>, ys AS transform(xs, x -> x + d))
=>
error: line 1, column 80: this is computed from the column 'x', which a lambda variable of that name hides. Give the variable another name.
  CREATE TABLE t (x INT, d AS x * 2, xs ARRAY<INT>, ys AS transform(xs, x -> x + d))
                                                                                 ^
;
-- all columns, whichever they are
CREATE TABLE t (a INT, b AS hash(*))
=>
error: line 1, column 29: '*' has no meaning in a table's own expression. Write the columns out.
  CREATE TABLE t (a INT, b AS hash(*))
                              ^^^^^^^
;
-- a name after an expression
CREATE TABLE t (a INT, b AS a + 1 AS c)
=>
error: line 1, column 35: the expression does not parse. It is Spark SQL, one expression.
  CREATE TABLE t (a INT, b AS a + 1 AS c)
                                    ^^
;
-- a partition key that is no column
CREATE TABLE t (a INT, dt STRING) PARTITIONED BY (dtt) WITH ('connector' = 'filesystem')
=>
error: line 1, column 35: there is no column 'dtt'. Did you mean 'dt'?
  CREATE TABLE t (a INT, dt STRING) PARTITIONED BY (dtt) WITH ('connector' = 'filesystem')
                                    ^^^^^^^^^^^^^^^^^^^^
;
-- a computed partition key
CREATE TABLE t (a INT, dt AS CAST(a AS STRING)) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
=>
error: line 1, column 49: column 'dt' is computed, and partitions are of stored columns. Declare it with a type, and let the query that is inserted compute it.
  CREATE TABLE t (a INT, dt AS CAST(a AS STRING)) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
                                                  ^^^^^^^^^^^^^^^^^^^
;
-- a partition key without a text
CREATE TABLE t (a INT, d ROW<x INT>) PARTITIONED BY (d) WITH ('connector' = 'filesystem')
=>
error: line 1, column 38: column 'd' is ROW<x INT>: no directory can be named after its values.
  CREATE TABLE t (a INT, d ROW<x INT>) PARTITIONED BY (d) WITH ('connector' = 'filesystem')
                                       ^^^^^^^^^^^^^^^^^^
;
-- partition keys only
CREATE TABLE t (a INT, b AS a + 1) PARTITIONED BY (a) WITH ('connector' = 'filesystem')
=>
error: line 1, column 36: all columns are partition keys, and the files would have none. Leave one out.
  CREATE TABLE t (a INT, b AS a + 1) PARTITIONED BY (a) WITH ('connector' = 'filesystem')
                                     ^^^^^^^^^^^^^^^^^^
;
