"""Scripts: where statements end, and where they stand."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.text.script import is_complete, split_script

SET = "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1 AS end; INSERT INTO b SELECT 2; END"
BLOCK = "BEGIN DECLARE x INT; IF x = 1 THEN SELECT CASE WHEN x > 1 THEN 1 END; END IF; SELECT t.end; END"
LABELLED = "outer: BEGIN CASE x WHEN 1 THEN SELECT 1; END CASE; BEGIN SELECT 2; END; END outer"
SPLIT = {
    "": [],
    " ;; -- nothing\n;": [],
    "a": ["a"],
    "a; b": ["a", "b"],
    "a;b;": ["a", "b"],
    "SELECT ';' || \";\" || `;` -- ;\n/* ; */;b": ["SELECT ';' || \";\" || `;`", "b"],
    "-- first\n a /* inside */ c /* after */; -- end\n": ["a /* inside */ c"],
    "SELECT * FROM t /*+ OPTIONS('a'='b') */;": ["SELECT * FROM t /*+ OPTIONS('a'='b') */"],
    f"a; {SET}; b": ["a", SET, "b"],
    f"{SET}": [SET],
    f"{BLOCK}; b": [BLOCK, "b"],
    f"{LABELLED}; b": [LABELLED, "b"],
    "EXECUTE IMMEDIATE 'x'; b": ["EXECUTE IMMEDIATE 'x'", "b"],
    "SELECT begin; SELECT end; b": ["SELECT begin", "SELECT end", "b"],
    "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1 END; b": [
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1 END; b"
    ],
    "BEGIN a; b": ["BEGIN a; b"],
}


@pytest.mark.parametrize(("script", "statements"), SPLIT.items())
def test_a_script_is_cut_where_statements_end(script, statements):
    assert [each.text for each in split_script(SqlText(script))] == statements


def test_statements_keep_the_file_the_line_and_the_column():
    script = SqlText("-- why\nSET a;\n\n  SELECT\n  b; c", name="orders.sql")
    assert split_script(script) == (
        SqlText("SET a", "orders.sql", 2, 1),
        SqlText("SELECT\n  b", "orders.sql", 4, 3),
        SqlText("c", "orders.sql", 5, 6),
    )


def test_an_open_string_is_an_error_with_its_line():
    with pytest.raises(SqlError, match=r"orders.sql, line 2, column 8: this string is not closed"):
        split_script(SqlText("a;\nSELECT 'b;", name="orders.sql"))


@pytest.mark.parametrize(
    ("typed", "is_whole"),
    [
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT 1; -- done", True),
        ("SELECT 1; SELECT", False),
        ("SELECT ';'", False),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;", False),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END;", True),
        ("", True),
    ],
)
def test_what_is_typed_is_whole_after_its_semicolon(typed, is_whole):
    assert is_complete(SqlText(typed)) is is_whole
