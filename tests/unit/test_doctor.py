"""The checks of `tidemark doctor`."""

from __future__ import annotations

import importlib.metadata
import io
import sys
from pathlib import Path

import pytest
from rich.console import Console

from datasources import doctor
from datasources.demo.spark import spark_probe
from datasources.doctor import Check, Status
from datasources.embedded import KAFKA_VERSION
from datasources.embedded.fetch import mysql_programs
from datasources.errors import SourceUnavailable


def _shown(checks):
    console = Console(file=io.StringIO(), width=120)
    console.print(doctor.render(checks))
    return console.file.getvalue()


def test_this_environment_has_no_problem_once_executors_use_its_python(monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    checks = doctor.examine()
    assert [check for check in checks if check.status is Status.PROBLEM] == []
    assert {"Python", "Java", "pyspark", "librdkafka", "import watermark", "embedded servers"} <= {
        check.name for check in checks
    }


def test_a_c_library_that_is_not_there_is_a_warning_with_the_way_to_it():
    assert doctor.check_native(is_loaded=True).status is Status.OK
    check = doctor.check_native(is_loaded=False)
    assert check.status is Status.WARNING
    assert "C compiler" in check.fix


@pytest.mark.parametrize(("version", "status"), [((3, 10, 9), Status.PROBLEM), ((3, 11, 0), Status.OK)])
def test_python_must_be_new_enough(version, status):
    assert doctor.check_python(version).status is status


def test_a_missing_java_names_how_to_install_one(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    check = doctor.check_java()
    assert check.status is Status.PROBLEM
    assert "openjdk" in check.fix


@pytest.mark.parametrize(
    ("requirement", "bounds"),
    [
        ("pyspark<5,>=4.2; extra == 'spark'", [("<", (5,)), (">=", (4, 2))]),
        ("PySpark (>=4.2)", [(">=", (4, 2))]),
        ("pyspark-client>=4", []),
        ("pyspark", []),
    ],
)
def test_bounds_are_read_from_requirements(requirement, bounds):
    assert doctor.parse_bounds(requirement, "pyspark") == bounds


def test_the_bounds_of_pyspark_come_from_the_distribution():
    assert (">=", (4, 2)) in doctor.required_bounds("pyspark")


@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("4.1.9", Status.PROBLEM),
        ("4.2.0", Status.OK),
        ("4.3.0.dev1", Status.OK),
        ("5.0.0", Status.PROBLEM),
        (None, Status.PROBLEM),
    ],
)
def test_a_package_must_lie_within_its_bounds(monkeypatch, version, status):
    monkeypatch.setattr(doctor, "_version", lambda _name: version)
    check = doctor.check_package("pyspark", [("<", (5,)), (">=", (4, 2))])
    assert check.status is status
    assert ("pip install 'tidemark-spark[spark]'" in check.fix) is (status is Status.PROBLEM)


@pytest.mark.parametrize(("version", "status"), [(None, Status.OK), ("2.3.3", Status.OK), ("3.0.0rc1", Status.WARNING)])
def test_pandas_3_is_a_warning_and_no_problem(version, status):
    check = doctor.check_pandas(version)
    assert check.status is status
    assert not doctor.has_problem([check])


def _python(directory: Path, target: Path) -> Path:
    directory.mkdir(parents=True)
    link = directory / "python3"
    link.symlink_to(target)
    return link


def test_executors_use_this_python_if_it_is_named_or_first_on_the_path(monkeypatch, tmp_path):
    own = _python(tmp_path / "own", Path(sys.executable).resolve())
    monkeypatch.setattr(sys, "executable", str(own))
    for environment in (
        {"PYSPARK_PYTHON": str(own)},
        {"PATH": str(own.parent)},
        {"PYSPARK_PYTHON": "python3", "PATH": str(own.parent)},
    ):
        assert doctor.check_executor_python(environment).status is Status.OK


def test_the_python_of_another_environment_is_a_problem_even_if_it_is_the_same_program(monkeypatch, tmp_path):
    program = Path(sys.executable).resolve()
    own, other = _python(tmp_path / "own", program), _python(tmp_path / "other", program)
    monkeypatch.setattr(sys, "executable", str(own))
    for environment in ({"PYSPARK_PYTHON": str(other)}, {"PATH": str(other.parent)}, {"PATH": str(tmp_path)}):
        check = doctor.check_executor_python(environment)
        assert check.status is Status.PROBLEM
        assert f"export PYSPARK_PYTHON={own}" in check.fix


def test_an_import_name_that_leads_elsewhere_is_a_problem(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "package_directory", lambda _name: tmp_path / "watermark")
    monkeypatch.setattr(importlib.metadata, "packages_distributions", lambda: {"watermark": ["watermark"]})
    check = doctor.check_own_package("watermark")
    assert check.status is Status.PROBLEM
    assert "taken by watermark" in check.found
    assert "uninstall watermark" in check.fix


