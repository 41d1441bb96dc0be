"""The effects of statements, as a table: every statement that is not known to preserve rows stops the query."""

from __future__ import annotations

import pickle

import pytest

from datasources.errors import SchemaError
from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.binlog.statements import statements
from datasources.mysql.binlog.statements.statement_tokens import tokens_of
from datasources.mysql.binlog.statements.statements import Statement, parse_statement
from datasources.mysql.ddl import Action, DdlEffect, StoredType, additions, classify, concerns, redefinitions
from datasources.mysql.ddl.columns import parse_column

ORDERS = ("shop", "orders")
ITEMS = ("shop", "items")
STRICT, NO_AUTO_VALUE_ON_ZERO = 1 << 22, 1 << 19


def _type(text: str) -> StoredType:
    """A type as the binlog describes it: with its character set."""
    column = parse_column(list(tokens_of(text)))
    assert column is not None
    assert column.type is not None
    return column.type


DECLARED = {
    ORDERS: {
        "id": _type("int not null"),
        "name": _type("varchar(20) character set utf8mb4"),
        "code": _type("varchar(20) character set latin1 not null"),
        "fixed": _type("char(5) character set utf8mb4"),
        "body": _type("text character set utf8mb4"),
        "raw": _type("varbinary(9)"),
        "price": _type("decimal(10,2)"),
        "state": _type("enum('new','paid') character set utf8mb4"),
        "flags": _type("set('a','b') character set utf8mb4"),
        "is_big": _type("tinyint(1)"),
        "count": _type("int unsigned"),
        "ratio": _type("float"),
        "at": _type("datetime(6)"),
        "day": _type("datetime"),
        "stamp": _type("timestamp"),
        "odd": None,
    }
}
"""Of `items` every column is read."""


def _captures(database: str, table: str) -> bool:
    return (database, table) in (ORDERS, ITEMS)


def _classify(text: str, sql_mode: int = STRICT, *, logs_cascades: bool = True) -> DdlEffect:
    statement = parse_statement(text, "shop", sql_mode)
    if not concerns(statement, "shop".__eq__, _captures):
        return DdlEffect(action=Action.PASS)
    return classify(statement, DECLARED, _captures, logs_cascades=lambda: logs_cascades)


