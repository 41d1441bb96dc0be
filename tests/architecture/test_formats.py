"""Formats are siblings: the table knows each, none knows another but those that it is built on."""

from __future__ import annotations

import pytest

from tests.architecture.test_folders import IMPORTS
from tests.support.project import ROOT

PACKAGE = "datasources.formats"
SHARED = {"api", "columns", "registry", "schema_text", "values"}
TABLE = "format_table"
BUILT_ON = {"debezium": {"json", "avro"}}
MEMBERS = {
    path.stem
    for path in (ROOT / "datasources" / "formats").iterdir()
    if (path / "__init__.py").exists() or path.suffix == ".py"
}
OF_THE_TABLE = MEMBERS - SHARED - {TABLE, "__init__"}


def members_imported_by(member: str) -> set[str]:
    own = f"{PACKAGE}.{member}"
    found = {other for name, others in IMPORTS.items() if name == own or name.startswith(f"{own}.") for other in others}
    return {name.split(".")[2] for name in found if name.startswith(f"{PACKAGE}.")} - {member}


def test_every_module_is_shared_or_a_format_of_the_table():
    assert members_imported_by(TABLE) - SHARED == OF_THE_TABLE


@pytest.mark.parametrize("member", sorted(OF_THE_TABLE))
def test_a_format_imports_what_is_shared_and_the_formats_that_it_is_built_on(member):
    assert members_imported_by(member) <= SHARED | BUILT_ON.get(member, set())


@pytest.mark.parametrize("member", sorted(SHARED))
def test_what_is_shared_knows_no_format(member):
    assert members_imported_by(member) <= SHARED
