"""Definitions as flat properties, and catalogs of every version, which load for ever."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from datasources.errors import InternalError, SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.catalog import open_catalog
from datasources.sql.definitions.properties import VERSION, definition_of, properties_of
from datasources.sql.parse import parse_statement
from datasources.sql.statements.catalog_objects import FunctionDefinition, TableDefinition, ViewDefinition
from datasources.sql.statements.statements import ObjectKind
from tests.support.project import ROOT
from tests.support.sql.sql_catalog import table

GOLDEN = ROOT / "tests" / "golden" / "catalogs"
HEAD = {"tidemark.catalog.version": "1", "tidemark.catalog.kind": "table", "tidemark.catalog.name": "t"}
COLUMN = {"schema.0.name": "a", "schema.0.data-type": "INT"}


def definitions():
    """What `statements.sql` defines; the files of v1 were written from it."""
    for text in (GOLDEN / "statements.sql").read_text(encoding="utf-8").split("\n;\n"):
        if text.strip():
            statement = parse_statement(SqlText(text.strip()))
            yield getattr(statement, "table", None) or getattr(statement, "view", None) or statement.function


def test_the_keys_are_those_of_flip_66():
    definition = table(
        "CREATE TABLE t (f1 ROW<q2 TIMESTAMP(3)>, WATERMARK FOR f1.q2 AS `f1`.`q2` - INTERVAL '5' SECOND)"
    )
    assert properties_of(definition, datatypes=["TIMESTAMP(3)"]) == {
        **HEAD,
        "schema.0.name": "f1",
        "schema.0.data-type": "ROW<q2 TIMESTAMP(3)>",
        "schema.watermark.0.rowtime": "f1.q2",
        "schema.watermark.0.strategy.expression": "`f1`.`q2` - INTERVAL '5' SECOND",
        "schema.watermark.0.strategy.datatype": "TIMESTAMP(3)",
    }


def test_partition_keys_are_stored_by_their_names():
    definition = table(
        "CREATE TABLE t (a INT, `d.t` STRING, hm STRING) PARTITIONED BY (`d.t`, hm) WITH ('connector' = 'filesystem')"
    )
    properties = properties_of(definition)
    assert properties["partition.keys"] == "`d.t`;hm"
    assert definition_of(properties) == definition
    del properties["partition.keys"]
    assert definition_of(properties).partition_keys is None  # as older versions wrote it


def test_a_type_that_is_not_known_is_left_out():
    properties = properties_of(
        table("CREATE TABLE t (ts TIMESTAMP(3), u TIMESTAMP(3), WATERMARK FOR ts AS ts, WATERMARK FOR u AS u)")
    )
    assert not [key for key in properties if key.endswith("strategy.datatype")]


@pytest.mark.parametrize("definition", list(definitions()), ids=lambda definition: definition.name)
def test_the_stored_object_equals_the_definition(definition):
    assert definition_of(properties_of(definition)) == definition


@pytest.mark.parametrize(
    "definition",
    [
        TableDefinition(name="t", is_temporary=True),
        ViewDefinition(name="v", query="SELECT 1", is_temporary=True),
        FunctionDefinition(name="f", path="a.b", is_temporary=True),
    ],
)
def test_temporary_objects_are_not_stored(definition):
    with pytest.raises(InternalError, match="is temporary and has no properties"):
        properties_of(definition)


@pytest.fixture
def golden(tmp_path):
    """Copy a version's catalog, as opening one makes directories."""

    def copy(version: str) -> Path:
        shutil.copytree(GOLDEN / version, tmp_path / version)
        return tmp_path / version

    return copy


def test_a_catalog_of_version_1_loads(golden):
    catalog = open_catalog(golden("v1"))
    loaded = [catalog.get(kind, entry.name) for kind in ObjectKind for entry in catalog.entries(kind)]
    assert sorted(loaded, key=lambda each: each.name) == sorted(definitions(), key=lambda each: each.name)


def test_what_is_written_today_is_version_1_byte_by_byte(golden, tmp_path):
    """A new version needs a new number, a loader for this one, and files of its own."""
    old, new = golden("v1"), open_catalog(tmp_path / "new")
    for definition in definitions():
        datatypes = ["TIMESTAMP_NTZ", "BIGINT"] if definition.name == "Orders" else []
        new.create(definition, datatypes=datatypes)
    files = {str(path.relative_to(old)): path.read_bytes() for path in old.rglob("*.json")}
    assert files == {
        str(path.relative_to(tmp_path / "new")): path.read_bytes() for path in (tmp_path / "new").rglob("*.json")
    }
    assert VERSION == 1


