"""What a session needs beside Tidemark itself: a PySpark that is new enough and starts fast, and what it needs."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from datasources.distribution import WITH_SPARK
from datasources.errors import EnvironmentProblem

_OLDEST: Final = (4, 2)
_JAVA_GATEWAY: Final = "py4j"
"""What PySpark with sessions of its own needs. Operators that need protobuf ask for it themselves."""
_WITH_SESSIONS: Final = "pyspark.core"
"""What a client of Spark Connect (`pyspark-client`) lacks."""


_ARCHIVE: Final = "/pyspark/python/lib/pyspark.zip"


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _installed() -> str:
    import pyspark

    return str(pyspark.__version__)


def require_pyspark(*, version: Callable[[], str] = _installed, is_there: Callable[[str], bool] = _is_there) -> None:
    """Raise unless PySpark and what its sources need are installed, in versions that work.

    Raises:
        EnvironmentProblem: one sentence with the command that installs the missing packages.
    """
    if not is_there("pyspark"):
        raise EnvironmentProblem(f"PySpark is missing: {WITH_SPARK}")
    found = version()
    numbers = tuple(map(int, re.findall(r"\d+", found)[:2]))
    if numbers < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise EnvironmentProblem(f"PySpark {found} is too old, Tidemark needs {oldest} or newer: {WITH_SPARK}")
    if is_there(_WITH_SESSIONS) and not is_there(_JAVA_GATEWAY):
        raise EnvironmentProblem(f"The package {_JAVA_GATEWAY}, which PySpark needs, is missing: {WITH_SPARK}")


def prefer_installed_pyspark() -> None:
    """Let this process import the PySpark that is installed, and not the archive of it that Spark puts before it.

    Spark puts `SPARK_HOME/python/lib/pyspark.zip` first on the path of the Python processes that it starts. Python
    keeps no bytecode of an archive, so each of them would compile PySpark anew. An archive that lies in the installed
    package has the same version: it and those beside it move to the end of the path. Other archives stay in front.

    Python calls it as it starts, by way of `tidemark-spark.pth`.
    """
    for entry in sys.path:
        archives = Path(entry).parent
        package = archives.parent.parent
        if entry.endswith(_ARCHIVE) and (package / "__init__.py").is_file() and str(package.parent) in sys.path:
            sys.path.sort(key=lambda other: Path(other).parent == archives)
            return
