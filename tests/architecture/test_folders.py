"""Folders: small, without circles of any kind, and each says what happens in it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.project import ROOT

MAX_MODULES = 15
TREES = ("datasources", "watermark", "tests", "benchmarks", "examples")


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for top in ("datasources", "watermark") for path in sorted((ROOT / top).rglob("*.py"))}
PACKAGES = sorted({name for name, path in MODULES.items() if path.name == "__init__.py"})


def imported(path: Path) -> Iterator[str]:
    """Every import of a module of ours: at the top, inside functions, and for type checkers only."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name for name in inner if name in MODULES)
            if node.module in MODULES and not all(name in MODULES for name in inner):
                yield node.module


IMPORTS = {name: {other for other in imported(path) if other != name} for name, path in MODULES.items()}


def circle_in(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_through_others():
    assert circle_in(IMPORTS) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_circle_between_the_members_of_a_package(package):
    depth = len(package.split("."))

    def member(name: str) -> str:
        return ".".join(name.split(".")[: depth + 1])

    graph: dict[str, set[str]] = {}
    for name, others in IMPORTS.items():
        if name.startswith(f"{package}."):
            inside = {member(other) for other in others if other.startswith(f"{package}.")}
            graph.setdefault(member(name), set()).update(inside - {member(name)})
    assert circle_in(graph) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_folder_has_more_modules_than_fit_on_a_page(package):
    modules = [path.name for path in MODULES[package].parent.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MAX_MODULES, modules


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_describes_itself(package):
    assert ast.get_docstring(ast.parse(MODULES[package].read_text(encoding="utf-8")))


def files_named_in(text: str) -> set[str]:
    return {match[1] for match in re.finditer(r"`((?:\w+/)*\w+\.(?:py|c))`", text)}


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_files_that_the_documentation_names_exist(page):
    known = {"/" + str(path.relative_to(ROOT)) for top in TREES for path in (ROOT / top).rglob("*.[pc]*")}
    missing = [n for n in files_named_in(page.read_text("utf-8")) if not any(k.endswith("/" + n) for k in known)]
    assert missing == []


def test_a_circle_through_a_function_is_seen(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("def f():\n    from datasources.errors import TidemarkError\n", encoding="utf-8")
    assert list(imported(path)) == ["datasources.errors"]


def test_test_files_have_names_of_their_own():
    """Tests are no packages: two files of one name cannot be collected in one run."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(name for name, count in Counter(names).items() if count > 1) == []
