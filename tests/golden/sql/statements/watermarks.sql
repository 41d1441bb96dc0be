-- ascending
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'kafka'
)
;
-- bounded out of orderness
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka'
)
;
-- nested, and the word INTERVAL left out (seed 000)
CREATE TABLE t (event ROW<log_ts TIMESTAMP(3), message STRING>, WATERMARK FOR event.log_ts AS event.log_ts - '5' SECOND) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  event ROW<log_ts TIMESTAMP(3), message STRING>,
  WATERMARK FOR event.log_ts AS event.log_ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka'
)
hint: line 1, column 110: INTERVAL was added before the string; write it, as Spark does
;
-- three names deep
CREATE TABLE t (a ROW<b ROW<c TIMESTAMP(3)>>, WATERMARK FOR a.b.c AS a.b.c) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a ROW<b ROW<c TIMESTAMP(3)>>,
  WATERMARK FOR a.b.c AS a.b.c
) WITH (
  'connector' = 'kafka'
)
;
-- before its column, and several (seed 004)
CREATE TABLE t (WATERMARK FOR x AS x, WATERMARK FOR y AS y - INTERVAL '1' HOUR, x TIMESTAMP(3), y TIMESTAMP(3)) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  x TIMESTAMP(3),
  y TIMESTAMP(3),
  WATERMARK FOR x AS x,
  WATERMARK FOR y AS y - INTERVAL '1' HOUR
) WITH (
  'connector' = 'kafka'
)
;
-- for a column that is called watermark
CREATE TABLE t (watermark TIMESTAMP(3), WATERMARK FOR watermark AS watermark) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  `watermark` TIMESTAMP(3),
  WATERMARK FOR `watermark` AS watermark
) WITH (
  'connector' = 'kafka'
)
;
-- a function of several columns (seed 000)
CREATE TABLE t (log_ts TIMESTAMP(3), flag BOOLEAN, WATERMARK FOR log_ts AS watermarkOnFlag(log_ts, flag)) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  log_ts TIMESTAMP(3),
  flag BOOLEAN,
  WATERMARK FOR log_ts AS watermarkOnFlag(log_ts, flag)
) WITH (
  'connector' = 'kafka'
)
;
-- the source's own
CREATE TABLE t (rowtime AS SYSTEM_ROWTIME(), WATERMARK FOR rowtime AS SYSTEM_WATERMARK()) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  rowtime AS SYSTEM_ROWTIME(),
  WATERMARK FOR rowtime AS SYSTEM_WATERMARK()
) WITH (
  'connector' = 'kafka'
)
;
-- a proctime column: an error of a later step (seed 001)
CREATE TABLE t (current_time as proctime(), WATERMARK FOR current_time AS current_time) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  current_time AS proctime(),
  WATERMARK FOR current_time AS current_time
) WITH (
  'connector' = 'kafka'
)
;
-- a comma after it
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka'
)
hint: line 1, column 78: the comma after the last column is passed over
;
-- a name that needs backquotes
CREATE TABLE t (`order-ts` TIMESTAMP(3), WATERMARK FOR `order-ts` AS `order-ts` - INTERVAL '5' SECOND) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  `order-ts` TIMESTAMP(3),
  WATERMARK FOR `order-ts` AS `order-ts` - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka'
)
;
-- an interval of fractions (seed 000)
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - '0.001' SECOND) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '0.001' SECOND
) WITH (
  'connector' = 'kafka'
)
hint: line 1, column 59: INTERVAL was added before the string; write it, as Spark does
;
-- twice for one column
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts, WATERMARK FOR TS AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'kafka')
=>
error: line 1, column 72: 'TS' has a watermark already. A column has one; several columns may have one each.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts, WATERMARK FOR TS AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'kafka')
                                                                         ^^
;
-- WATERMARKS
CREATE TABLE t (ts TIMESTAMP(3), WATERMARKS FOR ts AS ts) WITH ('connector' = 'kafka')
=>
error: line 1, column 34: expected WATERMARK, found 'WATERMARKS'. Write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARKS FOR ts AS ts) WITH ('connector' = 'kafka')
                                   ^^^^^^^^^^
;
-- WATERMAK
CREATE TABLE t (ts TIMESTAMP(3), WATERMAK FOR ts AS ts) WITH ('connector' = 'kafka')
=>
error: line 1, column 34: expected WATERMARK, found 'WATERMAK'. Write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMAK FOR ts AS ts) WITH ('connector' = 'kafka')
                                   ^^^^^^^^
