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
error: line 1, column 15: 't' is a table of Tidemark's, which has no such action. Its actions: ADD, MODIFY and DROP of columns, PRIMARY KEY and WATERMARK, RENAME column TO, RENAME TO, SET (...), RESET (...).
  ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')
                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- a column cannot be removed
CREATE TABLE t (a INT) WITH ('connector' = 'kafka')
--
ALTER TABLE t DROP COLUMN a
=>
error: line 1, column 27: table 't' would have no column. DROP TABLE drops it.
  ALTER TABLE t DROP COLUMN a
                            ^
;
-- columns at positions, also after new ones
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t ADD (a INT FIRST, b STRING AFTER a, c INT AFTER TS, e INT)
=>
CREATE TABLE t (
  a INT,
  b STRING,
  id INT,
  ts TIMESTAMP(3),
  c INT,
  dt STRING,
  d AS ts + INTERVAL '1' HOUR,
  n INT,
  e INT,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED
) PARTITIONED BY (dt) WITH (
  'connector' = 'filesystem'
)
;
-- columns, a key and a watermark at once
CREATE TABLE t (id INT) WITH ('connector' = 'kafka')
--
ALTER TABLE t ADD (s STRING, ts AS TO_TIMESTAMP(s) AFTER s, PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts)
=>
CREATE TABLE t (
  id INT,
  s STRING,
  ts AS TO_TIMESTAMP(s),
  WATERMARK FOR ts AS ts,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka'
)
;
-- after a column that does not exist
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t ADD a INT AFTER idd
=>
error: line 1, column 25: table 't' has no column 'idd'. Did you mean 'id'?
  ALTER TABLE t ADD a INT AFTER idd
                          ^^^^^^^^^
;
-- a key beside a key
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t ADD PRIMARY KEY (n) NOT ENFORCED
=>
error: line 1, column 19: table 't' has a primary key already. Use MODIFY to change it.
  ALTER TABLE t ADD PRIMARY KEY (n) NOT ENFORCED
                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- other columns, the same positions
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t MODIFY (N DOUBLE COMMENT 'x', ts TIMESTAMP(6))
=>
CREATE TABLE t (
  id INT,
  ts TIMESTAMP(6),
  dt STRING,
  d AS ts + INTERVAL '1' HOUR,
  N DOUBLE COMMENT 'x',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED
) PARTITIONED BY (dt) WITH (
  'connector' = 'filesystem'
)
;
-- other positions
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t MODIFY (n INT FIRST, ts TIMESTAMP(3) AFTER d)
=>
CREATE TABLE t (
  n INT,
  id INT,
  dt STRING,
  d AS ts + INTERVAL '1' HOUR,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED
) PARTITIONED BY (dt) WITH (
  'connector' = 'filesystem'
)
;
-- another key and watermark
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t MODIFY (PRIMARY KEY (n) NOT ENFORCED, WATERMARK FOR ts AS ts)
=>
CREATE TABLE t (
  id INT,
  ts TIMESTAMP(3),
  dt STRING,
  d AS ts + INTERVAL '1' HOUR,
  n INT,
  WATERMARK FOR ts AS ts,
  PRIMARY KEY (n) NOT ENFORCED
) PARTITIONED BY (dt) WITH (
  'connector' = 'filesystem'
)
;
-- a column that does not exist is not modified
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t MODIFY m INT
=>
error: line 1, column 22: table 't' has no column 'm'. It has id, ts, dt, d, n.
  ALTER TABLE t MODIFY m INT
                       ^^^^^
;
-- a column is not after itself
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t MODIFY n INT AFTER n
=>
error: line 1, column 28: column 'n' cannot follow itself. Leave AFTER out.
  ALTER TABLE t MODIFY n INT AFTER n
                             ^^^^^^^
;
-- no key to modify
CREATE TABLE t (id INT) WITH ('connector' = 'kafka')
--
ALTER TABLE t MODIFY PRIMARY KEY (id) NOT ENFORCED
=>
error: line 1, column 22: table 't' has no primary key. Use ADD.
  ALTER TABLE t MODIFY PRIMARY KEY (id) NOT ENFORCED
                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- columns go, and what is made of them
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t DROP WATERMARK
--
ALTER TABLE t DROP (d, ts, n)
=>
CREATE TABLE t (
  id INT,
  dt STRING,
  CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED
) PARTITIONED BY (dt) WITH (
  'connector' = 'filesystem'
)
;
-- a column that a computed one is made of
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t DROP WATERMARK
--
ALTER TABLE t DROP (n, ts)
=>
error: line 1, column 24: column 'ts' is needed by the computed column 'd'. Drop or change that first.
  ALTER TABLE t DROP (n, ts)
                         ^^
