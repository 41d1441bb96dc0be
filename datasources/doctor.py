"""`tidemark doctor`: what Tidemark needs, what this machine has, and how to mend the difference.

Rules of this file: every check returns, none raises, and each works where what it looks for is missing. Versions are
held against the requirements that the installed distribution declares, so they are written down once.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from datasources.distribution import DISTRIBUTION, FOREIGN_DISTRIBUTION, WITH_SPARK
from datasources.errors import TidemarkError
from datasources.native import native

__all__ = ["Check", "Status", "check_broker", "check_findings", "examine", "has_problem", "render"]

_REINSTALL: Final = f"pip install --force-reinstall {DISTRIBUTION}"
_OWN_PACKAGES: Final = ("watermark", "datasources")
_SHOWN_PACKAGES: Final = (
    "pyspark",
    "confluent-kafka",
    "pymysql",
    "cryptography",
    "duckdb",
    "pyarrow",
    "numpy",
    "sqlglot",
    "pydantic",
)
_MINIMUM_PYTHON: Final = (3, 11)
_PANDAS_THAT_WARNS: Final = (3,)
_REQUIREMENT: Final = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*(?P<bounds>[^;]*)")
_BOUND: Final = re.compile(r"(>=|<)\s*([0-9.]+)")


class Status(Enum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What one check found."""

    name: str
    found: str
    status: Status = Status.OK
    fix: str = ""


def examine() -> list[Check]:
    """Run all checks that start no process and contact no server."""
    checks = [check_python(sys.version_info[:3]), check_java()]
    checks += [check_package(name, required_bounds(name)) for name in _SHOWN_PACKAGES]
    checks += [check_pandas(_version("pandas")), check_librdkafka(), check_native(is_loaded=native() is not None)]
    checks += [check_executor_python(os.environ)]
    checks += check_foreign_distribution()
    checks += [*(check_own_package(name) for name in _OWN_PACKAGES), check_cache()]
    return [*checks, *check_embedded_mysql()]


def has_problem(checks: Sequence[Check]) -> bool:
    """Return whether something must be mended."""
    return any(check.status is Status.PROBLEM for check in checks)


def render(checks: Sequence[Check]) -> Group:
    """Return the checks as a table, and below it what to do, in lines that can be copied."""
    styles = {Status.OK: "green", Status.WARNING: "yellow", Status.PROBLEM: "bold red"}
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "check", "found"):
        table.add_column(heading, overflow="fold")
    for check in checks:
        table.add_row(Text(check.status.value, style=styles[check.status]), Text(check.name), Text(check.found))
    fixes = [Text.assemble((f"{check.name}: ", styles[check.status]), check.fix) for check in checks if check.fix]
    return Group(table, *(fixes or [Text("Nothing is missing.", style="green")]))


def check_python(version: tuple[int, ...]) -> Check:
    """Check this interpreter's version."""
    is_old = version < _MINIMUM_PYTHON
    fix = "install Python 3.11 or newer and set up the environment with it" if is_old else ""
    return Check(name="Python", found=_dotted(version), status=_status(fix), fix=fix)


def check_java() -> Check:
    """Check that Spark and the embedded servers find a Java that is new enough."""
    from datasources.java import find_java

    try:
        java = find_java()
    except TidemarkError as error:
        return Check(name="Java", found="not usable", status=Status.PROBLEM, fix=error.message)
    return Check(name="Java", found=f"{java.major} ({java.executable})")


def check_package(name: str, bounds: Sequence[tuple[str, tuple[int, ...]]]) -> Check:
    """Check the version of an installed distribution against (``>=`` or ``<``, version) bounds."""
    wanted = ",".join(f"{sign}{_dotted(bound)}" for sign, bound in bounds)
    install = WITH_SPARK if name == "pyspark" else f"pip install '{name}{wanted}'"
    version = _version(name)
    if version is None:
        return Check(name=name, found="not installed", status=Status.PROBLEM, fix=install)
    numbers = _numbers(version)
    fits = all(numbers >= bound if sign == ">=" else numbers < bound for sign, bound in bounds)
    fix = "" if fits else f"{wanted} is needed: {install}"
    return Check(name=name, found=version, status=_status(fix), fix=fix)


