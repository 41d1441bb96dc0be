"""The distribution is `tidemark-spark` everywhere: `pip install tidemark` would install another project's program."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib

import pytest

from datasources.distribution import DISTRIBUTION, installed_version
from tests.support.project import ROOT

KINDS = {".py", ".md", ".toml", ".yaml", ".yml", ".txt", ""}
SEARCHED = (
    "README.md",
    "CHANGELOG.md",
    "Makefile",
    "pyproject.toml",
    "datasources",
    "watermark",
    "docs",
    "docker",
    "examples",
    "benchmarks",
    ".ci",
    ".github",
    "SECURITY.md",
    "release",
)
TEXTS = sorted(
    path
    for searched_path in SEARCHED
    for path in ([ROOT / searched_path] if (ROOT / searched_path).is_file() else (ROOT / searched_path).rglob("*"))
    if path.is_file() and path.suffix in KINDS
)
# An installation by the short name: `pip install ... tidemark`, `install tidemark into`, `'tidemark[spark]'`.
SHORT_NAME = re.compile(r"\binstall\b[^\n;`]*?(?<![-\w/.])tidemark(?![-\w.])|(?<![-\w])tidemark\[[a-z]+")


@pytest.mark.parametrize(
    "text", ["pip install tidemark", "pip install 'tidemark[spark]'", "install tidemark into", "`tidemark[observe]`"]
)
def test_the_pattern_finds_installations_by_the_short_name(text):
    assert SHORT_NAME.search(text)


@pytest.mark.parametrize(
    "text", ["pip install 'tidemark-spark[spark]'", "install it; `tidemark doctor`", "run tidemark sql"]
)
def test_the_pattern_leaves_the_right_name_and_the_command(text):
    assert not SHORT_NAME.search(text)


def test_nothing_proposes_to_install_the_other_projects_distribution():
    uninstall = "pip uninstall -qq --yes tidemark"  # the Makefile removes what older environments were called
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in TEXTS
        for line in path.read_text(errors="replace").splitlines()
        if SHORT_NAME.search(line) and uninstall not in line
    ]
    assert len(TEXTS) > 300
    assert not found


def test_the_project_is_installed_by_its_name_with_its_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == DISTRIBUTION == "tidemark-spark"
    assert installed_version() == project["version"]


def test_the_command_stays():
    commands = {entry.name: entry.value for entry in importlib.metadata.distribution(DISTRIBUTION).entry_points}
    assert commands == {"tidemark": "datasources.cli:main"}
