"""Definitions, drawn: names with all kinds of characters, types nested in types, watermarks, keys, options."""

from __future__ import annotations

from hypothesis import strategies as st

from datasources.grammar.sql_types import SqlField, SqlType
from datasources.sql.statements.catalog_objects import (
    Column,
    ComputedColumn,
    FunctionDefinition,
    MetadataColumn,
    PartitionKeys,
    PhysicalColumn,
    PrimaryKey,
    TableDefinition,
    ViewDefinition,
    WatermarkSpec,
)
from datasources.sql.text.quoting import path_text

__all__ = ["EXPRESSIONS", "definitions", "functions", "names", "object_names", "tables", "texts", "types", "views"]

# Drawing is what takes the time: characters and types come from lists that hold what is hard about them.
_CHARACTERS = st.sampled_from("aZ_09 .`'\"\\-/*%$:;,()<>[]{}~éß😀\u00a0")
_PLAIN = st.sampled_from(["a", "b", "Ts", "order_id", "x1", "_y", "C", "price"])
_KEYWORDS = st.sampled_from(
    ["select", "WATERMARK", "PRIMARY", "timestamp", "as", "Like", "metadata", "from", "constraint"]
)

names = st.one_of(_PLAIN, _KEYWORDS, st.text(_CHARACTERS, min_size=1, max_size=6).filter(str.strip))
"""Names of columns and fields."""

texts = st.text(_CHARACTERS | st.sampled_from("\n\t\r"), max_size=8)
"""Comments and values."""

EXPRESSIONS = [
    "a",
    "a + 1",
    "f(a, 'it''s', \"x\")",
    "ts - INTERVAL '5' SECOND",
    "CAST(a AS TIMESTAMP(3))",
    "`a b`.c[1]",
    "a -- first\n  + /* b, c) */ 1",
    "CASE WHEN a THEN ')' ELSE ',' END",
    "r'\\d' || '\\\\'",
]
"""Texts of expressions: they are kept as they are."""

_object_part = st.one_of(_PLAIN, _PLAIN, names)
object_names = st.lists(_object_part, min_size=1, max_size=3).map(
    lambda parts: parts[0] if len(parts) == 1 and "." not in parts[0] else path_text(tuple(parts))
)
"""Names of tables, views and functions, as the parser gives them."""

_SIMPLE = st.sampled_from(
    [
        "BOOLEAN",
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "FLOAT",
        "DOUBLE",
        "STRING",
        "BYTES",
        "DATE",
        "TIMESTAMP",
        "DECIMAL",
        "CHAR",
    ]
)


def types() -> st.SearchStrategy[SqlType]:
    """Types of columns."""
    sized = st.one_of(
        st.builds(
            lambda root, n: SqlType(root, (n,)), st.sampled_from(["TIMESTAMP", "TIMESTAMP_LTZ"]), st.integers(0, 9)
        ),
        st.builds(
            lambda root, n: SqlType(root, (n,)),
            st.sampled_from(["CHAR", "VARCHAR", "BINARY", "VARBINARY"]),
            st.integers(1, 99),
        ),
        st.builds(lambda p, s: SqlType("DECIMAL", (p, min(p, s))), st.integers(1, 38), st.integers(0, 38)),
    )
    return st.recursive(
        _nullable(st.one_of(_SIMPLE.map(SqlType), sized)), lambda inner: _nullable(_nested(inner)), max_leaves=3
    )


def columns(name: str) -> st.SearchStrategy[Column]:
    """Columns of a name."""
    comments = st.none() | texts
    expressions = st.sampled_from(EXPRESSIONS)
    keys = st.none() | st.text(_CHARACTERS, min_size=1, max_size=6)
    return st.one_of(
        st.builds(PhysicalColumn, name=st.just(name), type=types(), comment=comments),
        st.builds(ComputedColumn, name=st.just(name), expression=expressions, comment=comments),
        st.builds(
            MetadataColumn, name=st.just(name), type=types(), key=keys, is_virtual=st.booleans(), comment=comments
        ),
    )


