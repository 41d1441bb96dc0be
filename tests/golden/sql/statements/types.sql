-- plain types and the spellings that mean the same
CREATE TABLE t (a BOOLEAN, b TINYINT, c SMALLINT, d INT, e INTEGER, f BIGINT, g FLOAT, h DOUBLE, i DOUBLE PRECISION, j DATE, k STRING, l BYTES) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a BOOLEAN,
  b TINYINT,
  c SMALLINT,
  d INT,
  e INT,
  f BIGINT,
  g FLOAT,
  h DOUBLE,
  i DOUBLE,
  j DATE,
  k STRING,
  l BYTES
) WITH (
  'connector' = 'kafka'
)
;
-- Spark's spellings are understood
CREATE TABLE t (a BYTE, b SHORT, c LONG, d REAL, e TIMESTAMP_NTZ, f STRUCT<x: INT, y: STRING COMMENT 'why'>) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a TINYINT,
  b SMALLINT,
  c BIGINT,
  d FLOAT,
  e TIMESTAMP,
  f ROW<x INT, y STRING COMMENT 'why'>
) WITH (
  'connector' = 'kafka'
)
;
-- lengths and digits are kept
CREATE TABLE t (a DECIMAL, b DECIMAL(5), c DEC(10, 2), d NUMERIC(38, 38), e CHAR(3), f VARCHAR(2147483647), g CHARACTER VARYING(9), h BINARY(16), i VARBINARY(4)) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a DECIMAL,
  b DECIMAL(5),
  c DECIMAL(10, 2),
  d DECIMAL(38, 38),
  e CHAR(3),
  f VARCHAR(2147483647),
  g VARCHAR(9),
  h BINARY(16),
  i VARBINARY(4)
) WITH (
  'connector' = 'kafka'
)
;
-- TIMESTAMP has no zone; TIMESTAMP_LTZ is a moment
CREATE TABLE t (a TIMESTAMP, b TIMESTAMP(3), c TIMESTAMP(3) WITHOUT TIME ZONE, d TIMESTAMP_LTZ(3), e TIMESTAMP(6) WITH LOCAL TIME ZONE, f TIME(0), g TIME(3) WITHOUT TIME ZONE) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a TIMESTAMP,
  b TIMESTAMP(3),
  c TIMESTAMP(3),
  d TIMESTAMP_LTZ(3),
  e TIMESTAMP_LTZ(6),
  f TIME(0),
  g TIME(3)
) WITH (
  'connector' = 'kafka'
)
;
-- intervals; their digits are not kept
CREATE TABLE t (a INTERVAL YEAR, b INTERVAL YEAR TO MONTH, c INTERVAL DAY(3) TO SECOND(3), d INTERVAL HOUR TO MINUTE) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a INTERVAL YEAR,
  b INTERVAL YEAR TO MONTH,
  c INTERVAL DAY TO SECOND,
  d INTERVAL HOUR TO MINUTE
) WITH (
  'connector' = 'kafka'
)
;
-- NOT NULL stands at every level; NULL is what holds without it
CREATE TABLE t (a INT NOT NULL, b INT NULL, c ARRAY<INT NOT NULL> NOT NULL, d MAP<STRING NOT NULL, INT NULL>) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a INT NOT NULL,
  b INT,
  c ARRAY<INT NOT NULL> NOT NULL,
  d MAP<STRING NOT NULL, INT>
) WITH (
  'connector' = 'kafka'
)
;
-- collections may stand behind the type
CREATE TABLE t (a INT ARRAY, b INT NOT NULL MULTISET NOT NULL, c INT ARRAY ARRAY) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a ARRAY<INT>,
  b MULTISET<INT NOT NULL> NOT NULL,
  c ARRAY<ARRAY<INT>>
) WITH (
  'connector' = 'kafka'
)
;
-- two closing brackets are no shift
CREATE TABLE t (a ARRAY<ARRAY<MAP<INT,ARRAY<INT>>>>) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a ARRAY<ARRAY<MAP<INT, ARRAY<INT>>>>
) WITH (
  'connector' = 'kafka'
)
;
-- ROW in both brackets, with comments in both ways
CREATE TABLE t (a ROW<x INT, y ROW<z STRING>>, b ROW(x INT 'the x', `y z` BIGINT COMMENT 'the y')) WITH ('connector' = 'kafka')
=>
CREATE TABLE t (
  a ROW<x INT, y ROW<z STRING>>,
  b ROW<x INT COMMENT 'the x', `y z` BIGINT COMMENT 'the y'>
) WITH (
  'connector' = 'kafka'
)
;
-- words in lower case
create table t (a row<x array<decimal(3,1)>> not null) with ('connector'='kafka')
=>
CREATE TABLE t (
  a ROW<x ARRAY<DECIMAL(3, 1)>> NOT NULL
) WITH (
  'connector' = 'kafka'
)
;
-- there is no such type
CREATE TABLE t (a STRNG) WITH ('connector' = 'kafka')
=>
error: line 1, column 19: expected the type of 'a' or AS, and there is no type 'STRNG'. Did you mean STRING?
  CREATE TABLE t (a STRNG) WITH ('connector' = 'kafka')
                    ^^^^^