PASSING = """
CREATE TABLE orders (id INT PRIMARY KEY)
CREATE TABLE IF NOT EXISTS shop.orders LIKE other
CREATE TEMPORARY TABLE orders (id INT)
CREATE SEQUENCE orders
DROP SEQUENCE orders
DROP TEMPORARY TABLE IF EXISTS orders
DROP TABLE _orders_del, other
TRUNCATE TABLE other
ALTER TABLE other DROP COLUMN name
ALTER TABLE orders ADD COLUMN w INT
ALTER TABLE `shop`.`orders` ADD `w` varchar(30) DEFAULT NULL COMMENT 'a, b' AFTER `name`
ALTER TABLE orders ADD COLUMN (w INT, x DECIMAL(5,2) NULL), ADD COLUMN y JSON FIRST
ALTER TABLE orders ADD COLUMN IF NOT EXISTS w DATETIME(3) NULL
ALTER TABLE orders ADD COLUMN w TIMESTAMP NULL DEFAULT NULL
ALTER TABLE orders DROP COLUMN w, DROP x
ALTER TABLE orders DROP COLUMN IF EXISTS w, ALGORITHM=INPLACE, LOCK=NONE
ALTER TABLE orders RENAME COLUMN w TO x
ALTER TABLE orders CHANGE w x BIGINT NOT NULL DEFAULT 3
ALTER TABLE orders MODIFY w BIGINT NOT NULL
ALTER TABLE orders MODIFY COLUMN name VARCHAR(20) FIRST
ALTER TABLE orders MODIFY `name` varchar(20) DEFAULT 'x' AFTER price
ALTER TABLE orders MODIFY id INT(11) NOT NULL COMMENT 'UNSIGNED key' AFTER name
ALTER TABLE orders MODIFY id BIGINT NOT NULL
ALTER TABLE orders MODIFY count INT UNSIGNED NULL, MODIFY count BIGINT UNSIGNED, MODIFY count BIGINT
ALTER TABLE orders MODIFY name VARCHAR(30)
ALTER TABLE orders CHANGE Name name VARCHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL DEFAULT 'x'
ALTER TABLE orders MODIFY name TEXT, MODIFY body LONGTEXT, MODIFY fixed CHAR(6), MODIFY raw BLOB
ALTER TABLE orders MODIFY code VARCHAR(20) CHARACTER SET utf8mb4 NOT NULL, MODIFY code VARCHAR(21) COLLATE latin1_bin
ALTER TABLE orders MODIFY state ENUM('new','paid',"x") COMMENT 'y', MODIFY flags SET('a', 'b', 'it''s')
ALTER TABLE orders MODIFY price DECIMAL(12,3), MODIFY ratio DOUBLE PRECISION, MODIFY day DATETIME(3)
ALTER TABLE orders MODIFY stamp TIMESTAMP NULL COMMENT 'x'
ALTER TABLE orders MODIFY id INTEGER
ALTER TABLE orders MODIFY is_big BOOL, MODIFY price NUMERIC(10,2)
ALTER TABLE orders MODIFY at DATETIME(6) NULL ON UPDATE CURRENT_TIMESTAMP(6)
ALTER TABLE orders CHANGE COLUMN state state ENUM('new','paid') DEFAULT 'new' FIRST
ALTER TABLE orders ADD INDEX by_name (name), ADD UNIQUE KEY u (price, name), ADD FULLTEXT (name)
ALTER TABLE orders ADD CONSTRAINT c UNIQUE (name), ADD CONSTRAINT CHECK (price > 0), ADD KEY (price)
ALTER TABLE orders ADD CONSTRAINT fk FOREIGN KEY (id) REFERENCES customers (id)
ALTER TABLE orders DROP INDEX by_name, DROP KEY u, DROP FOREIGN KEY fk, DROP CHECK c, DROP CONSTRAINT d
ALTER TABLE orders RENAME INDEX a TO b, RENAME KEY c TO d
ALTER TABLE orders ALTER COLUMN name SET DEFAULT 'x', ALTER name DROP DEFAULT, ALTER INDEX a INVISIBLE
ALTER TABLE orders ENGINE=InnoDB
ALTER TABLE orders ENGINE InnoDB, FORCE
ALTER TABLE orders FORCE
ALTER TABLE orders COMMENT='now, with (signs', AUTO_INCREMENT = 900 ROW_FORMAT=DYNAMIC KEY_BLOCK_SIZE 8
ALTER TABLE orders DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci
ALTER TABLE orders STATS_PERSISTENT=1, DISABLE KEYS, ORDER BY name, price
ALTER TABLE orders ADD PARTITION (PARTITION p9 VALUES LESS THAN (9), PARTITION p10 VALUES LESS THAN (10))
ALTER TABLE orders REORGANIZE PARTITION p0, p1 INTO (PARTITION p VALUES LESS THAN (5))
ALTER TABLE orders PARTITION BY HASH (id) PARTITIONS 4
ALTER TABLE orders /*!50100 PARTITION BY KEY (id) */
ALTER TABLE orders REMOVE PARTITIONING
ALTER TABLE orders NOWAIT ADD COLUMN w INT
ALTER TABLE orders /* gh-ost, DROP COLUMN name */ ADD w INT -- and DROP COLUMN name
ALTER TABLE orders
ALTER TABLE items ADD COLUMN w INT, ADD INDEX (w)
ALTER TABLE orders ADD COLUMN w INT NOT NULL DEFAULT 5
ALTER TABLE orders ADD w INT DEFAULT 5, ADD (v INT, x INT DEFAULT (RAND()))
ALTER TABLE orders ADD w TIMESTAMP, ADD COLUMN g INT AS (id + 1) STORED
ALTER ONLINE TABLE IF EXISTS orders WAIT 5 ADD INDEX (name)
ALTER TABLE other COMMENT 'rename table orders'
CREATE UNIQUE INDEX i ON orders (name)
CREATE OR REPLACE INDEX IF NOT EXISTS i USING BTREE ON shop.orders (name)
DROP INDEX i ON orders
CREATE DEFINER=`a`@`b` TRIGGER tr AFTER INSERT ON orders FOR EACH ROW DELETE FROM items
CREATE ALGORITHM=UNDEFINED DEFINER=CURRENT_USER() SQL SECURITY DEFINER VIEW v AS SELECT * FROM orders
CREATE OR REPLACE PROCEDURE p() TRUNCATE TABLE orders
ALTER EVENT orders DISABLE
ANALYZE TABLE orders
OPTIMIZE TABLE orders
SET STATEMENT max_statement_time = 3 FOR ALTER TABLE other ADD w INT
REPAIR TABLE other
DROP TABLES other, more
RENAME TABLE other TO others
CREATE DATABASE shop
ALTER DATABASE shop CHARACTER SET latin1
DROP DATABASE IF EXISTS other
GRANT SELECT ON orders TO x
"""