@st.composite
def tables(draw: st.DrawFn, *, is_temporary: bool | None = None) -> TableDefinition:
    """Tables; their columns, watermarks and keys need not make sense together."""
    own = draw(st.lists(names, max_size=3, unique_by=str.lower))
    paths = draw(
        st.lists(
            st.lists(names, min_size=1, max_size=3).map(tuple),
            max_size=2,
            unique_by=lambda p: tuple(n.lower() for n in p),
        )
    )
    key = draw(st.none() | st.lists(names, min_size=1, max_size=3, unique_by=str.lower).map(tuple))
    options = draw(_options())
    partitions = draw(st.none() | st.lists(names, min_size=1, max_size=2, unique_by=str.lower).map(tuple))
    return TableDefinition(
        name=draw(object_names),
        columns=tuple(draw(columns(name)) for name in own),
        watermarks=tuple(WatermarkSpec(rowtime=path, expression=draw(st.sampled_from(EXPRESSIONS))) for path in paths),
        primary_key=None if key is None else PrimaryKey(columns=key, name=draw(st.none() | names)),
        partition_keys=None if partitions is None or not options else PartitionKeys(columns=partitions),
        options=options,
        comment=draw(st.none() | texts),
        is_temporary=draw(st.booleans()) if is_temporary is None else is_temporary,
    )


def views(*, is_temporary: bool | None = None) -> st.SearchStrategy[ViewDefinition]:
    """Views."""
    return st.builds(
        ViewDefinition,
        name=object_names,
        query=st.sampled_from(
            ["SELECT 1", "SELECT a -- all\nFROM t WHERE b = 'it''s'", "WITH x AS (SELECT 1) SELECT * FROM x"]
        ),
        columns=st.lists(names, max_size=3, unique_by=str.lower).map(tuple),
        comment=st.none() | texts,
        is_temporary=st.booleans() if is_temporary is None else st.just(is_temporary),
    )


def functions(*, is_temporary: bool | None = None) -> st.SearchStrategy[FunctionDefinition]:
    """Functions."""
    return st.builds(
        FunctionDefinition,
        name=object_names,
        path=st.lists(_PLAIN, min_size=2, max_size=4).map(".".join),
        is_temporary=st.booleans() if is_temporary is None else st.just(is_temporary),
    )


def definitions(
    *, is_temporary: bool | None = None
) -> st.SearchStrategy[TableDefinition | ViewDefinition | FunctionDefinition]:
    """Objects of all kinds."""
    return st.one_of(
        tables(is_temporary=is_temporary), views(is_temporary=is_temporary), functions(is_temporary=is_temporary)
    )


def _options() -> st.SearchStrategy[dict[str, str]]:
    keys = st.one_of(
        st.sampled_from(["connector", "topic", "comment", "schema", "properties.x"]),
        st.text(_CHARACTERS, min_size=1, max_size=8),
    )
    return st.dictionaries(keys, texts, max_size=4).map(_without_doubles)


def _without_doubles(options: dict[str, str]) -> dict[str, str]:
    return {
        key: value
        for key, value in options.items()
        if key.strip() and key == {k.lower(): k for k in options}[key.lower()]
    }


def _nullable(kinds: st.SearchStrategy[SqlType]) -> st.SearchStrategy[SqlType]:
    return st.builds(
        lambda kind, is_nullable: SqlType(
            kind.root, kind.parameters, kind.arguments, kind.fields, is_nullable=is_nullable
        ),
        kinds,
        st.sampled_from([True, True, False]),
    )


def _nested(inner: st.SearchStrategy[SqlType]) -> st.SearchStrategy[SqlType]:
    fields = st.lists(
        st.tuples(names, inner, st.none() | texts), min_size=1, max_size=3, unique_by=lambda f: f[0].lower()
    )
    return st.one_of(
        inner.map(lambda kind: SqlType("ARRAY", arguments=(kind,))),
        inner.map(lambda kind: SqlType("MULTISET", arguments=(kind,))),
        st.tuples(inner, inner).map(lambda kinds: SqlType("MAP", arguments=kinds)),
        fields.map(lambda drawn: SqlType("ROW", fields=tuple(SqlField(*each) for each in drawn))),
    )
