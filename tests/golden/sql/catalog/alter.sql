-- a watermark for a table that has none
CREATE TABLE t (a INT, ts TIMESTAMP(3)) WITH ('connector' = 'kafka')
--
ALTER TABLE t ADD WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
=>
CREATE TABLE t (
  a INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka'
)
;
-- one for another column
CREATE TABLE t (a INT, ts TIMESTAMP(3), e ROW<ts TIMESTAMP(3)>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'Topic' = 'x', 'password' = '${env:PW}')
--
ALTER TABLE t ADD WATERMARK FOR e.ts AS e.ts
=>
CREATE TABLE t (
  a INT,
  ts TIMESTAMP(3),
  e ROW<ts TIMESTAMP(3)>,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  WATERMARK FOR e.ts AS e.ts
) WITH (
  'connector' = 'kafka',
  'Topic' = 'x',
  'password' = '${env:PW}'
)
;
-- one for the same column (D11)
CREATE TABLE t (a INT, ts TIMESTAMP(3), e ROW<ts TIMESTAMP(3)>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'Topic' = 'x', 'password' = '${env:PW}')
--
ALTER TABLE t ADD WATERMARK FOR TS AS ts
=>
error: line 1, column 19: table 't' has a watermark for 'TS' already. Use MODIFY WATERMARK to change it.
  ALTER TABLE t ADD WATERMARK FOR TS AS ts
                    ^^^^^^^^^^^^^^^^^^^^^^
;
-- changed
CREATE TABLE t (a INT, ts TIMESTAMP(3), e ROW<ts TIMESTAMP(3)>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'Topic' = 'x', 'password' = '${env:PW}')
--
ALTER TABLE t MODIFY WATERMARK FOR Ts AS ts - INTERVAL '1' MINUTE
=>
CREATE TABLE t (
  a INT,
  ts TIMESTAMP(3),
  e ROW<ts TIMESTAMP(3)>,
  WATERMARK FOR Ts AS ts - INTERVAL '1' MINUTE
) WITH (
  'connector' = 'kafka',
  'Topic' = 'x',
  'password' = '${env:PW}'
)
;
-- the only one moves to another column
CREATE TABLE t (a INT, ts TIMESTAMP(3), e ROW<ts TIMESTAMP(3)>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'Topic' = 'x', 'password' = '${env:PW}')
--
ALTER TABLE t MODIFY WATERMARK FOR e.ts AS e.ts
=>
CREATE TABLE t (
  a INT,
  ts TIMESTAMP(3),
  e ROW<ts TIMESTAMP(3)>,
  WATERMARK FOR e.ts AS e.ts
) WITH (
  'connector' = 'kafka',
  'Topic' = 'x',
  'password' = '${env:PW}'
)
;
-- changed where there is none
CREATE TABLE t (a INT, ts TIMESTAMP(3)) WITH ('connector' = 'kafka')
--
ALTER TABLE t MODIFY WATERMARK FOR ts AS ts
=>
error: line 1, column 22: table 't' has no watermark. Use ADD WATERMARK.
  ALTER TABLE t MODIFY WATERMARK FOR ts AS ts
                       ^^^^^^^^^^^^^^^^^^^^^^
;
-- of several, the one that is named
CREATE TABLE t (ts TIMESTAMP(3), u TIMESTAMP(3), WATERMARK FOR ts AS ts, WATERMARK FOR u AS u)
--
ALTER TABLE t MODIFY WATERMARK FOR u AS u - INTERVAL '1' SECOND
=>
CREATE TABLE t (
  ts TIMESTAMP(3),
  u TIMESTAMP(3),
  WATERMARK FOR ts AS ts,
  WATERMARK FOR u AS u - INTERVAL '1' SECOND
)
;
-- of several, none is named
CREATE TABLE t (ts TIMESTAMP(3), u TIMESTAMP(3), WATERMARK FOR ts AS ts, WATERMARK FOR u AS u)
--
ALTER TABLE t MODIFY WATERMARK FOR v AS v
=>
error: line 1, column 22: table 't' has no watermark for 'v' but watermarks for 'ts', 'u'. Drop the one that it is to replace, then ADD this one.
  ALTER TABLE t MODIFY WATERMARK FOR v AS v
                       ^^^^^^^^^^^^^^^^^^^^