;
-- a type that other systems have
CREATE TABLE t (a TEXT) WITH ('connector' = 'kafka')
=>
error: line 1, column 19: TEXT is not a type of Tidemark's tables: the type of text is STRING.
  CREATE TABLE t (a TEXT) WITH ('connector' = 'kafka')
                    ^^^^
;
-- a parameter that the type has not
CREATE TABLE t (a INT(11)) WITH ('connector' = 'kafka')
=>
error: line 1, column 22: INT has no parameter. Write INT.
  CREATE TABLE t (a INT(11)) WITH ('connector' = 'kafka')
                       ^
;
-- digits out of range
CREATE TABLE t (a DECIMAL(39, 2)) WITH ('connector' = 'kafka')
=>
error: line 1, column 27: the number of digits must be 1 to 38, not 39.
  CREATE TABLE t (a DECIMAL(39, 2)) WITH ('connector' = 'kafka')
                            ^^
;
-- more digits after the point than there are
CREATE TABLE t (a DECIMAL(2, 3)) WITH ('connector' = 'kafka')
=>
error: line 1, column 30: of 2 digits 3 cannot stand after the point.
  CREATE TABLE t (a DECIMAL(2, 3)) WITH ('connector' = 'kafka')
                               ^
;
-- fraction digits out of range
CREATE TABLE t (ts TIMESTAMP(10)) WITH ('connector' = 'kafka')
=>
error: line 1, column 30: the number of fraction digits must be 0 to 9, not 10.
  CREATE TABLE t (ts TIMESTAMP(10)) WITH ('connector' = 'kafka')
                               ^^
;
-- a zone for each value does not exist
CREATE TABLE t (ts TIMESTAMP(3) WITH TIME ZONE) WITH ('connector' = 'kafka')
=>
error: line 1, column 20: a timestamp that keeps the zone of each value does not exist here. Write TIMESTAMP(3) WITH LOCAL TIME ZONE, or TIMESTAMP_LTZ(3): a moment in time.
  CREATE TABLE t (ts TIMESTAMP(3) WITH TIME ZONE) WITH ('connector' = 'kafka')
                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^
;
-- a length of zero
CREATE TABLE t (a VARCHAR(0)) WITH ('connector' = 'kafka')
=>
error: line 1, column 27: the length must be 1 to 2147483647, not 0.
  CREATE TABLE t (a VARCHAR(0)) WITH ('connector' = 'kafka')
                            ^
