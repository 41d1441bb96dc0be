"""Pairs of statements and what the catalog's layer makes of them: tests/golden/sql/catalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from datasources.errors import SqlError
from tests.support.project import ROOT
from tests.support.sql.sql_catalog import altered, described, liked, printed, resolved, shown_again

GOLDEN = ROOT / "tests" / "golden" / "sql" / "catalog"
TYPE = "-- type: "
Outcome = Callable[[str, Mapping[str, str]], str]
FILES: dict[str, Outcome] = {
    "resolve": lambda text, types: printed(resolved(text, types)),
    "resolve_errors": lambda text, types: printed(resolved(text, types)),
    "describe": described,
    "like": lambda text, _: liked(text),
    "alter": lambda text, _: altered(text),
    "show_create": lambda text, _: shown_again(text),
}


def outcome_of(file: str, block: str) -> str:
    """Return what a block gives: remarks, `-- type: expression is TYPE`, then the statement."""
    lines = block.splitlines()
    types: dict[str, str] = {}
    while lines and lines[0].startswith("--"):
        line = lines.pop(0)
        if line.startswith(TYPE):
            expression, _, kind = line.removeprefix(TYPE).rpartition(" is ")
            types[expression.replace("\\n", "\n")] = kind
    try:
        return FILES[file]("\n".join(lines), types)
    except SqlError as error:
        return f"error: {error.message}"


def blocks(file: str) -> list[tuple[str, str]]:
    """Return the pairs of a file."""
    texts = [block.strip("\n") for block in (GOLDEN / f"{file}.sql").read_text(encoding="utf-8").split("\n;\n")]
    return [tuple(text.split("\n=>\n", 1)) for text in texts if text]


CASES = [pytest.param(file, *pair, id=f"{file}-{n}") for file in FILES for n, pair in enumerate(blocks(file), start=1)]


@pytest.mark.parametrize(("file", "block", "expected"), CASES)
def test_a_statement_returns_its_result(file, block, expected):
    assert outcome_of(file, block) == expected
    assert block.startswith("-- "), "each pair says what it is about"


def test_every_file_of_pairs_is_read():
    assert {path.stem for path in GOLDEN.glob("*.sql")} == set(FILES)
    assert len(CASES) >= 120