;
-- removed
CREATE TABLE t (a INT, ts TIMESTAMP(3), e ROW<ts TIMESTAMP(3)>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'Topic' = 'x', 'password' = '${env:PW}')
--
ALTER TABLE t DROP WATERMARK
=>
CREATE TABLE t (
  a INT,
  ts TIMESTAMP(3),
  e ROW<ts TIMESTAMP(3)>
) WITH (
  'connector' = 'kafka',
  'Topic' = 'x',
  'password' = '${env:PW}'
)
;
-- removed where there is none
CREATE TABLE t (a INT, ts TIMESTAMP(3)) WITH ('connector' = 'kafka')
--
ALTER TABLE t DROP WATERMARK
=>
error: line 1, column 20: table 't' has no watermark.
  ALTER TABLE t DROP WATERMARK
                     ^^^^^^^^^
;
-- removed by name
CREATE TABLE t (ts TIMESTAMP(3), u TIMESTAMP(3), WATERMARK FOR ts AS ts, WATERMARK FOR u AS u)
--
ALTER TABLE t DROP WATERMARK FOR TS
=>
CREATE TABLE t (
  ts TIMESTAMP(3),
  u TIMESTAMP(3),
  WATERMARK FOR u AS u
)
;
-- removed by a name that has none
CREATE TABLE t (ts TIMESTAMP(3), u TIMESTAMP(3), WATERMARK FOR ts AS ts, WATERMARK FOR u AS u)
--
ALTER TABLE t DROP WATERMARK FOR v
=>
error: line 1, column 20: table 't' has no watermark for 'v', only watermarks for 'ts', 'u'.
  ALTER TABLE t DROP WATERMARK FOR v
                     ^^^^^^^^^^^^^^^
;
-- removed by a name, and only another has one
CREATE TABLE t (a INT, ts TIMESTAMP(3), e ROW<ts TIMESTAMP(3)>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'Topic' = 'x', 'password' = '${env:PW}')
--
ALTER TABLE t DROP WATERMARK FOR a
=>
error: line 1, column 20: table 't' has no watermark for 'a', only one for 'ts'.
  ALTER TABLE t DROP WATERMARK FOR a
                     ^^^^^^^^^^^^^^^
;
-- of several, which?
CREATE TABLE t (ts TIMESTAMP(3), u TIMESTAMP(3), WATERMARK FOR ts AS ts, WATERMARK FOR u AS u)
--
ALTER TABLE t DROP WATERMARK
=>
error: line 1, column 20: table 't' has watermarks for 'ts', 'u'. Say which: DROP WATERMARK FOR column.
  ALTER TABLE t DROP WATERMARK
                     ^^^^^^^^^
;
-- one after the other
CREATE TABLE t (ts TIMESTAMP(3), u TIMESTAMP(3), WATERMARK FOR ts AS ts, WATERMARK FOR u AS u)
--
ALTER TABLE t DROP WATERMARK FOR u
--
ALTER TABLE t DROP WATERMARK
--
ALTER TABLE t ADD WATERMARK FOR u AS u
=>
CREATE TABLE t (
  ts TIMESTAMP(3),
  u TIMESTAMP(3),
  WATERMARK FOR u AS u
)
;
-- another name
CREATE TABLE t (a INT, ts TIMESTAMP(3), e ROW<ts TIMESTAMP(3)>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'Topic' = 'x', 'password' = '${env:PW}')
--
ALTER TABLE t RENAME TO `orders 2`
=>
CREATE TABLE `orders 2` (
  a INT,
  ts TIMESTAMP(3),
  e ROW<ts TIMESTAMP(3)>,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka',
  'Topic' = 'x',
  'password' = '${env:PW}'
)
;
-- options: one more, one in another case
CREATE TABLE t (a INT, ts TIMESTAMP(3), e ROW<ts TIMESTAMP(3)>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'Topic' = 'x', 'password' = '${env:PW}')
--
ALTER TABLE t SET ('topic' = 'y', 'format' = 'json')
=>
CREATE TABLE t (
  a INT,
  ts TIMESTAMP(3),
  e ROW<ts TIMESTAMP(3)>,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka',
  'Topic' = 'y',
  'password' = '${env:PW}',
  'format' = 'json'
)
;
-- a masked secret is none
CREATE TABLE t (a INT, ts TIMESTAMP(3), e ROW<ts TIMESTAMP(3)>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'Topic' = 'x', 'password' = '${env:PW}')
--
ALTER TABLE t SET ('password' = '******')
=>
error: line 1, column 20: option 'password' = '******' is shown instead of a secret, it is not its value. Write '${env:NAME}' or '${file:PATH}', or the value itself.
  ALTER TABLE t SET ('password' = ********)
                     ^^^^^^^^^^