STOPPING = """
ALTER TABLE orders MODIFY `NAME` varchar(20) => renames column 'name' to 'NAME', and 'name' is read
ALTER TABLE orders MODIFY id INT NOT NULL, CHANGE name Name VARCHAR(30) => renames column 'name' to 'Name'
ALTER TABLE items ADD COLUMN w INT NOT NULL DEFAULT 5 => value for existing rows
ALTER TABLE orders ADD price INT DEFAULT 5 => value for existing rows
ALTER TABLE items ADD w INT NOT NULL => value for existing rows
ALTER TABLE items ADD (v INT, w INT DEFAULT (RAND())) => column 'w'
ALTER TABLE items ADD COLUMN w INT AS (id + 1) STORED => value for existing rows
ALTER TABLE items ADD COLUMN w INT /*!80000 NOT NULL */ DEFAULT 5 => value for existing rows
ALTER TABLE items ADD COLUMN w BIGINT UNSIGNED AUTO_INCREMENT UNIQUE => value for existing rows
ALTER TABLE items ADD w TIMESTAMP => TIMESTAMP without NULL
ALTER TABLE orders ADD w INT PRIMARY KEY => primary key
ALTER TABLE orders ADD w INT AUTO_INCREMENT PRIMARY KEY => primary key
ALTER IGNORE TABLE orders ADD UNIQUE (name) => IGNORE
ALTER ONLINE IGNORE TABLE orders ADD COLUMN w INT => IGNORE
ALTER TABLE orders DROP SYSTEM VERSIONING => history
CREATE OR REPLACE SEQUENCE orders => replaces the table
CREATE TABLE orders (id INT) WITH SYSTEM VERSIONING => a table with a history
CREATE TABLE items AS SELECT * FROM other => binlog_format
CREATE TABLE items (id INT) TABLE other => binlog_format
CREATE TABLE items AS VALUES ROW(1, 2) => binlog_format
CREATE TABLE items (id INT) ENGINE=MERGE UNION=(a, b) => engine MERGE
DROP INDEX `PRIMARY` ON orders => primary key
DROP TABLES other, orders => drops the table
RENAME TABLES orders TO orders_old => gives the name to other rows
RENAME TABLE IF EXISTS orders WAIT 3 TO orders_old => gives the name to other rows
RENAME TABLES IF EXISTS a TO b, orders NOWAIT TO orders_old => gives the name to other rows
RENAME TABLE /*M!100000 orders TO x, */ a TO b => unknown form
RENAME TABLE orders TO _orders_del, _orders_gho TO orders => whether they are the same rows
rename /* gh-ost */ table `shop`.`orders` to `shop`.`_orders_del`, `shop`.`_orders_gho` to `shop`.`orders` => same rows
RENAME TABLE `shop`.`orders` TO `shop`.`_orders_old`, `shop`.`__orders_new` TO `shop`.`orders` => same rows
ALTER TABLE /*M! orders */ ADD w INT => unknown form
ALTER /*M! TABLE orders */ TABLE other ADD w INT => unknown form
SET STATEMENT max_statement_time = 3 FOR ALTER TABLE orders ADD w INT => unknown form
REPAIR TABLE orders => unknown form
FROBNICATE TABLE shop.orders => unknown form
CREATE OR REPLACE DATABASE shop => creates it again
SELECT `other`.`f`() => binlog_format
UPDATE other.v SET a = 1 => binlog_format
CALL other.p() => binlog_format
ALTER TABLE orders ADD w SOME NEW TYPE OF 2031 => cannot be read
ALTER TABLE orders ADD PRIMARY KEY (name) => primary key
ALTER TABLE orders ADD CONSTRAINT pk PRIMARY KEY (name) => primary key
ALTER TABLE orders DROP PRIMARY KEY, ADD INDEX (id) => primary key
ALTER TABLE orders DROP COLUMN w, DROP COLUMN Name => drops column 'Name'
ALTER TABLE orders DROP name => drops column 'name'
ALTER TABLE items DROP COLUMN w => drops column 'w'
ALTER TABLE orders RENAME COLUMN name TO title => renames column 'name'
ALTER TABLE orders RENAME COLUMN w TO price => 'price' is read
ALTER TABLE orders CHANGE name title VARCHAR(20) => renames column 'name'
ALTER TABLE orders CHANGE w name VARCHAR(20) => 'name' is read
ALTER TABLE orders MODIFY name VARCHAR(19) => type of column 'name'
ALTER TABLE orders MODIFY name CHAR(30) => type of column 'name'
ALTER TABLE orders MODIFY fixed VARCHAR(30) => type of column 'fixed'
ALTER TABLE orders MODIFY name TINYTEXT CHARACTER SET latin1 => type of column 'name'
ALTER TABLE orders MODIFY name VARBINARY(200) => type of column 'name'
ALTER TABLE orders MODIFY name VARCHAR(30) BINARY => type of column 'name'
ALTER TABLE orders MODIFY name VARCHAR(30) CHARACTER SET binary => type of column 'name'
ALTER TABLE orders MODIFY name VARCHAR(30) UNIQUE => type of column 'name'
ALTER TABLE orders MODIFY body TEXT(70000) => type of column 'body'
ALTER TABLE orders MODIFY raw BINARY(9) => type of column 'raw'
ALTER TABLE orders MODIFY code VARCHAR(20) NOT NULL CHARACTER SET sjis => type of column 'code'
ALTER TABLE orders MODIFY name VARCHAR(20) CHARACTER SET latin1 => type of column 'name'
ALTER TABLE orders MODIFY name VARCHAR(20) NOT NULL => makes column 'name'
ALTER TABLE orders MODIFY price DECIMAL(10,3) => type of column 'price'
ALTER TABLE orders MODIFY id SMALLINT NOT NULL => type of column 'id'
ALTER TABLE orders MODIFY id INT8 NOT NULL => type of column 'id'
ALTER TABLE orders MODIFY count INT DEFAULT (CAST(1 AS UNSIGNED)) => type of column 'count'
ALTER TABLE orders MODIFY id BIGINT NOT NULL AUTO_INCREMENT => AUTO_INCREMENT: where it was not
ALTER TABLE orders MODIFY id INT ZEROFILL => type of column 'id'
ALTER TABLE orders MODIFY ratio FLOAT(9,1) => type of column 'ratio'
ALTER TABLE orders MODIFY ratio REAL => type of column 'ratio'
ALTER TABLE orders MODIFY ratio DOUBLE PRECISION (9,1) => type of column 'ratio'
ALTER TABLE orders MODIFY stamp TIMESTAMP(3) NULL => type of column 'stamp'
ALTER TABLE orders MODIFY stamp TIMESTAMP => TIMESTAMP without NULL
ALTER TABLE orders MODIFY price DECIMAL(12,2) UNSIGNED => type of column 'price'
ALTER TABLE orders MODIFY flags SET('b','a') => type of column 'flags'
ALTER TABLE orders MODIFY state ENUM('New','paid','x') => type of column 'state'
ALTER TABLE orders MODIFY state ENUM('new','paid','\\x') => type of column 'state'
ALTER TABLE orders MODIFY id INT UNSIGNED NOT NULL => type of column 'id'
ALTER TABLE orders MODIFY state ENUM('paid','new') => type of column 'state'
ALTER TABLE orders MODIFY odd INT AFTER id => type of column 'odd'
ALTER TABLE orders MODIFY at DATETIME FIRST => type of column 'at'
ALTER TABLE orders MODIFY price DECIMAL(10,2) AS (id * 2) => type of column 'price'
ALTER TABLE items MODIFY w INT FIRST => type of column 'w'
ALTER TABLE orders CONVERT TO CHARACTER SET utf8mb4 => another character set
ALTER TABLE orders ENGINE=BLACKHOLE => engine BLACKHOLE
ALTER TABLE orders COMMENT 'x' ENGINE = MEMORY => engine MEMORY
ALTER TABLE orders IMPORT TABLESPACE => replaces the table's rows
ALTER TABLE orders DISCARD TABLESPACE => replaces the table's rows
ALTER TABLE orders DROP PARTITION p0, p1 => DROP PARTITION
ALTER TABLE orders TRUNCATE PARTITION ALL => TRUNCATE PARTITION
ALTER TABLE orders EXCHANGE PARTITION p0 WITH TABLE other => EXCHANGE PARTITION
ALTER TABLE other EXCHANGE PARTITION p0 WITH TABLE orders => EXCHANGE PARTITION
ALTER TABLE orders CONVERT PARTITION p0 TO TABLE other => CONVERT PARTITION
ALTER TABLE orders ADD SYSTEM VERSIONING => adds a history
ALTER TABLE orders REWRITE ALL ROWS => unknown clause
ALTER TABLE orders ADD w INT /*M!100301 NOT NULL */ => MariaDB
ALTER TABLE orders ADD v INT, RENAME TO orders_old => gives the name to other rows
ALTER TABLE other RENAME orders => gives the name to other rows
RENAME TABLE orders TO orders_old => gives the name to other rows
RENAME TABLE orders TO orders_old, orders_made TO orders => gives the name to other rows
RENAME TABLE orders TO _orders_del, _items_gho TO orders => gives the name to other rows
RENAME TABLE orders TO t, items TO orders, t TO items => gives the name to other rows
RENAME TABLE orders TO _orders_del, shadow._orders_gho TO orders => gives the name to other rows
DROP TABLE orders => drops the table
DROP TABLE IF EXISTS other, `shop`.`items` => drops the table
DROP DATABASE shop => drops the database
CREATE OR REPLACE TABLE orders (id INT) => replaces the table
INSERT INTO orders VALUES (1) => binlog_format
"""


