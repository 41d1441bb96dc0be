"""The package as executors have it: built, and installed in an interpreter of its own, far from the project's directory.

The interpreter is a virtual environment that sees the packages of the running one through a `.pth` file. A `.pth` file
adds directories to the path but does not obey the `.pth` files in them, so an editable installation of the project
stays out of sight: what `import datasources` finds is the wheel. Nothing but the wheel is copied.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import venv
from pathlib import Path

from datasources.errors import EnvironmentProblem
from tests.support.project import ROOT

__all__ = ["install_project"]

_DEADLINE_S = 400


def install_project(directory: Path) -> Path:
    """Build the project's wheel and install it; return the interpreter that has it.

    Raises:
        EnvironmentProblem: The wheel cannot be built here, for want of its build tool.
    """
    venv.create(directory / "venv", with_pip=False, symlinks=True)
    python = directory / "venv" / "bin" / "python"
    packages = next((directory / "venv" / "lib").glob("python3*")) / "site-packages"
    (packages / "of-the-running-environment.pth").write_text(f"{_pyspark().parent}\n")
    _pip("wheel", "--no-deps", "--wheel-dir", str(directory), *_isolation(), str(ROOT))
    wheel = next(directory.glob("*.whl"))
    _pip("install", "--no-deps", "--no-index", "--target", str(packages), str(wheel))
    return python


def _pyspark() -> Path:
    found = importlib.util.find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def _isolation() -> list[str]:
    """Without the build tool in this environment pip fetches it into one of its own."""
    return [] if importlib.util.find_spec("hatchling") is None else ["--no-build-isolation"]


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_DEADLINE_S, check=False)
    if done.returncode:
        raise EnvironmentProblem(f"pip {arguments[0]} failed: {done.stderr.strip()[-500:]}")
