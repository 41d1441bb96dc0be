"""Laws of definitions and catalogs."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.catalog import open_catalog
from datasources.sql.catalog.file_text import file_name, properties_in, text_of
from datasources.sql.catalog.interface import kind_of
from datasources.sql.definitions.create_like import merge_like
from datasources.sql.definitions.option_secrets import MASK, expand, shown
from datasources.sql.definitions.properties import definition_of, properties_of
from datasources.sql.definitions.show_create import show_create
from datasources.sql.parse import parse_statement
from datasources.sql.statements.catalog_objects import PhysicalColumn, TableDefinition, ViewDefinition
from datasources.sql.statements.statements import ObjectKind
from datasources.sql.text.substitute import references, substitute
from tests.support.sql.sql_catalog import created
from tests.support.sql.sql_strategies import definitions, names, object_names, tables

FEW = settings(max_examples=40, deadline=None)


def parsed(text: str):
    statement = parse_statement(SqlText(text))
    return getattr(statement, "table", None) or getattr(statement, "view", None) or statement.function


@FEW
@given(definitions())
def test_what_is_shown_makes_an_equal_object(definition):
    assert parsed(show_create(definition)) == definition


@FEW
@given(definitions(is_temporary=False), st.data())
def test_stored_properties_are_text_and_load_to_an_equal_object(definition, data):
    watermarks = len(definition.watermarks) if isinstance(definition, TableDefinition) else 0
    datatypes = data.draw(st.sampled_from([[], ["BIGINT"] * watermarks]))
    properties = properties_of(definition, datatypes=datatypes)
    assert all(isinstance(part, str) for pair in properties.items() for part in pair)
    assert definition_of(properties_in(text_of(properties).encode())) == definition


@FEW
@given(definitions(is_temporary=False), st.data())
def test_a_file_with_any_byte_changed_is_read_or_refused(definition, data):
    """By an error of ours: never by a crash."""
    text = bytearray(text_of(properties_of(definition)).encode())
    span = data.draw(st.integers(0, len(text) - 1))
    text[span] = data.draw(st.integers(0, 255))
    with contextlib.suppress(SqlError):
        assert definition_of(properties_in(bytes(text))).name


@FEW
@given(tables(is_temporary=False))
def test_like_copies_all_of_a_table_by_default(base):
    merged = merge_like(base, created("CREATE TABLE t LIKE base"))
    assert merged == TableDefinition(
        name="t",
        columns=base.columns,
        watermarks=base.watermarks,
        primary_key=base.primary_key,
        partition_keys=base.partition_keys,
        options=base.options,
    )


@FEW
@given(tables(is_temporary=False))
def test_like_takes_nothing_but_physical_columns_if_all_is_excluded(base):
    merged = merge_like(base, created("CREATE TABLE t LIKE base (EXCLUDING ALL)"))
    assert merged == TableDefinition(name="t", columns=tuple(c for c in base.columns if isinstance(c, PhysicalColumn)))


@given(st.dictionaries(st.sampled_from(["password", "topic", "x.token", "ssl.key.pem"]), st.text(max_size=10)))
def test_options_without_references_stay_and_secrets_are_never_shown(options):
    plain = {key: value.replace("${", "") for key, value in options.items()}
    assert expand(plain, environment={}) == plain
    for key, value in shown(plain).items():
        assert value == (plain[key] if key == "topic" or not plain[key].strip() else MASK)


@given(st.lists(names, max_size=6))
def test_names_have_the_same_file_exactly_if_they_are_the_same_in_lower_case(found):
    files = {file_name(name) for name in found}
    assert len(files) == len({name.lower() for name in found})
    assert all(len(file.encode()) < 255 and "/" not in file and not file.startswith(".") for file in files)


_LEAVES = st.sampled_from(["a", "B", "`a b`", "s.a", "1", "'a'", "r.x.y"])
_REPLACED = {
    "a": "(x + 1)",
    "B": "(y)",
    "`a b`": "(z -- z\n)",
    "s.a": "s.a",
    "1": "1",
    "'a'": "'a'",
    "r.x.y": "(f(r)).x.y",
}
_COLUMNS = {"a": "a", "B": "b", "`a b`": "a b", "s.a": "s", "r.x.y": "r"}
_FORMS = st.sampled_from(
    [
        "{} + {}",
        "f({}, {})",
        "CASE WHEN {} THEN {} END",
        "a({},\n{})",
        "({}) -- a\n * ({})",
        "{} IN ({}, 'B')",
        "named_struct('a', {}, 'b', {}).a",
    ]
)


@given(st.recursive(_LEAVES.map(lambda leaf: (leaf, _REPLACED[leaf], {_COLUMNS.get(leaf)})), lambda inner: st.tuples(_FORMS, inner, inner).map(
    lambda drawn: (f"({drawn[0].format(drawn[1][0], drawn[2][0])})", f"({drawn[0].format(drawn[1][1], drawn[2][1])})", drawn[1][2] | drawn[2][2])
)))  # fmt: skip
def test_an_expression_is_rewritten_where_columns_stand_and_nowhere_else(drawn):
    text, replaced, columns = drawn
    assert references(text) == columns - {None}
    assert substitute(text, {"a": "x + 1", "b": "y", "A B": "z -- z", "R": "f(r)"}) == replaced
    assert substitute(text, {}) == text


class CatalogMachine(RuleBasedStateMachine):
    """A catalog against a dictionary; the one in a directory is closed and opened at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        self.root = Path(self.directory.name)
        self.memory, self.files = open_catalog(), open_catalog(self.root)
        self.model: dict[tuple[bool, bool, str], object] = {}
        self.is_clean = True

    def teardown(self) -> None:
        self.directory.cleanup()

    def both(self, change) -> bool:
        """Change both catalogs; they must agree on whether that is possible."""
        outcomes = set()
        for catalog in (self.memory, self.files):
            try:
                outcomes.add(change(catalog))
            except SqlError as error:
                outcomes.add(error.message)
        assert len(outcomes) == 1, outcomes
        return outcomes.pop() is True

    @staticmethod
    def key(definition, name: str | None = None) -> tuple[bool, bool, str]:
        is_function = kind_of(definition) is ObjectKind.FUNCTION
        return definition.is_temporary, is_function, (name or definition.name).lower()

    @rule(definition=definitions(), or_replace=st.booleans(), if_not_exists=st.booleans())
    def create(self, definition, or_replace, if_not_exists):
        existing = self.model.get(self.key(definition))
        if MASK in shown(getattr(definition, "options", {})).values():
            return
        done = self.both(lambda c: c.create(definition, or_replace=or_replace, if_not_exists=if_not_exists))
        is_replaced = (
            or_replace and not if_not_exists and existing is not None and kind_of(existing) is kind_of(definition)
        )
        assert done == (existing is None or is_replaced)
        if done:
            self.model[self.key(definition)] = definition

    @rule(data=st.data(), new=object_names)
    def create_again(self, data, new):
        """Names that are there: what a draw alone seldom hits."""
        if self.model:
            known = data.draw(st.sampled_from(sorted(self.model)))
            view = ViewDefinition(
                name=self.model[known].name.swapcase(), query="SELECT 1", is_temporary=data.draw(st.booleans())
            )
            self.create(view, data.draw(st.booleans()), data.draw(st.booleans()))

    @rule(data=st.data())
    def drop(self, data):
        if self.model:
            is_temporary, is_function, name = key = data.draw(st.sampled_from(sorted(self.model)))
            kind = kind_of(self.model[key])
            done = self.both(lambda c: c.drop(kind, name, is_temporary=is_temporary))
            assert done == (is_temporary or (True, is_function, name) not in self.model)
            if done:
                del self.model[key]

    @rule(data=st.data(), new=object_names)
    def rename(self, data, new):
        relations = sorted(key for key in self.model if not key[1])
        if relations:
            name = data.draw(st.sampled_from(relations))[2]
            key = (True, False, name) if (True, False, name) in self.model else (False, False, name)
            done = self.both(lambda c: c.rename(name, new) is None)
            target = (key[0], False, new.lower())
            assert done == (target == key or target not in self.model)
            if done:
                old = self.model.pop(key)
                self.model[target] = type(old)(
                    **{**{f: getattr(old, f) for f in old.__dataclass_fields__}, "name": new}
                )

    @rule()
    def open_again(self):
        """Temporary objects end with the session: of both, to keep them equal."""
        self.files = open_catalog(self.root)
        kept = open_catalog()
        for (is_temporary, _, _), definition in list(self.model.items()):
            if not is_temporary:
                kept.create(definition)
        self.memory = kept
        self.model = {key: definition for key, definition in self.model.items() if not key[0]}

    @invariant()
    def all_agree(self):
        for kind in ObjectKind:
            entries = self.memory.entries(kind)
            assert entries == self.files.entries(kind)
            assert all(entry.problem is None for entry in entries)
        for _, is_function, name in self.model:
            expected = self.model.get((True, is_function, name)) or self.model[False, is_function, name]
            for catalog in (self.memory, self.files):
                assert (catalog.function(name) if is_function else catalog.find(name)) == expected


TestCatalogs = CatalogMachine.TestCase
TestCatalogs.settings = settings(max_examples=10, stateful_step_count=12, deadline=None)


@pytest.mark.full
class TestCatalogsLong(CatalogMachine.TestCase):
    settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