;
-- an option removed
CREATE TABLE t (a INT, ts TIMESTAMP(3), e ROW<ts TIMESTAMP(3)>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'Topic' = 'x', 'password' = '${env:PW}')
--
ALTER TABLE t RESET ('topic')
=>
CREATE TABLE t (
  a INT,
  ts TIMESTAMP(3),
  e ROW<ts TIMESTAMP(3)>,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka',
  'password' = '${env:PW}'
)
;
-- an option that is not there
CREATE TABLE t (a INT, ts TIMESTAMP(3), e ROW<ts TIMESTAMP(3)>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'Topic' = 'x', 'password' = '${env:PW}')
--
ALTER TABLE t RESET ('topik')
=>
error: line 1, column 22: table 't' has no option 'topik'. Did you mean 'Topic'?
  ALTER TABLE t RESET ('topik')
                       ^^^^^^^
;
-- an option twice
CREATE TABLE t (a INT, ts TIMESTAMP(3), e ROW<ts TIMESTAMP(3)>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'Topic' = 'x', 'password' = '${env:PW}')
--
ALTER TABLE t RESET ('topic', 'TOPIC')
=>
error: line 1, column 31: the option 'TOPIC' is there already (line 1, column 22). Leave one of the two out.
  ALTER TABLE t RESET ('topic', 'TOPIC')
                                ^^^^^^^
;
-- the connector
CREATE TABLE t (a INT, ts TIMESTAMP(3), e ROW<ts TIMESTAMP(3)>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'Topic' = 'x', 'password' = '${env:PW}')
--
ALTER TABLE t RESET ('connector')
=>
error: line 1, column 22: a table needs its 'connector'. SET another one, or drop the table.
  ALTER TABLE t RESET ('connector')
                       ^^^^^^^^^^^
;
-- a column
CREATE TABLE t (a INT, ts TIMESTAMP(3)) WITH ('connector' = 'kafka')
--
ALTER TABLE t ADD b STRING COMMENT 'new'
=>
CREATE TABLE t (
  a INT,
  ts TIMESTAMP(3),
  b STRING COMMENT 'new'
) WITH (
  'connector' = 'kafka'
)
;
-- columns of all kinds
CREATE TABLE t (a INT, ts TIMESTAMP(3)) WITH ('connector' = 'kafka')
--
ALTER TABLE t ADD (b STRING, c AS a + 1, o BIGINT METADATA FROM 'offset' VIRTUAL)
=>
CREATE TABLE t (
  a INT,
  ts TIMESTAMP(3),
  b STRING,
  c AS a + 1,
  o BIGINT METADATA FROM 'offset' VIRTUAL
) WITH (
  'connector' = 'kafka'
)
;
-- a column that is there
CREATE TABLE t (a INT, ts TIMESTAMP(3)) WITH ('connector' = 'kafka')
--
ALTER TABLE t ADD (b STRING, A STRING)
=>
error: line 1, column 30: table 't' has a column 'A' already (case does not count). Choose another name.
  ALTER TABLE t ADD (b STRING, A STRING)
                               ^^^^^^^^
;
-- a column twice
CREATE TABLE t (a INT, ts TIMESTAMP(3)) WITH ('connector' = 'kafka')
--
ALTER TABLE t ADD (b STRING, B STRING)
=>
error: line 1, column 30: the column 'B' is there already (line 1, column 20). Rename one of the two; upper and lower case are not distinguished.
  ALTER TABLE t ADD (b STRING, B STRING)
                               ^
;
-- what only Spark's tables can do
CREATE TABLE t (a INT) WITH ('connector' = 'kafka')
--
ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')
=>
error: line 1, column 15: 't' is a table of Tidemark's, which has no such action. Its actions: ADD, MODIFY or DROP WATERMARK, ADD columns, SET (...), RESET (...), RENAME TO.
  ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')
                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- a column cannot be removed
CREATE TABLE t (a INT) WITH ('connector' = 'kafka')
--
ALTER TABLE t DROP COLUMN a
=>
error: line 1, column 15: 't' is a table of Tidemark's, which has no such action. Its actions: ADD, MODIFY or DROP WATERMARK, ADD columns, SET (...), RESET (...), RENAME TO.
  ALTER TABLE t DROP COLUMN a
                ^^^^^^^^^^^^^
;
