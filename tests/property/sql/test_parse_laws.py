"""Laws of reading statements: tokens are the text, and what is printed is read back as the same."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from hypothesis import assume, given
from hypothesis import strategies as st
from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError
from sqlglot.tokens import Tokenizer

from datasources.errors import SqlError
from datasources.formats.schema_text.ddl import parse_schema
from datasources.grammar.lexer import TokenKind, tokenize
from datasources.grammar.literals import literal
from datasources.grammar.source_text import SqlText
from datasources.grammar.sql_types import SqlField, SqlType
from datasources.sql.definitions.show_create import function_text, table_text, view_text
from datasources.sql.parse import parse_statement, parse_type
from datasources.sql.statements.catalog_objects import (
    ComputedColumn,
    FunctionDefinition,
    MetadataColumn,
    PhysicalColumn,
    PrimaryKey,
    TableDefinition,
    ViewDefinition,
    WatermarkSpec,
)
from datasources.sql.statements.statements import CreateFunction, CreateTable, CreateView
from datasources.sql.text.quoting import path_text
from datasources.sql.text.script import split_script
from datasources.sql.types.type_names import refusal_of, spark_ddl, sql_text

SYMBOLS = {"<=", "<>", "||", "::", "=>", "->"}
ANY_TEXT = st.lists(
    st.sampled_from(
        [
            *"ab1'\"`()[]<>,;.=-+*/\\ \n\t",
            "--",
            "/*",
            "*/",
            "/*+",
            "''",
            "``",
            "\\'",
            "r'",
            "é",
            "😀",
            "\u00a0",
            "1.5e3",
        ]
    )
    | st.characters()
).map("".join)
COMMON_TEXT = st.lists(
    st.sampled_from(
        [
            *(
                "a",
                "SELECT",
                "`b c`",
                "`d``e`",
                "'f'",
                "'it''s'",
                '"g"',
                "1",
                "2.5",
                "(",
                ")",
                ",",
                ".",
                "+",
                "-",
                "*",
                "/",
            ),
            *("-- h\n", "/* i */", "/* /* j */ */", *sorted(SYMBOLS), ";", "r'k'", "'\\''", "[", "]", "'", "`"),
        ]
    )
).map(" ".join)
NAMES = st.text(min_size=1, max_size=8).filter(str.strip) | st.sampled_from(
    [
        "watermark",
        "PRIMARY",
        "constraint",
        "metadata",
        "as",
        "comment",
        "from",
        "current_time",
        "a.b",
        "like",
        "not",
        "row",
    ]
)
STRINGS = st.text(max_size=8) | st.sampled_from(["it's", "\\", "\\d", "'", '"', "\n", "--", "/*", ";"])
SCALARS = st.sampled_from(
    [
        *(
            SqlType(root)
            for root in ("BOOLEAN", "TINYINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "STRING", "BYTES", "DATE")
        ),
        *(SqlType(root) for root in ("DECIMAL", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "CHAR", "VARCHAR", "VARBINARY")),
        SqlType("DECIMAL", (5,)),
        SqlType("DECIMAL", (38, 18)),
        SqlType("CHAR", (3,)),
        SqlType("BINARY", (16,)),
        SqlType("TIMESTAMP", (3,)),
        SqlType("TIMESTAMP_LTZ", (9,)),
        SqlType("INTERVAL", units=("DAY", "SECOND")),
        SqlType("INTERVAL", units=("MONTH",)),
    ]
)


def rows(types):
    fields = st.lists(
        st.builds(SqlField, NAMES, types, st.none() | STRINGS),
        min_size=1,
        max_size=3,
        unique_by=lambda f: f.name.lower(),
    )
    return fields.map(lambda each: SqlType("ROW", fields=tuple(each)))


def composites(types):
    return (
        st.builds(lambda root, each: SqlType(root, arguments=(each,)), st.sampled_from(["ARRAY", "MULTISET"]), types)
        | st.builds(lambda key, value: SqlType("MAP", arguments=(key, value)), types, types)
        | rows(types)
    )


TYPES = st.recursive(
    st.builds(lambda each, is_nullable: replace(each, is_nullable=is_nullable), SCALARS, st.booleans()),
    lambda types: st.builds(
        lambda each, is_nullable: replace(each, is_nullable=is_nullable), composites(types), st.booleans()
    ),
    max_leaves=6,
)
EXPRESSIONS = st.sampled_from(
    [
        "a",
        "a + 1",
        "concat(a, ',', `b c`)",
        "CASE WHEN a THEN b END",
        "c['x'][0]",
        "ts - INTERVAL '5' SECOND",
        "comment",
    ]
)
COMMENTS = st.none() | STRINGS
COLUMNS = (
    st.builds(PhysicalColumn, name=NAMES, type=TYPES, comment=COMMENTS)
    | st.builds(ComputedColumn, name=NAMES, expression=EXPRESSIONS, comment=COMMENTS)
    | st.builds(
        MetadataColumn, name=NAMES, type=TYPES, key=st.none() | STRINGS, is_virtual=st.booleans(), comment=COMMENTS
    )
)
OBJECT_NAMES = NAMES.map(lambda each: path_text((each,)) if "." in each else each) | st.lists(
    NAMES, min_size=2, max_size=3
).map(lambda each: path_text(tuple(each)))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(tuple)
TABLES = st.builds(
    TableDefinition,
    name=OBJECT_NAMES,
    columns=st.lists(COLUMNS, min_size=1, max_size=4, unique_by=lambda each: each.name.lower()).map(tuple),
    watermarks=st.lists(
        st.builds(WatermarkSpec, rowtime=PATHS, expression=EXPRESSIONS),
        max_size=2,
        unique_by=lambda each: tuple(name.lower() for name in each.rowtime),
    ).map(tuple),
    primary_key=st.none()
    | st.builds(
        PrimaryKey,
        columns=st.lists(NAMES, min_size=1, max_size=3, unique_by=str.lower).map(tuple),
        name=st.none() | NAMES,
    ),
    options=st.dictionaries(STRINGS.filter(str.strip), STRINGS, max_size=4).filter(
        lambda each: len({key.lower() for key in each}) == len(each)
    ),
    comment=COMMENTS,
    is_temporary=st.booleans(),
)


class PlainTokenizer(Spark.Tokenizer):
    """sqlglot's tokenizer without words of several parts."""

    KEYWORDS: ClassVar = {key: kind for key, kind in Tokenizer.KEYWORDS.items() if key in SYMBOLS}
    STRING_ESCAPES: ClassVar = ["\\", "'", '"']


