"""A catalog in a directory: its files, broken ones, and other processes."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import sys
from pathlib import Path

import pytest

from datasources.errors import SqlError
from datasources.sql.catalog import open_catalog
from datasources.sql.catalog.file_text import file_name, name_in
from datasources.sql.statements.catalog_objects import FunctionDefinition, TableDefinition, ViewDefinition
from datasources.sql.statements.statements import ObjectKind
from tests.support.sql.sql_catalog import table

TABLE, FUNCTION = ObjectKind.TABLE, ObjectKind.FUNCTION
GOOD = TableDefinition(name="good", options={"connector": "kafka"})


@pytest.fixture
def root(tmp_path):
    open_catalog(tmp_path / "catalog").create(GOOD)
    return tmp_path / "catalog"


def file_of(root: Path, name: str) -> Path:
    return root / "tables" / file_name(name)


def test_permanent_objects_survive_the_process_and_temporary_ones_do_not(root):
    first = open_catalog(root)
    first.create(ViewDefinition(name="v", query="SELECT 1"))
    first.create(FunctionDefinition(name="f", path="a.b"))
    first.create(TableDefinition(name="session", is_temporary=True))
    second = open_catalog(root)
    assert [entry.name for kind in ObjectKind for entry in second.entries(kind)] == ["good", "v", "f"]
    assert second.find("good") == GOOD
    assert (first.is_durable, open_catalog().is_durable) == (True, False)


def test_a_change_by_another_process_is_seen_at_once(root):
    here, there = open_catalog(root), open_catalog(root)
    assert here.find("good") == GOOD
    there.replace(GOOD, TableDefinition(name="good", comment="new"))
    assert here.find("good").comment == "new"
    there.drop(TABLE, "good")
    assert here.find("good") is None


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("Orders", "orders.json"),
        ("my table", "my%20table.json"),
        ("a/../../etc/passwd", "a%2F%2E%2E%2F%2E%2E%2Fetc%2Fpasswd.json"),
        (".hidden", "%2Ehidden.json"),
        ("..", "%2E%2E.json"),
        ("Ärger", "%C3%A4rger.json"),
        ('a\0b:*?"<>|\\', "a%00b%3A%2A%3F%22%3C%3E%7C%5C.json"),
        ("x~y", "x%7Ey.json"),
        ("\ud800", "%ED%A0%80.json"),
    ],
)
def test_any_name_has_a_file_of_its_own(tmp_path, name, file):
    assert file_name(name) == file
    assert file_name(name.upper()) == file_name(name.lower())


def test_long_names_are_cut_and_still_differ(tmp_path):
    catalog = open_catalog(tmp_path)
    names = ["n" * 400 + last for last in ("a", "b")] + ["ö" * 90]
    for name in names:
        catalog.create(TableDefinition(name=name, comment=name[-1]))
    assert [catalog.find(name.upper()).comment for name in names] == ["a", "b", "ö"]
    assert sorted(entry.name for entry in catalog.entries(TABLE)) == sorted(names)
    assert max(len(file.name) for file in (tmp_path / "tables").iterdir()) < 200


def test_a_name_is_read_back_from_its_file():
    assert [name_in(file_name(name)) for name in ("Orders", "a b/c", "Größe")] == ["orders", "a b/c", "größe"]


def test_a_file_that_is_cut_short_at_any_byte_never_loads_as_something_else(root):
    whole = file_of(root, "good").read_bytes()
    for length in range(0, len(whole) - 2, 5):
        file_of(root, "good").write_bytes(whole[:length])
        with pytest.raises(SqlError, match=re.escape(f"the catalog file '{file_of(root, 'good')}' cannot be used: ")):
            open_catalog(root).find("good")


BROKEN = {
    "cut short": (b'{"tidemark.catalog.version": "1",', "it is cut short or was damaged: Expecting property name enclosed in double quotes at line 1, column 34."),
    "empty": (b"", "it is cut short or was damaged: Expecting value at line 1, column 1."),
    "no JSON": (b"CREATE TABLE x (a INT)", "it is cut short or was damaged: Expecting value at line 1, column 1."),
    "a list": (b"[1]", "it is no JSON object of texts."),
    "a number": (b'{"comment": 1}', "property 'comment' is no text: put its value between double quotes."),
    "a key twice": (b'{"comment": "a", "comment": "b"}', "property 'comment' is there twice."),
    "no UTF-8": (b'{"comment": "\xff"}', "it is no UTF-8 text: byte 14 is damaged."),
    "deep": (b"[" * 100_000, "it is nested deeply; it has to be one JSON object of texts."),
    "newer": (
        b'{"tidemark.catalog.version": "99"}',
        "it was written by a newer version of Tidemark (catalog version 99; this one reads up to 1). Use that version, or a newer one.",
    ),
    "nonsense": (
        b'{"tidemark.catalog.version": "1", "tidemark.catalog.kind": "table", "tidemark.catalog.name": "broken", "colour": "red"}',
        "there is no property 'colour' here.",
    ),
    "a copy": (
        b'{"tidemark.catalog.version": "1", "tidemark.catalog.kind": "table", "tidemark.catalog.name": "good"}',
        "it holds 'good', whose file is 'good.json': a copy, or renamed by hand.",
    ),
    "a function": (
        b'{"tidemark.catalog.version": "1", "tidemark.catalog.kind": "function", "tidemark.catalog.name": "broken", "function.path": "a.b"}',
        "a function does not belong into 'tables'.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("content", BROKEN)
def test_a_broken_file_is_an_error_of_its_own_object_only(root, content):
    text, reason = BROKEN[content]
    file_of(root, "broken").write_bytes(text)
    catalog = open_catalog(root)
    message = f"the catalog file '{file_of(root, 'broken')}' cannot be used: {reason} Correct or remove it."
    with pytest.raises(SqlError) as caught:
        catalog.find("Broken")
    assert caught.value.message == message
    assert [(entry.name, entry.problem) for entry in catalog.entries(TABLE)] == [("broken", message), ("good", None)]
    assert catalog.find("good") == GOOD
    assert catalog.exists(TABLE, "broken")
    with pytest.raises(SqlError, match="cannot be used"):
        catalog.create(TableDefinition(name="broken"))
    assert catalog.drop(TABLE, "broken") is True
    assert catalog.create(TableDefinition(name="broken")) is True


def test_a_name_in_two_files_names_both(root):
    copy = root / "tables" / "Good.json"
    copy.write_bytes(file_of(root, "good").read_bytes())
    if len(list((root / "tables").iterdir())) == 1:
        assert sys.platform == "darwin", "file systems of other systems tell upper from lower case"
        return
    catalog = open_catalog(root)
    message = f"'good' is in the catalog twice, in '{copy}' and '{file_of(root, 'good')}'. Remove one of the files."
    with pytest.raises(SqlError) as caught:
        catalog.find("good")
    assert caught.value.message == message
    assert [(entry.name, entry.problem) for entry in catalog.entries(TABLE)] == [("good", message)]


def test_other_files_are_no_objects(root):
    for name in ("README", ".draft", ".hidden.json", "good.json~"):
        (root / "tables" / name).write_text("?")
    assert [entry.name for entry in open_catalog(root).entries(TABLE)] == ["good"]


def test_leftovers_of_a_crashed_process_do_no_harm(root):
    (root / "tables" / ".draft").write_text('{"half": ')
    catalog = open_catalog(root)
    assert catalog.create(TableDefinition(name="next")) is True
    assert sorted(file.name for file in (root / "tables").iterdir()) == ["good.json", "next.json"]


def test_a_file_is_replaced_as_a_whole(root, monkeypatch):
    """A process that dies while it writes leaves the old file: the new one only gets its name when it is complete."""
    before = file_of(root, "good").read_bytes()

    def die(_: int) -> None:
        raise OSError(28, "No space left on device")

    catalog = open_catalog(root)
    monkeypatch.setattr(os, "fsync", die)
    with pytest.raises(
        SqlError, match=re.escape(f"the catalog directory '{root}' cannot be written: No space left on device.")
    ):
        catalog.replace(GOOD, TableDefinition(name="good", comment="new"))
    assert file_of(root, "good").read_bytes() == before


def test_types_of_watermarks_are_stored_with_them(root):
    catalog = open_catalog(root)
    catalog.create(table("CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"), datatypes=["TIMESTAMP_NTZ"])
    properties = json.loads(file_of(root, "t").read_text())
    assert properties["schema.watermark.0.strategy.datatype"] == "TIMESTAMP_NTZ"


def test_a_literal_secret_is_not_stored_in_files(root):
    catalog = open_catalog(root)
    options = {"connector": "kafka", "kafka.sasl.password": "hunter2"}
    secret = TableDefinition(name="secret", options=options)
    with pytest.raises(
        SqlError, match=r"option 'kafka.sasl.password' holds a secret, and this catalog is kept in files"
    ):
        catalog.create(secret)
    with pytest.raises(SqlError, match="holds a secret"):
        catalog.replace(GOOD, TableDefinition(name="good", options=options))
    catalog.create(TableDefinition(name="session", options=options, is_temporary=True))
    catalog.create(TableDefinition(name="named", options={**options, "kafka.sasl.password": "${env:PW}"}))
    open_catalog().create(secret)
    assert all(b"hunter2" not in file.read_bytes() for file in root.rglob("*") if file.is_file())


def test_a_file_in_place_of_the_directory_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SqlError, match=re.escape(f"the catalog directory '{tmp_path / 'file'}' cannot be used: ")):
        open_catalog(tmp_path / "file")


def test_a_directory_that_went_away_is_an_error(root):
    catalog = open_catalog(root)
    for file in [*root.rglob("*.json"), root / ".lock"]:
        file.unlink()
    (root / "tables").rmdir()
    with pytest.raises(
        SqlError, match=re.escape(f"the catalog directory '{root}' cannot be read: No such file or directory.")
    ):
        catalog.find("good")


def _create_all(root: Path, names: list[str], start, results) -> None:
    catalog = open_catalog(root)
    start.wait()
    results.put([name for name in names if catalog.create(TableDefinition(name=name), if_not_exists=True)])


def test_processes_that_create_the_same_names_at_once_create_each_once(root):
    context = multiprocessing.get_context("fork")
    names = [f"table{n}" for n in range(10)]
    start, results = context.Event(), context.Queue()
    workers = [context.Process(target=_create_all, args=(root, names[::step], start, results)) for step in (1, -1)]
    for worker in workers:
        worker.start()
    start.set()
    created = [name for _ in workers for name in results.get(timeout=60)]
    for worker in workers:
        worker.join(60)
    assert sorted(created) == sorted(names)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(open_catalog(root).entries(TABLE)) == 11