def _lines(table: str) -> list[str]:
    return [line for line in table.strip().splitlines() if line]


@pytest.mark.parametrize("text", _lines(PASSING))
def test_a_statement_that_preserves_the_rows_passes(text):
    assert _classify(text) == DdlEffect(action=Action.PASS)


def test_redefining_a_column_of_a_generated_one_stops_the_query():
    asked = []

    def computes_from(table, names):
        asked.append((table, names))
        return "w" in names

    def action(clauses: str) -> Action:
        statement = parse_statement(f"ALTER TABLE orders {clauses}", "shop", STRICT)
        return classify(statement, DECLARED, _captures, computes_from=computes_from).action

    assert action("MODIFY W BIGINT") is Action.STOP
    assert action("ADD y INT, CHANGE w x INT") is Action.STOP
    assert action("CHANGE x w INT, FORCE") is Action.STOP
    assert action("MODIFY name TEXT, MODIFY x INT") is Action.PASS
    assert asked.pop() == (ORDERS, frozenset({"name", "x"}))
    asked.clear()
    assert action("ADD w INT, RENAME INDEX a TO b, DROP x") is Action.PASS
    assert asked == []


@pytest.mark.parametrize("line", _lines(STOPPING))
def test_a_statement_that_may_change_rows_without_events_stops_the_query(line):
    text, reason = line.split(" => ")
    effect = _classify(text)
    assert effect.action is Action.STOP
    assert reason in effect.reason
    assert set(effect.tables) & {ORDERS, ITEMS} or "DATABASE" in text or "binlog_format" in reason


