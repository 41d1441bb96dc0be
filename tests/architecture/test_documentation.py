"""The documentation names everything that users meet: each page, each error, each name of the API."""

from __future__ import annotations

import ast
import re

import pytest
import yaml

import datasources
from datasources import errors
from tests.support.project import ROOT

DOCS = ROOT / "docs"
CLASSES = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, errors.TidemarkError) and each is not errors.TidemarkError
]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def pages_of(nav):
    for each in nav:
        if isinstance(each, str):
            yield each
        else:
            for below in each.values():
                yield from pages_of(below if isinstance(below, list) else [below])


def test_every_page_is_in_the_navigation_once():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = sorted(page for page in pages_of(yaml.safe_load(text)["nav"]) if not page.startswith("project/"))
    assert named == sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_has_a_section_with_its_code_and_class(kind):
    _, _, section = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8").partition(f"## {kind.code}\n")
    assert kind.__name__ in section.partition("\n## ")[0]


def test_the_page_of_the_api_has_every_public_name():
    text = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    others = {"TableEnvironment", "StatementResult", "arrow_function"}
    formats = {name for name in datasources.__all__ if name.endswith("DataSource")}  # options name them
    assert set(re.findall(r"^::: .*\.(\w+)$", text, re.MULTILINE)) == (set(datasources.__all__) | others) - formats


def test_a_tick_of_the_readme_names_a_test():
    _, _, section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Where it runs\n")
    rows = [line.split("|") for line in section.partition("\n## ")[0].splitlines() if "✓" in line]
    assert len(rows) == 4
    for _, _, tick, test, _ in rows:
        assert tick.strip() == "✓"
        assert "def test_" in (ROOT / test.strip(" `")).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: str(path.relative_to(DOCS)))
def test_code_in_python_is_python(path):
    for block in BLOCK.findall(path.read_text(encoding="utf-8")):
        text = block if not block.startswith('"') else f"{{{block}}}"  # options of a mapping
        ast.parse(text)