def check_pandas(version: str | None) -> Check:
    """Warn of a pandas that makes PySpark print warnings; none at all is fine."""
    if version is None:
        return Check(name="pandas", found="not installed (only pandas functions need it)")
    if _numbers(version) < _PANDAS_THAT_WARNS:
        return Check(name="pandas", found=version)
    fix = "PySpark prints a warning at every import with pandas 3: pip install 'pandas<3'"
    return Check(name="pandas", found=version, status=Status.WARNING, fix=fix)


def check_librdkafka() -> Check:
    """Show the version of the C library inside confluent-kafka; it is there if that can be imported."""
    try:
        import confluent_kafka
    except ImportError as error:
        fix = f"confluent-kafka cannot be imported ({error}): pip install --force-reinstall confluent-kafka"
        return Check(name="librdkafka", found="not usable", status=Status.PROBLEM, fix=fix)
    return Check(name="librdkafka", found=str(confluent_kafka.libversion()[0]))


def check_native(*, is_loaded: bool) -> Check:
    """Show whether the C library was built, without which reading takes more CPU."""
    name = "C library"
    if is_loaded:
        return Check(name=name, found="built")
    fix = (
        "without it Kafka and MySQL are read and JSON is decoded by Python alone, which takes more CPU (JSON ten times "
        "as much): unset TIDEMARK_NATIVE; install a C compiler, then "
        f"pip install --force-reinstall --no-binary {DISTRIBUTION} {DISTRIBUTION}"
    )
    return Check(name=name, found="not built, or switched off", status=Status.WARNING, fix=fix)


def check_executor_python(environment: Mapping[str, str]) -> Check:
    """Check that Spark would run its Python workers and source processes with this interpreter."""
    name = "Python of executors"
    named = environment.get("PYSPARK_PYTHON", "")
    found = shutil.which(named or "python3", path=environment.get("PATH", os.defpath))
    if found is not None and _is_same_python(Path(found), Path(sys.executable)):
        return Check(name=name, found=found)
    where = f"PYSPARK_PYTHON={named}" if named else f"python3 on the PATH ({found or 'none'})"
    fix = f"sources run in that Python, not in this one: export PYSPARK_PYTHON={sys.executable}"
    return Check(name=name, found=where, status=Status.PROBLEM, fix=fix)


def check_own_package(name: str) -> Check:
    """Check that an import name of ours leads to us and is claimed by no other distribution."""
    label = f"import {name}"
    directory = package_directory(name)
    if directory is None:
        return Check(name=label, found="not found", status=Status.PROBLEM, fix=_REINSTALL)
    others = sorted(set(importlib.metadata.packages_distributions().get(name, ())) - {DISTRIBUTION})
    is_ours = directory.parent == Path(__file__).resolve().parent.parent
    if is_ours and not others:
        return Check(name=label, found=str(directory))
    taker = ", ".join(others) or "another package"
    found = f"{directory}, taken by {taker}" if not is_ours else f"{directory}, also installed by {taker}"
    fix = f"uninstall {taker}, then {_REINSTALL}; or install {DISTRIBUTION} into an environment of its own"
    return Check(name=label, found=found, status=Status.PROBLEM, fix=fix)


def check_foreign_distribution() -> list[Check]:
    """Warn where the distribution is installed that has the name of our command, and is another project's program."""
    version = _version(FOREIGN_DISTRIBUTION)
    if version is None:
        return []
    fix = (
        f"this distribution is another project's program with the same command; Tidemark for Spark is {DISTRIBUTION}: "
        f"pip uninstall {FOREIGN_DISTRIBUTION}, then {_REINSTALL}"
    )
    return [Check(name=f"distribution {FOREIGN_DISTRIBUTION}", found=version, status=Status.WARNING, fix=fix)]