@pytest.mark.parametrize(
    ("column", "otherwise"),
    [
        ("name VARCHAR(30)", Action.STOP),
        ("state ENUM('new','paid','x')", Action.STOP),
        ("day DATETIME(3)", Action.STOP),
        ("id BIGINT NOT NULL", Action.PASS),
        ("price DECIMAL(12,2)", Action.PASS),
        ("raw BLOB", Action.PASS),
        ("ratio DOUBLE", Action.PASS),
    ],
)
def test_conversions_that_only_warn_need_a_strict_session(column: str, otherwise: Action):
    text = f"ALTER TABLE orders MODIFY {column}"
    assert _classify(text, 0).action is otherwise
    assert _classify(text, 1 << 21).action is Action.PASS


def test_auto_increment_numbers_nothing_where_0_is_a_value():
    text = "ALTER TABLE orders MODIFY id BIGINT NOT NULL AUTO_INCREMENT"
    assert _classify(text, NO_AUTO_VALUE_ON_ZERO).action is Action.PASS


def test_redefined_columns_are_returned_with_their_types():
    text = "ALTER TABLE orders MODIFY Id BIGINT, CHANGE a b INT, CHANGE COLUMN `x` x POINT, ADD z INT, COMMENT 'y'"
    found = redefinitions(parse_statement(text, "shop"))
    assert {name: column and column.type for name, column in found.items()} == {"id": _type("bigint"), "x": None}
    assert redefinitions(parse_statement("ALTER IGNORE TABLE orders MODIFY id INT", "shop")) == {}
    assert redefinitions(parse_statement("DROP TABLE orders", "shop")) == {}


