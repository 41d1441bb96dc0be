-- all is taken; the statement's options count (INCLUDING ALL OVERWRITING OPTIONS); the comment is the statement's
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t LIKE base
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  d AS ts + INTERVAL '1' HOUR,
  o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'a'
)
;
-- own columns, options and a comment
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TEMPORARY TABLE t (v INT) COMMENT 'mine' WITH ('Topic' = 'b', 'format' = 'json') LIKE base
=>
CREATE TEMPORARY TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  d AS ts + INTERVAL '1' HOUR,
  o BIGINT METADATA FROM 'offset',
  v INT,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'mine' WITH (
  'connector' = 'kafka',
  'Topic' = 'b',
  'format' = 'json'
)
;
-- no watermark
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t LIKE base (EXCLUDING WATERMARKS)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  d AS ts + INTERVAL '1' HOUR,
  o BIGINT METADATA FROM 'offset',
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'a'
)
;
-- another watermark for the column in place of the base's (D10)
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (WATERMARK FOR TS AS ts - INTERVAL '1' MINUTE) LIKE base (OVERWRITING WATERMARKS)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  d AS ts + INTERVAL '1' HOUR,
  o BIGINT METADATA FROM 'offset',
  WATERMARK FOR TS AS ts - INTERVAL '1' MINUTE,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'a'
)
;
-- or without the base's
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) LIKE base (EXCLUDING WATERMARKS)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  d AS ts + INTERVAL '1' HOUR,
  o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'a'
)
;
-- a second watermark for the column (D10)
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (WATERMARK FOR TS AS ts - INTERVAL '1' MINUTE) LIKE base
=>
error: line 1, column 17: table 'base' has a watermark for 'TS' already. Add EXCLUDING WATERMARKS or OVERWRITING WATERMARKS to LIKE.
  CREATE TABLE t (WATERMARK FOR TS AS ts - INTERVAL '1' MINUTE) LIKE base
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- watermarks for different columns are all kept
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (WATERMARK FOR d AS d) LIKE base
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  d AS ts + INTERVAL '1' HOUR,
  o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  WATERMARK FOR d AS d,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'a'
)
;
-- the columns alone
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t WITH ('connector' = 'scripted') LIKE base (EXCLUDING ALL)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3)
) WITH (
  'connector' = 'scripted'
)
;
-- nothing but the options
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t LIKE base (EXCLUDING ALL INCLUDING OPTIONS)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3)
) WITH (
  'connector' = 'kafka',
  'topic' = 'a'
)
;
-- INCLUDING ALL: an option twice is an error
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t WITH ('TOPIC' = 'b') LIKE base (INCLUDING ALL)
=>
error: line 1, column 22: table 'base' has an option 'topic' already. Add EXCLUDING OPTIONS or OVERWRITING OPTIONS to LIKE.
  CREATE TABLE t WITH ('TOPIC' = 'b') LIKE base (INCLUDING ALL)
                       ^^^^^^^
;
-- INCLUDING OPTIONS: other options are added
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t WITH ('format' = 'json') LIKE base (INCLUDING OPTIONS)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  d AS ts + INTERVAL '1' HOUR,
  o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'a',
  'format' = 'json'
)
;
-- EXCLUDING OPTIONS: only the statement's
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t WITH ('topic' = 'b') LIKE base (EXCLUDING OPTIONS)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  d AS ts + INTERVAL '1' HOUR,
  o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'topic' = 'b'
)
;
-- ALL with one part apart
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t WITH ('topic' = 'b') LIKE base (INCLUDING ALL OVERWRITING OPTIONS EXCLUDING GENERATED EXCLUDING WATERMARKS)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  o BIGINT METADATA FROM 'offset',
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'b'
)
;
-- a computed column twice
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (D AS ts) LIKE base
=>
error: line 1, column 17: table 'base' has a computed column 'd' already. Add EXCLUDING GENERATED or OVERWRITING GENERATED to LIKE.
  CREATE TABLE t (D AS ts) LIKE base
                  ^^^^^^^
;
-- overwritten, it stands where the base's stood
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (x INT, D AS ts) LIKE base (OVERWRITING GENERATED)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  D AS ts,
  o BIGINT METADATA FROM 'offset',
  x INT,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'a'
)
;
-- excluded, it follows
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (x INT, D AS ts) LIKE base (EXCLUDING GENERATED)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  o BIGINT METADATA FROM 'offset',
  x INT,
  D AS ts,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'a'
)
;
-- a metadata column twice
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (o BIGINT METADATA FROM 'partition') LIKE base
=>
error: line 1, column 17: table 'base' has a metadata column 'o' already. Add EXCLUDING METADATA or OVERWRITING METADATA to LIKE.
  CREATE TABLE t (o BIGINT METADATA FROM 'partition') LIKE base
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- overwritten
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (o INT METADATA FROM 'partition' VIRTUAL) LIKE base (OVERWRITING METADATA)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  d AS ts + INTERVAL '1' HOUR,
  o INT METADATA FROM 'partition' VIRTUAL,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'a'
)
;
-- without metadata
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t LIKE base (EXCLUDING METADATA)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  d AS ts + INTERVAL '1' HOUR,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'a'
)
;
-- a physical column twice: there is no rule for it
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (ID INT) LIKE base (OVERWRITING GENERATED OVERWRITING METADATA)
=>
error: line 1, column 17: table 'base' has a column 'id' already. Its columns are all taken; give this one another name.
  CREATE TABLE t (ID INT) LIKE base (OVERWRITING GENERATED OVERWRITING METADATA)
                  ^^^^^^