;
-- an array without its element
CREATE TABLE t (a ARRAY) WITH ('connector' = 'kafka')
=>
error: line 1, column 24: expected '<', found ')'. Write ARRAY<the type of its elements>.
  CREATE TABLE t (a ARRAY) WITH ('connector' = 'kafka')
                         ^
;
-- a map without its value
CREATE TABLE t (a MAP<STRING>) WITH ('connector' = 'kafka')
=>
error: line 1, column 29: expected ',', found '>'.
  CREATE TABLE t (a MAP<STRING>) WITH ('connector' = 'kafka')
                              ^
;
-- an empty row
CREATE TABLE t (a ROW<>) WITH ('connector' = 'kafka')
=>
error: line 1, column 22: a ROW without fields does not exist. Name a field.
  CREATE TABLE t (a ROW<>) WITH ('connector' = 'kafka')
                       ^^
;
-- a field twice, whatever its case
CREATE TABLE t (a ROW<x INT, X STRING>) WITH ('connector' = 'kafka')
=>
error: line 1, column 30: the field 'X' is there already. Rename one of the two.
  CREATE TABLE t (a ROW<x INT, X STRING>) WITH ('connector' = 'kafka')
                               ^
;
-- a bracket that is not closed
CREATE TABLE t (a ARRAY<INT, b INT) WITH ('connector' = 'kafka')
=>
error: line 1, column 28: expected '>', found ','.
  CREATE TABLE t (a ARRAY<INT, b INT) WITH ('connector' = 'kafka')
                             ^
;
-- units in the wrong order
CREATE TABLE t (a INTERVAL SECOND TO DAY) WITH ('connector' = 'kafka')
=>
error: line 1, column 38: there is no INTERVAL SECOND TO DAY. The units are YEAR TO MONTH, DAY TO SECOND.
  CREATE TABLE t (a INTERVAL SECOND TO DAY) WITH ('connector' = 'kafka')
                                       ^^^
;
-- months and seconds do not mix
CREATE TABLE t (a INTERVAL MONTH TO DAY) WITH ('connector' = 'kafka')
=>
error: line 1, column 37: there is no INTERVAL MONTH TO DAY. The units are YEAR TO MONTH, DAY TO SECOND.
  CREATE TABLE t (a INTERVAL MONTH TO DAY) WITH ('connector' = 'kafka')
                                      ^^^
;
-- NOT without NULL
CREATE TABLE t (a INT NOT) WITH ('connector' = 'kafka')
=>
error: line 1, column 26: expected NULL, found ')'. A column that is never NULL is declared NOT NULL.
  CREATE TABLE t (a INT NOT) WITH ('connector' = 'kafka')
                           ^
;
-- a parameter of DOUBLE
CREATE TABLE t (a DOUBLE(3)) WITH ('connector' = 'kafka')
=>
error: line 1, column 25: DOUBLE has no parameter. Write DOUBLE.
  CREATE TABLE t (a DOUBLE(3)) WITH ('connector' = 'kafka')
                          ^
;
-- an INTERVAL without its unit
CREATE TABLE t (a INTERVAL) WITH ('connector' = 'kafka')
=>
error: line 1, column 27: expected a unit of the INTERVAL (YEAR, MONTH, DAY, HOUR, MINUTE, SECOND), found ')'.
  CREATE TABLE t (a INTERVAL) WITH ('connector' = 'kafka')
                            ^
;
-- digits that are no number
CREATE TABLE t (a DECIMAL(x)) WITH ('connector' = 'kafka')
=>
error: line 1, column 27: expected the number of digits, a whole number, found 'x'.
  CREATE TABLE t (a DECIMAL(x)) WITH ('connector' = 'kafka')
                            ^
;
-- no type at all
CREATE TABLE t (a 'INT') WITH ('connector' = 'kafka')
=>
error: line 1, column 19: expected the type of 'a' or AS, found the string 'INT'.
  CREATE TABLE t (a 'INT') WITH ('connector' = 'kafka')
                    ^^^^^
;
