"""A PySpark that is too old, or lacks a package, is one sentence with the command that helps."""

from __future__ import annotations

import pytest

from datasources.errors import EnvironmentProblem
from datasources.requirements import require_pyspark

COMMAND = "pip install 'tidemark-spark[spark]'"


@pytest.mark.parametrize("version", ["4.0.0", "4.0.1", "4.1.0", "4.1.2", "3.5.6", "4.1.0.dev1"])
def test_an_old_pyspark_is_refused_by_its_version(version):
    with pytest.raises(EnvironmentProblem) as raised:
        require_pyspark(version=lambda: version, is_there=lambda _: True)
    assert raised.value.message == f"PySpark {version} is too old, Tidemark needs 4.2 or newer: {COMMAND}"


@pytest.mark.parametrize("version", ["4.2.0", "4.3.0", "4.10.1", "5.0.0.dev1"])
def test_a_new_one_is_taken(version):
    require_pyspark(version=lambda: version, is_there=lambda _: True)


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        ("pyspark", "PySpark is missing"),
        ("py4j", "The package py4j, which PySpark needs, is missing"),
    ],
)
def test_a_missing_package_is_named(module, sentence):
    with pytest.raises(EnvironmentProblem) as raised:
        require_pyspark(version=lambda: "4.3.0", is_there=lambda name: name != module)
    assert raised.value.message == f"{sentence}: {COMMAND}"


def test_what_is_installed_here_will_do():
    require_pyspark()