;
-- a computed column with the name of a physical one
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (id AS 1) LIKE base (OVERWRITING GENERATED)
=>
error: line 1, column 17: table 'base' has a column 'id' already. Its columns are all taken; give this one another name.
  CREATE TABLE t (id AS 1) LIKE base (OVERWRITING GENERATED)
                  ^^^^^^^
;
-- a physical column with the name of a computed one
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (d INT) LIKE base (OVERWRITING GENERATED)
=>
error: line 1, column 17: table 'base' has a computed column 'd' already. Its columns are all taken; give this one another name.
  CREATE TABLE t (d INT) LIKE base (OVERWRITING GENERATED)
                  ^^^^^
;
-- but not if that was left out
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (d INT) LIKE base (EXCLUDING GENERATED)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  o BIGINT METADATA FROM 'offset',
  d INT,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'a'
)
;
-- two keys
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (PRIMARY KEY (ts) NOT ENFORCED) LIKE base
=>
error: line 1, column 17: table 'base' has a primary key already. Add EXCLUDING CONSTRAINTS to LIKE.
  CREATE TABLE t (PRIMARY KEY (ts) NOT ENFORCED) LIKE base
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- a key of its own
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t (PRIMARY KEY (ts) NOT ENFORCED) LIKE base (EXCLUDING CONSTRAINTS)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  d AS ts + INTERVAL '1' HOUR,
  o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (ts) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'a'
)
;
-- a key cannot be overwritten
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t LIKE base (OVERWRITING CONSTRAINTS)
=>
error: line 1, column 39: expected GENERATED, METADATA, OPTIONS, WATERMARKS after OVERWRITING, found 'CONSTRAINTS'.
  CREATE TABLE t LIKE base (OVERWRITING CONSTRAINTS)
                                        ^^^^^^^^^^^
;
-- nor everything at once
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t LIKE base (OVERWRITING ALL)
=>
error: line 1, column 39: expected GENERATED, METADATA, OPTIONS, WATERMARKS after OVERWRITING, found 'ALL'.
  CREATE TABLE t LIKE base (OVERWRITING ALL)
                                        ^^^
;
-- nor partitions
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t LIKE base (OVERWRITING PARTITIONS)
=>
error: line 1, column 39: expected GENERATED, METADATA, OPTIONS, WATERMARKS after OVERWRITING, found 'PARTITIONS'. Did you mean OPTIONS?
  CREATE TABLE t LIKE base (OVERWRITING PARTITIONS)
                                        ^^^^^^^^^^
;
-- tables here have no partitions
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t LIKE base (EXCLUDING PARTITIONS EXCLUDING OPTIONS)
=>
CREATE TABLE t (
  id BIGINT,
  ts TIMESTAMP(3),
  d AS ts + INTERVAL '1' HOUR,
  o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
)
;
-- a part twice
CREATE TABLE base (id BIGINT, ts TIMESTAMP(3), d AS ts + INTERVAL '1' HOUR, o BIGINT METADATA FROM 'offset',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'the base' WITH ('connector' = 'kafka', 'topic' = 'a')
--
CREATE TABLE t LIKE base (INCLUDING OPTIONS EXCLUDING OPTIONS)
=>
error: line 1, column 45: there is a rule for OPTIONS already. Leave one out.
  CREATE TABLE t LIKE base (INCLUDING OPTIONS EXCLUDING OPTIONS)
                                              ^^^^^^^^^^^^^^^^^
;
-- a base with a secret: it is taken and not shown
CREATE TABLE base (id INT) WITH ('connector' = 'kafka', 'properties.sasl.password' = 'hunter2')
--
CREATE TABLE t LIKE base
=>
CREATE TABLE t (
  id INT
) WITH (
  'connector' = 'kafka',
  'properties.sasl.password' = '******'
)
;
-- partitions are inherited
CREATE TABLE base (id INT, dt STRING) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
CREATE TABLE t LIKE base
=>
CREATE TABLE t (
  id INT,
  dt STRING
) PARTITIONED BY (dt) WITH (
  'connector' = 'filesystem'
)
;
-- partitions are left out
CREATE TABLE base (id INT, dt STRING) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
CREATE TABLE t LIKE base (EXCLUDING PARTITIONS)
=>
CREATE TABLE t (
  id INT,
  dt STRING
) WITH (
  'connector' = 'filesystem'
)
;
-- other partitions
CREATE TABLE base (id INT, dt STRING) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
CREATE TABLE t (h STRING) PARTITIONED BY (h) WITH ('path' = '/x') LIKE base (EXCLUDING PARTITIONS)
=>
CREATE TABLE t (
  id INT,
  dt STRING,
  h STRING
) PARTITIONED BY (h) WITH (
  'connector' = 'filesystem',
  'path' = '/x'
)
;
-- two PARTITIONED BY
CREATE TABLE base (id INT, dt STRING) PARTITIONED BY (dt) WITH ('connector' = 'filesystem')
--
CREATE TABLE t (h STRING) PARTITIONED BY (h) WITH ('path' = '/x') LIKE base
=>
error: line 1, column 27: table 'base' is partitioned already. Add EXCLUDING PARTITIONS to LIKE.
  CREATE TABLE t (h STRING) PARTITIONED BY (h) WITH ('path' = '/x') LIKE base
                            ^^^^^^^^^^^^^^^^^^
;