;
-- a column that the watermark is for
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t DROP (d, ts)
=>
error: line 1, column 24: column 'ts' is needed by the watermark for 'ts'. Drop or change that first.
  ALTER TABLE t DROP (d, ts)
                         ^^
;
-- a column of the key
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t DROP id
=>
error: line 1, column 20: column 'id' is needed by the primary key. Drop or change that first.
  ALTER TABLE t DROP id
                     ^^
;
-- a partition key
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t DROP dt
=>
error: line 1, column 20: column 'dt' is needed by PARTITIONED BY. Create the table anew.
  ALTER TABLE t DROP dt
                     ^^
;
-- a column that does not exist does not go
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t DROP m
=>
error: line 1, column 20: table 't' has no column 'm'. It has id, ts, dt, d, n.
  ALTER TABLE t DROP m
                     ^
;
-- the key goes
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t DROP PRIMARY KEY
--
ALTER TABLE t DROP (id)
=>
CREATE TABLE t (
  ts TIMESTAMP(3),
  dt STRING,
  d AS ts + INTERVAL '1' HOUR,
  n INT,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) PARTITIONED BY (dt) WITH (
  'connector' = 'filesystem'
)
;
-- the key goes by its name
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t DROP CONSTRAINT pk
=>
CREATE TABLE t (
  id INT,
  ts TIMESTAMP(3),
  dt STRING,
  d AS ts + INTERVAL '1' HOUR,
  n INT,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) PARTITIONED BY (dt) WITH (
  'connector' = 'filesystem'
)
;
-- another constraint
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t DROP CONSTRAINT other
=>
error: line 1, column 20: table 't' has no constraint 'other'. Its primary key is called 'pk'.
  ALTER TABLE t DROP CONSTRAINT other
                     ^^^^^^^^^^^^^^^^
;
-- no key
CREATE TABLE t (id INT) WITH ('connector' = 'kafka')
--
ALTER TABLE t DROP PRIMARY KEY
=>
error: line 1, column 20: table 't' has no primary key.
  ALTER TABLE t DROP PRIMARY KEY
                     ^^^^^^^^^^^
;
-- a column's name, which the key has too
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t RENAME ID TO `order id`
=>
CREATE TABLE t (
  `order id` INT,
  ts TIMESTAMP(3),
  dt STRING,
  d AS ts + INTERVAL '1' HOUR,
  n INT,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  CONSTRAINT pk PRIMARY KEY (`order id`) NOT ENFORCED
) PARTITIONED BY (dt) WITH (
  'connector' = 'filesystem'
)
;
-- a name that is taken
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t RENAME id TO N
=>
error: line 1, column 28: table 't' has a column 'N' already (case does not count). Choose another name.
  ALTER TABLE t RENAME id TO N
                             ^
;
-- another case of its name
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t RENAME n TO N
=>
CREATE TABLE t (
  id INT,
  ts TIMESTAMP(3),
  dt STRING,
  d AS ts + INTERVAL '1' HOUR,
  N INT,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED
) PARTITIONED BY (dt) WITH (
  'connector' = 'filesystem'
)
;
-- a name that an expression has
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t RENAME ts TO u
=>
error: line 1, column 22: column 'ts' is needed by the computed column 'd'. Drop that first, then add it anew.
  ALTER TABLE t RENAME ts TO u
                       ^^
;
-- a name that directories have
CREATE TABLE t (id INT, ts TIMESTAMP(3), dt STRING, d AS ts + INTERVAL '1' HOUR, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
ALTER TABLE t RENAME dt TO day
=>
error: line 1, column 22: column 'dt' is needed by PARTITIONED BY. Create the table anew.
  ALTER TABLE t RENAME dt TO day
                       ^^
;
-- positions behind expressions and comments
CREATE TABLE t (first INT, after STRING) WITH ('connector' = 'kafka')
--
ALTER TABLE t ADD (b AS first + 1 COMMENT 'one' AFTER first, c AS after FIRST, d AS first AFTER `after`, e AS first)
=>
CREATE TABLE t (
  c AS after,
  first INT,
  b AS first + 1 COMMENT 'one',
  after STRING,
  d AS first,
  e AS first
) WITH (
  'connector' = 'kafka'
)
;
