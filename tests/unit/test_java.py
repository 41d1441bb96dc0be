"""Finding Java: JAVA_HOME, then the path, with an error that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from datasources.errors import EnvironmentProblem
from datasources.java import find_java


def make_java(folder: Path, answer: str, *, code: int = 0) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{answer}' >&2\nexit {code}\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("answer", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19 LTS', 21),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ('Picked up JAVA_TOOL_OPTIONS: -Dx=1\nopenjdk version "18.0.1" 2022-04-19', 18),
    ],
)
def test_the_feature_release_is_parsed_from_javas_output(tmp_path: Path, answer: str, major: int):
    program = make_java(tmp_path, answer)
    java = find_java({"JAVA_HOME": str(tmp_path)})
    assert (java.executable, java.major) == (program, major)


def test_without_java_home_the_path_decides(tmp_path: Path):
    program = make_java(tmp_path, 'openjdk version "17.0.1"')
    assert find_java({"PATH": str(program.parent)}).executable == program


def test_java_home_wins_over_the_path(tmp_path: Path):
    home = make_java(tmp_path / "home", 'openjdk version "21.0.1"')
    other = make_java(tmp_path / "other", 'openjdk version "17.0.1"')
    assert find_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": str(other.parent)}).executable == home


def test_a_java_that_is_too_old_is_named_with_its_version(tmp_path: Path):
    make_java(tmp_path, 'java version "1.8.0_401"')
    with pytest.raises(EnvironmentProblem, match=r"is Java 8, and at least 17 is needed: install a JDK 17"):
        find_java({"JAVA_HOME": str(tmp_path)})


def test_a_java_home_without_java_is_an_error_even_if_the_path_has_one(tmp_path: Path):
    other = make_java(tmp_path / "other", 'openjdk version "17.0.1"')
    with pytest.raises(EnvironmentProblem, match=r"JAVA_HOME is .*gone.* is no program: correct or unset JAVA_HOME"):
        find_java({"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(other.parent)})


def test_without_java_the_error_lists_the_searched_places(tmp_path: Path):
    with pytest.raises(EnvironmentProblem, match="JAVA_HOME is not set and no java is on the PATH"):
        find_java({"PATH": str(tmp_path)})


@pytest.mark.parametrize(("answer", "code"), [("The operation could not be completed", 0), ('version "17"', 1)])
def test_the_output_of_an_unusable_java_is_quoted(tmp_path: Path, answer: str, code: int):
    make_java(tmp_path, answer, code=code)
    with pytest.raises(EnvironmentProblem, match=f"ended with {code} and said '{answer}"):
        find_java({"JAVA_HOME": str(tmp_path)})


def test_a_java_that_cannot_be_executed_is_an_environment_problem(tmp_path: Path):
    make_java(tmp_path, "").write_text("no program")
    with pytest.raises(EnvironmentProblem, match="-version does not run"):
        find_java({"JAVA_HOME": str(tmp_path)})