def test_truncate_is_emitted_for_the_captured_table():
    for text in ("TRUNCATE orders", "TRUNCATE TABLE `shop`.`orders`", "truncate /* all */ table orders"):
        assert _classify(text) == DdlEffect(action=Action.TRUNCATE, tables=(ORDERS,))


def test_the_error_names_statement_position_and_hints_and_is_short():
    text = f"ALTER TABLE orders\n  ADD COLUMN price INT NOT NULL DEFAULT 5, COMMENT '{'x' * 5000}'"
    parsed = parse_statement(text, "shop")
    position = BinlogPosition("binlog.000007", 991)
    at = Statement(kind=parsed.kind, text=text, database="shop", tables=parsed.tables, position=position)
    error = classify(at, DECLARED, lambda *name: name == ORDERS).error(at)
    assert isinstance(error, SchemaError)
    for part in ("binlog.000007:991", "shop.orders", "ALTER TABLE orders ADD", "'on-rewrite-ddl' = 'ignore'"):
        assert part in error.message
    assert "'scan.snapshot.again' = 'shop.orders'" in error.message
    assert len(error.message) < 1000
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


ANSI_QUOTES, NO_BACKSLASH_ESCAPES = 1 << 2, 1 << 20


@pytest.mark.parametrize(
    ("text", "sql_mode", "action"),
    [
        ('ALTER TABLE "orders" DROP COLUMN "name"', ANSI_QUOTES, Action.STOP),
        ('DROP TABLE "shop"."orders"', ANSI_QUOTES, Action.STOP),
        ("ALTER TABLE orders COMMENT 'a\\', DROP COLUMN name, COMMENT 'b'", NO_BACKSLASH_ESCAPES, Action.STOP),
        ("ALTER TABLE orders COMMENT 'a\\', DROP COLUMN name, COMMENT \\'b'", 0, Action.PASS),
        ('ALTER TABLE orders COMMENT "a\\", DROP COLUMN name, COMMENT "b"', NO_BACKSLASH_ESCAPES, Action.STOP),
        ("ALTER TABLE orders ADD w INT COMMENT 'it''s', DROP COLUMN name", 0, Action.STOP),
        ("ALTER TABLE orders ADD w INT COMMENT 'it''s \\'", NO_BACKSLASH_ESCAPES, Action.PASS),
    ],
)
def test_quotes_and_backslashes_follow_the_session_sql_mode(text: str, sql_mode: int, action: Action):
    assert _classify(text, sql_mode).action is action