def tokens_of(text):
    """Cut a text; None if it cannot be cut."""
    try:
        return tokenize(SqlText(text))
    except SqlError:
        return None


def tokens_of_sqlglot(text):
    """Cut a text with sqlglot; None if it cannot be cut."""
    try:
        return PlainTokenizer(Spark()).tokenize(text)
    except TokenError:
        return None


@given(ANY_TEXT)
def test_the_gaps_and_the_tokens_are_the_text(text):
    tokens = tokens_of(text)
    assume(tokens is not None)
    at = 0
    for token in tokens:
        assert text[at : token.start].strip() == ""
        assert text[token.start : token.end] == token.text
        at = token.end
    assert at == len(text)


@given(COMMON_TEXT)
def test_sqlglot_splits_at_the_same_positions(text):
    theirs = tokens_of_sqlglot(text)
    ours = tokens_of(text)
    assert (ours is None) == (theirs is None)
    assume(ours is not None)
    cut = [(each.start, each.end) for each in ours[:-1] if each.kind is not TokenKind.COMMENT]
    assert cut == [(each.start, each.end + 1) for each in theirs]


@given(STRINGS)
def test_a_literal_is_read_as_what_it_was_made_from(value):
    (token, _) = tokenize(SqlText(literal(value)))
    assert token.value == value


@given(TYPES)
def test_a_type_is_read_back_from_its_text(sql_type):
    assert parse_type(SqlText(sql_text(sql_type))) == sql_type


@given(TYPES)
def test_the_text_for_spark_is_a_schema_that_the_formats_read(sql_type):
    text = sql_text(sql_type)
    assume(refusal_of(sql_type) is None and "INTERVAL" not in text and text.isascii())
    assert len(parse_schema(f"a {spark_ddl(sql_type)}")) == 1


@given(TABLES)
def test_a_table_is_read_back_from_its_text(table):
    text = table_text(table)
    statement = parse_statement(SqlText(text))
    assert isinstance(statement, CreateTable)
    assert statement.table == table
    assert statement.hints == ()
    assert [each.text for each in split_script(SqlText(f"{text};\n{text}"))] == [text, text]


@given(
    st.builds(
        ViewDefinition,
        name=OBJECT_NAMES,
        query=st.sampled_from(["SELECT 1", "(SELECT 1) UNION (SELECT 2)", "WITH q AS (SELECT 1) SELECT * FROM q"]),
        columns=st.lists(NAMES, max_size=3, unique_by=str.lower).map(tuple),
        comment=COMMENTS,
        is_temporary=st.booleans(),
    )
)
def test_a_view_is_read_back_from_its_text(view):
    statement = parse_statement(SqlText(view_text(view)))
    assert isinstance(statement, CreateView)
    assert statement.view == view


@given(
    st.builds(
        FunctionDefinition, name=OBJECT_NAMES, path=st.sampled_from(["a.b", "a.b_1.C"]), is_temporary=st.booleans()
    )
)
def test_a_function_is_read_back_from_its_text(function):
    statement = parse_statement(SqlText(function_text(function)))
    assert isinstance(statement, CreateFunction)
    assert statement.function == function