def check_cache() -> Check:
    """Show whether the embedded Kafka was fetched, and whether it can be."""
    from datasources.embedded import KAFKA_VERSION
    from datasources.embedded.fetch.jars import is_complete
    from datasources.embedded.fetch.settings import CACHE_VARIABLE, cache_directory

    directory = cache_directory()
    name, directory = "embedded servers", directory / f"kafka-{KAFKA_VERSION}"
    if is_complete(directory):
        return Check(name=name, found=f"Kafka {KAFKA_VERSION} in {directory}")
    existing = next(parent for parent in (directory, *directory.parents) if parent.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        fix = f"set {CACHE_VARIABLE} to a directory that can be written"
        return Check(name=name, found=f"{directory} cannot be written", status=Status.PROBLEM, fix=fix)
    state = "is incomplete and will be fetched anew" if directory.exists() else "will be fetched at the first use"
    return Check(name=name, found=f"Kafka {KAFKA_VERSION} {state}, into {directory}")


def check_embedded_mysql() -> list[Check]:
    """Show which embedded MySQL servers were fetched, and what this machine lacks to run one."""
    from datasources.embedded import MySqlVersion
    from datasources.embedded.fetch.mysql_programs import check_machine
    from datasources.embedded.mysql.mysql_data import kept_release

    checks = []
    for version in MySqlVersion:
        name = f"embedded {version.title}"
        try:
            check_machine(version)
        except TidemarkError as error:
            checks.append(Check(name=name, found="cannot run", status=Status.WARNING, fix=error.message))
            continue
        release = kept_release(version)
        found = "will be fetched at the first use" if release is None else f"{release} is fetched"
        checks.append(Check(name=name, found=found))
    return checks


def check_broker(bootstrap_servers: str, require_answer: Callable[[str], None]) -> Check:
    """Check that a Kafka answers.

    With ``require_answer`` no answer is an error.
    """
    name = f"Kafka at {bootstrap_servers}"
    try:
        require_answer(bootstrap_servers)
    except TidemarkError as error:
        return Check(name=name, found="no answer", status=Status.PROBLEM, fix=error.message)
    return Check(name=name, found="answers")


def check_findings(findings: Iterable[tuple[str, str, str]]) -> list[Check]:
    """Return the checks of (name, what was found, how to fix it or nothing)."""
    return [Check(name=name, found=found, status=_status(fix), fix=fix) for name, found, fix in findings]


def package_directory(name: str) -> Path | None:
    """Return the directory that an import of a package would use, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        return None
    if spec.origin is not None:
        return Path(spec.origin).resolve().parent
    return next((Path(directory).resolve() for directory in spec.submodule_search_locations or ()), None)


def required_bounds(name: str) -> list[tuple[str, tuple[int, ...]]]:
    """Return the version bounds that the installed distribution declares for a dependency."""
    return [bound for requirement in _requirements() for bound in parse_bounds(requirement, name)]


def parse_bounds(requirement: str, name: str) -> list[tuple[str, tuple[int, ...]]]:
    """Return the bounds of a requirement such as ``pyspark<5,>=4.2; extra == 'spark'`` if it is about ``name``."""
    match = _REQUIREMENT.match(requirement)
    if match is None or match["name"].lower().replace("_", "-") != name:
        return []
    return sorted((sign, _numbers(bound)) for sign, bound in _BOUND.findall(match["bounds"]))


def _is_same_python(one: Path, other: Path) -> bool:
    """Compare two interpreters; those of two virtual environments may be links to one program and still differ."""
    return one.resolve() == other.resolve() and one.parent.resolve() == other.parent.resolve()


def _requirements() -> Iterator[str]:
    try:
        yield from importlib.metadata.requires(DISTRIBUTION) or ()
    except importlib.metadata.PackageNotFoundError:
        return  # run from a source tree: versions are shown and not checked


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+", 1)[0])[:3])


def _dotted(version: Sequence[int]) -> str:
    return ".".join(str(part) for part in version)


def _status(fix: str) -> Status:
    return Status.PROBLEM if fix else Status.OK