@pytest.mark.parametrize("action", ["CASCADE", "SET NULL", "SET DEFAULT"])
@pytest.mark.parametrize(
    "form",
    [
        "ALTER TABLE orders ADD FOREIGN KEY (id) REFERENCES p (id) ON DELETE {0}",
        "CREATE TABLE orders (id INT, CONSTRAINT f FOREIGN KEY (id) REFERENCES p (id) ON DELETE RESTRICT ON UPDATE {0})",
        "ALTER TABLE orders ADD w INT REFERENCES p (id) ON UPDATE {0}",
    ],
)
def test_a_foreign_key_whose_changes_are_not_logged_stops_the_query(form: str, action: str):
    text = form.format(action)
    assert "foreign key" in _classify(text, logs_cascades=False).reason
    assert _classify(text, logs_cascades=True).action is Action.PASS
    assert _classify(text.replace("orders", "other"), logs_cascades=False).action is Action.PASS


def test_of_a_long_statement_about_another_database_only_the_head_is_read(monkeypatch):
    asked = []
    monkeypatch.setattr(
        statements, "tokens_of", lambda *given: (asked.append(each) or each for each in tokens_of(*given))
    )
    for head in (
        "INSERT INTO other.t VALUES ",
        "CREATE TABLE other.t (id INT) COMMENT ",
        "ALTER TABLE other.t COMMENT ",
    ):
        asked.clear()
        assert _classify(head + "(1, 'x'), " * 200_000).action is (Action.STOP if "INSERT" in head else Action.PASS)
        assert len(asked) < 100


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("ALTER TABLE orders ADD COLUMN a INT", ["a"]),
        ("ALTER TABLE orders ADD `b c` INT NOT NULL DEFAULT 3 AFTER id, DROP COLUMN name", ["b c"]),
        (
            "ALTER TABLE orders ADD (a INT, `index` INT, INDEX i (a), PRIMARY KEY (id)), ADD B TEXT FIRST",
            ["a", "index", "B"],
        ),
        ("alter table orders add column if not exists a int", ["a"]),
        ("ALTER TABLE orders ADD INDEX i (name), ADD UNIQUE KEY u (id), ADD CONSTRAINT c CHECK (id > 0)", []),
        ("ALTER TABLE orders ADD PRIMARY KEY (id), ADD FOREIGN KEY (id) REFERENCES items (id)", []),
        ("ALTER TABLE orders ADD PARTITION (PARTITION p VALUES LESS THAN (9))", []),
        ("ALTER TABLE orders ADD SYSTEM VERSIONING", []),
        ("ALTER TABLE orders MODIFY id BIGINT, RENAME COLUMN name TO title", []),
        ("CREATE TABLE orders (id INT)", []),
        ("TRUNCATE TABLE orders", []),
    ],
)
def test_columns_that_a_statement_adds(text: str, added: list[str]):
    assert additions(parse_statement(text, "shop", STRICT)) == added