;
-- ON instead of FOR
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK ON ts AS ts) WITH ('connector' = 'kafka')
=>
error: line 1, column 44: expected FOR, found 'ON'. Write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARK ON ts AS ts) WITH ('connector' = 'kafka')
                                             ^^
;
-- FOR left out
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK ts AS ts) WITH ('connector' = 'kafka')
=>
error: line 1, column 44: expected FOR, found 'ts'. Write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARK ts AS ts) WITH ('connector' = 'kafka')
                                             ^^
;
-- a name, which seed 000 rejects
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK wm FOR ts AS ts) WITH ('connector' = 'kafka')
=>
error: line 1, column 44: a watermark has no name. Write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARK wm FOR ts AS ts) WITH ('connector' = 'kafka')
                                             ^^
;
-- AS left out
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka')
=>
error: line 1, column 51: expected AS, found 'ts'. Write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka')
                                                    ^^
;
-- IS instead of AS
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts IS ts) WITH ('connector' = 'kafka')
=>
error: line 1, column 51: expected AS, found 'IS'. Write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts IS ts) WITH ('connector' = 'kafka')
                                                    ^^
;
-- the expression left out
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS) WITH ('connector' = 'kafka')
=>
error: line 1, column 53: expected the watermark's expression, found ')'.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS) WITH ('connector' = 'kafka')
                                                      ^
;
-- the column left out
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR AS ts) WITH ('connector' = 'kafka')
=>
error: line 1, column 48: expected the column that the watermark is for, found 'AS'. Write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR AS ts) WITH ('connector' = 'kafka')
                                                 ^^
;
-- a comma before it left out
CREATE TABLE t (ts TIMESTAMP(3) WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka')
=>
error: line 1, column 33: expected ',' or ')' after the column 'ts', found 'WATERMARK'. A comma is missing before WATERMARK.
  CREATE TABLE t (ts TIMESTAMP(3) WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka')
                                  ^^^^^^^^^
;
-- a dot at the end
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts. AS ts) WITH ('connector' = 'kafka')
=>
error: line 1, column 55: expected AS, found 'ts'. Write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts. AS ts) WITH ('connector' = 'kafka')
                                                        ^^
;
-- typographic quotes (seed 000)
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts – ‘0.001’ SECOND) WITH ('connector' = 'kafka')
=>
error: line 1, column 59: ‘ is a typographic quote, as word processors make them. Use straight quotes: 'text' for a string, `name` for a name.
  CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts – ‘0.001’ SECOND) WITH ('connector' = 'kafka')
                                                            ^
;
-- outside of the parentheses
CREATE TABLE t (ts TIMESTAMP(3)) WATERMARK FOR ts AS ts WITH ('connector' = 'kafka')
=>
error: line 1, column 34: expected COMMENT, PARTITIONED BY, WITH, LIKE, AS or the end of the statement, found 'WATERMARK'. A watermark stands in the list of columns.
  CREATE TABLE t (ts TIMESTAMP(3)) WATERMARK FOR ts AS ts WITH ('connector' = 'kafka')
                                   ^^^^^^^^^
;
-- a column called watermark that is computed
CREATE TABLE t (watermark AS ts, ts TIMESTAMP(3)) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  `watermark` AS ts,
  ts TIMESTAMP(3)
) WITH (
  'connector' = 'kafka'
)
;
-- a word that is far from it
CREATE TABLE t (ts TIMESTAMP(3), PERIOD FOR SYSTEM_TIME) WITH ('connector' = 'kafka')
=>
error: line 1, column 41: expected the type of 'PERIOD' or AS, and there is no type 'FOR'. Types: ARRAY, BIGINT, BINARY, BOOLEAN, BYTE, BYTES, CHAR, CHARACTER, DATE, DEC, DECIMAL, DOUBLE, FLOAT, INT, INTEGER, INTERVAL, LONG, MAP, MULTISET, NUMERIC, REAL, ROW, SHORT, SMALLINT, STRING, STRUCT, TIME, TIMESTAMP, TIMESTAMP_LTZ, TIMESTAMP_NTZ, TINYINT, VARBINARY, VARCHAR.
  CREATE TABLE t (ts TIMESTAMP(3), PERIOD FOR SYSTEM_TIME) WITH ('connector' = 'kafka')
                                          ^^^
;
-- a column called watermark with a type that does not exist
CREATE TABLE t (watermark TIMESTAMPP) WITH ('connector' = 'kafka')
=>
error: line 1, column 27: expected the type of 'watermark' or AS, and there is no type 'TIMESTAMPP'. Did you mean TIMESTAMP?
  CREATE TABLE t (watermark TIMESTAMPP) WITH ('connector' = 'kafka')
                            ^^^^^^^^^^
;
