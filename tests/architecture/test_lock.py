"""The versions that `make setup` installs are those that pyproject.toml allows, each known by its digests."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support.project import ROOT

LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def wanted() -> list[Requirement]:
    extras = PROJECT["optional-dependencies"]
    return [Requirement(text) for text in (*PROJECT["dependencies"], *extras["spark"], *extras["dev"])]


def locked() -> dict[str, list[Version]]:
    found: dict[str, list[Version]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", LOCK, re.MULTILINE):
        found.setdefault(canonicalize_name(name), []).append(Version(version))
    return found


@pytest.mark.parametrize("requirement", wanted(), ids=str)
def test_every_locked_version_is_one_that_the_project_allows(requirement):
    versions = locked()[canonicalize_name(requirement.name)]
    assert [version for version in versions if version not in requirement.specifier] == []


def test_every_locked_file_is_known_by_its_digest():
    entries = re.split(r"^(?=[A-Za-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) > 30
    assert [entry.partition(" ")[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_the_lock_names_no_place_from_which_it_was_made():
    assert re.findall(r"https?://|--(?:extra-)?index-url|--find-links|@ file", LOCK) == []
