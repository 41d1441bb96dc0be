"""Where the tests of a part of the product are: `tests/<kind>/<package>/` mirrors `datasources/<package>/`.

A file of `tests/unit` begins with the name of a module of its package (`kafka/reader/test_fetcher_files.py`), or with that
of the package where it tests all of it. Property and integration tests stand in the folder of the package whose rule they
check; what needs the whole product stands directly in `tests/integration`. `watermark` is a package beside the others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.support.project import ROOT

KINDS: Final = ("unit", "property", "integration")
ALIASES: Final = {"operators": "spark/operators", "page": "observe"}
"""Areas whose usual name is not their folder's."""
TOP_LEVEL: Final = "cli"
"""The area of the modules directly below `datasources`: command line, options, errors."""


def package_folder(package: str) -> Path:
    """Return the folder of the product whose tests stand in `tests/<kind>/<package>`."""
    return ROOT / package if package.partition("/")[0] == "watermark" else ROOT / "datasources" / package


def areas() -> list[str]:
    """Return the names that `make test AREA=...` takes; folders within them are areas too (`mysql/binlog`)."""
    folders = {
        path.name for kind in KINDS for path in (ROOT / "tests" / kind).iterdir() if any(path.rglob("test_*.py"))
    }
    return sorted({*folders, *ALIASES, TOP_LEVEL})


def files_of_area(area: str) -> list[Path]:
    """Return the test files of an area; none = there is no such area."""
    if area == TOP_LEVEL:
        return sorted((ROOT / "tests" / "unit").glob("test_*.py"))
    folder = ALIASES.get(area, area)
    return sorted(file for kind in KINDS for file in (ROOT / "tests" / kind / folder).rglob("test_*.py"))


def files_of_module(module: Path) -> list[Path]:
    """Return the tests of a module: those with its name, else those of its package, else of the package around it."""
    package, name = module.parent, module.stem
    while package != ROOT:
        in_product = package.relative_to(ROOT).parts
        folder = Path(*(in_product if in_product[0] == "watermark" else in_product[1:]))
        if named := [f for f in (ROOT / "tests" / "unit" / folder).glob("test_*.py") if names_module(f, name)]:
            return sorted(named)
        found = sorted(f for kind in KINDS for f in (ROOT / "tests" / kind / folder).glob("test_*.py"))
        if found:
            return found
        package, name = package.parent, package.name
    return []


def names_module(test: Path, module: str) -> bool:
    """Whether the name of a test file begins with a module's."""
    subject = test.stem.removeprefix("test_")
    return subject == module or subject.startswith(f"{module}_")