def test_an_import_name_that_two_distributions_claim_is_a_problem(monkeypatch):
    monkeypatch.setattr(
        importlib.metadata, "packages_distributions", lambda: {"watermark": ["tidemark-spark", "watermark"]}
    )
    check = doctor.check_own_package("watermark")
    assert check.status is Status.PROBLEM
    assert "also installed by watermark" in check.found


@pytest.mark.parametrize(("version", "statuses"), [(None, []), ("0.4.2", [Status.WARNING])])
def test_the_distribution_of_another_project_with_our_commands_name_is_a_warning(monkeypatch, version, statuses):
    monkeypatch.setattr(doctor, "_version", {"tidemark": version}.get)
    checks = doctor.check_foreign_distribution()
    assert [check.status for check in checks] == statuses
    assert all("pip uninstall tidemark, then pip install --force-reinstall tidemark-spark" in c.fix for c in checks)


def test_a_package_of_ours_that_is_not_there_is_a_problem(monkeypatch):
    monkeypatch.setattr(doctor, "package_directory", lambda _name: None)
    assert doctor.check_own_package("watermark").status is Status.PROBLEM


def test_packages_are_found_without_importing_them():
    assert doctor.package_directory("datasources") == Path(doctor.__file__).resolve().parent
    assert doctor.package_directory("no_such_package_anywhere") is None


def test_an_empty_or_incomplete_cache_is_reported_as_no_problem(monkeypatch, tmp_path):
    monkeypatch.setenv("TIDEMARK_CACHE", str(tmp_path / "cache"))
    assert "will be fetched at the first use" in doctor.check_cache().found
    (tmp_path / "cache" / f"kafka-{KAFKA_VERSION}").mkdir(parents=True)
    check = doctor.check_cache()
    assert (check.status, "is incomplete" in check.found) == (Status.OK, True)


def test_a_cache_that_cannot_be_written_is_a_problem(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("TIDEMARK_CACHE", str(tmp_path / "file" / "cache"))
    check = doctor.check_cache()
    assert check.status is Status.PROBLEM
    assert "TIDEMARK_CACHE" in check.fix


def test_embedded_mysql_servers_that_were_not_fetched_will_be(monkeypatch, tmp_path):
    monkeypatch.setenv("TIDEMARK_CACHE", str(tmp_path))
    monkeypatch.setattr(mysql_programs, "check_machine", lambda _version: None)
    checks = doctor.check_embedded_mysql()
    assert [check.name for check in checks] == [
        "embedded MySQL 9 LTS",
        "embedded MySQL 8.0.31",
        "embedded MariaDB 11.4.5",
    ]
    assert {(check.found, check.status) for check in checks} == {("will be fetched at the first use", Status.OK)}


def test_an_embedded_mysql_that_cannot_run_here_is_a_warning_with_the_way_out(monkeypatch):
    monkeypatch.setattr(mysql_programs, "_LIBRARIES", {"libaio.so.1": ("libno-such-aio.so.1",)})
    [check] = [check for check in doctor.check_embedded_mysql() if "8.0" in check.name]
    assert (check.found, check.status) == ("cannot run", Status.WARNING)
    assert "libaio" in check.fix or "Linux on x86_64 only" in check.fix


def test_a_broker_that_does_not_answer_is_a_problem_with_its_reason():
    def refuse(_servers):
        raise SourceUnavailable("nobody listens")

    check = doctor.check_broker("somewhere:9092", refuse)
    assert (check.status, check.fix) == (Status.PROBLEM, "nobody listens")


def test_a_broker_that_answers_is_fine():
    assert doctor.check_broker("somewhere:9092", lambda _servers: None).status is Status.OK


def test_what_a_task_on_spark_found_becomes_checks():
    checks = doctor.check_findings([("Spark job", "ran", ""), ("import", "none", "install")])
    assert [(check.name, check.status) for check in checks] == [("Spark job", Status.OK), ("import", Status.PROBLEM)]


def test_the_task_is_checked_by_its_python_and_its_imports():
    root = Path(doctor.__file__).resolve().parents[1]
    origins = {"watermark": str(root / "watermark" / "__init__.py"), "datasources": "ImportError: none"}
    found = {name: bool(fix) for name, _, fix in spark_probe._check_task("/another/python", origins)}
    assert found == {
        "Python of the task": True,
        "import watermark in the task": False,
        "import datasources in the task": True,
    }


def test_the_task_looks_without_our_packages():
    executable, origins = spark_probe._task()(("json", "no_such_package_anywhere"))
    assert executable == sys.executable
    assert origins["json"].endswith("__init__.py")
    assert origins["no_such_package_anywhere"].startswith("ImportError")


def test_the_table_ends_with_what_to_do():
    shown = _shown(
        [Check(name="Java", found="[none]", status=Status.PROBLEM, fix="install [one]"), Check(name="x", found="1")]
    )
    assert "[none]" in shown
    assert "Java: install [one]" in shown
    assert "Nothing is missing" not in shown


def test_the_table_reports_that_nothing_is_missing():
    assert "Nothing is missing." in _shown([Check(name="Java", found="17")])