def test_the_first_draft_of_flip_66_loads_as_version_0(golden):
    catalog = open_catalog(golden("v0"))
    assert catalog.find("CLICKS") == table(
        "CREATE TABLE clicks (user STRING, f1 ROW<q1 INT, q2 TIMESTAMP(3)>, rowtime AS f1.q2, WATERMARK FOR f1.q2 AS `f1`.`q2` - INTERVAL '5' SECOND) "
        "WITH ('connector' = 'kafka', 'topic' = 'clicks')"
    )


@pytest.mark.parametrize("kind", ["VIEW", "FUNCTION"])
def test_a_table_that_was_loaded_is_written_in_the_newest_version(golden, kind):
    root = golden("v0")
    catalog = open_catalog(root)
    catalog.rename("clicks", f"new_{kind}")
    properties = json.loads((root / "tables" / f"new_{kind.lower()}.json").read_text())
    assert properties["tidemark.catalog.version"] == "1"
    assert "schema.watermark.0.rowtime" in properties
    assert not (root / "tables" / "clicks.json").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"tidemark.catalog.version": "7"},
            "it was written by a newer version of Tidemark (catalog version 7; this one reads up to 1). Use that version, or a newer one.",
        ),
        ({"tidemark.catalog.version": "one"}, "property 'tidemark.catalog.version' = 'one': it is a whole number."),
        ({"tidemark.catalog.version": "-1"}, "property 'tidemark.catalog.version' = '-1': it is a whole number."),
        ({"tidemark.catalog.kind": "index"}, "property 'tidemark.catalog.kind' = 'index': it is one of 'table', 'view', 'function'."),
        ({"tidemark.catalog.name": ""}, "property 'tidemark.catalog.name' is empty."),
        ({"schema.0.nmae": "x"}, "there is no property 'schema.0.nmae' here."),
        ({"schema.0.coment": "x"}, "there is no property 'schema.0.coment' here. Did you mean 'schema.0.comment'?"),
        ({"schema.0.data-type": "INTT"}, "property 'schema.0.data-type', line 1, column 1: expected a type, and there is no type 'INTT'. Did you mean INT?\n  INTT\n  ^^^^"),
        ({"schema.0.virtual": "true"}, "there is no property 'schema.0.virtual' here."),
        ({"schema.0.metadata": "k", "schema.0.virtual": "yes"}, "property 'schema.0.virtual' = 'yes': it is 'true' or 'false'."),
        ({"schema.2.name": "b"}, "there is no 'schema.1', but a 'schema.2'; the numbers count from 0."),
        ({"schema.watermark.1.rowtime": "a"}, "there is no 'schema.watermark.0', but a 'schema.watermark.1'; the numbers count from 0."),
        ({"schema.watermark.0.rowtime": "a"}, "property 'schema.watermark.0.strategy.expression' is missing."),
        ({"schema.watermark.0.rowtime": "a..b", "schema.watermark.0.strategy.expression": "a"}, "property 'schema.watermark.0.rowtime' = 'a..b': a name is missing at character 3."),
        ({"schema.watermark.0.rowtime": "a;b", "schema.watermark.0.strategy.expression": "a"}, "property 'schema.watermark.0.rowtime' = 'a;b': '.' is expected at character 2."),
        ({"schema.primary-key.columns": "`a"}, "property 'schema.primary-key.columns' = '`a': a name is missing at character 1."),
        ({"schema.primary-key.name": "pk"}, "there is no property 'schema.primary-key.name' here."),
        ({"options.": "x"}, "there is no property 'options.' here."),
        ({"function.path": "a.b"}, "there is no property 'function.path' here."),
        ({"schema.watermark.rowtime": "a"}, "there is no property 'schema.watermark.rowtime' here."),
    ],
)  # fmt: skip
def test_unknown_properties_are_rejected_by_name(changes, message):
    with pytest.raises(SqlError) as caught:
        definition_of({**HEAD, **COLUMN, **changes})
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("left_out", "message"),
    [
        ("schema.0.name", "property 'schema.0.name' is missing."),
        ("tidemark.catalog.kind", "property 'tidemark.catalog.kind' is missing."),
    ],
)
def test_a_property_that_must_be_there_is_asked_for(left_out, message):
    properties = {**HEAD, **COLUMN}
    del properties[left_out]
    with pytest.raises(SqlError) as caught:
        definition_of(properties)
    assert caught.value.message == message


def test_a_mistyped_property_is_named_where_one_is_missing():
    with pytest.raises(SqlError, match=r"property 'schema.0.data-type' is missing. Did you mean 'schema.0.datatype'\?"):
        definition_of({**HEAD, "schema.0.name": "a", "schema.0.datatype": "INT"})
