"""A PySpark that is too old, or lacks a package, is one sentence with the command that helps; its archive comes last."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from datasources.errors import EnvironmentProblem
from datasources.requirements import prefer_installed_pyspark, require_pyspark

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


def test_a_client_of_spark_connect_needs_no_gateway_to_java():
    require_pyspark(version=lambda: "4.2.0", is_there=lambda name: name not in {"pyspark.core", "py4j"})


def test_what_is_installed_here_will_do():
    require_pyspark()


@pytest.fixture
def package(tmp_path):
    package = tmp_path / "site-packages" / "pyspark"
    (package / "python" / "lib").mkdir(parents=True)
    (package / "__init__.py").touch()
    return package


def path_with(monkeypatch, *entries):
    monkeypatch.setattr(sys, "path", list(map(str, entries)))
    prefer_installed_pyspark()
    return sys.path


def test_the_archives_of_an_installed_pyspark_come_behind_it(package, monkeypatch):
    archives = [package / "python" / "lib" / name for name in ("pyspark.zip", "py4j-0.10.9.9-src.zip")]
    found = path_with(monkeypatch, *archives, "/job", package.parent, "/last")
    assert found == ["/job", str(package.parent), "/last", *map(str, archives)]


def test_the_archive_of_another_spark_stays_in_front(package, monkeypatch):
    other = "/opt/spark/python/lib/pyspark.zip"
    assert path_with(monkeypatch, other, package.parent) == [other, str(package.parent)]


def test_an_archive_whose_package_python_does_not_find_stays_in_front(package, monkeypatch):
    archive = package / "python" / "lib" / "pyspark.zip"
    assert path_with(monkeypatch, archive, "/elsewhere") == [str(archive), "/elsewhere"]
    (package / "__init__.py").unlink()
    assert path_with(monkeypatch, archive, package.parent) == [str(archive), str(package.parent)]


def test_a_process_of_spark_imports_the_installed_pyspark():
    archive = Path(pyspark.__file__).parent / "python" / "lib" / "pyspark.zip"
    assert archive.is_file()
    program = "import pyspark, sys; print(pyspark.__file__); print(sys.path[-1])"
    environment = {**os.environ, "PYTHONPATH": str(archive)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == ""
    assert done.stdout.split() == [pyspark.__file__, str(archive)]
