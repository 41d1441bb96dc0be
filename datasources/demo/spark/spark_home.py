"""A SPARK_HOME whose Python processes import the PySpark that is installed, and not the archive that comes with it.

Spark puts `SPARK_HOME/python/lib/pyspark.zip` first on the path of the Python processes that it starts.
Python keeps no bytecode for what it reads from an archive, so each of them compiles PySpark anew: a third of the time
that the process of a source takes to start. Where there is no archive, the installed package is found.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_VARIABLE: Final = "SPARK_HOME"
_ARCHIVES: Final = "python"


@contextmanager
def installed_pyspark(directory: Path) -> Iterator[None]:
    """Let sessions started in the block do without the archive, unless SPARK_HOME is set by the user.

    Args:
        directory: does not exist; it must stay as long as the session.
    """
    if _VARIABLE in os.environ:
        yield
        return
    os.environ[_VARIABLE] = str(link_spark_home(directory))
    try:
        yield
    finally:
        del os.environ[_VARIABLE]


def link_spark_home(directory: Path) -> Path:
    """Make a directory of links to PySpark's own one, but for the archives."""
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("pyspark")
    directory.mkdir(parents=True)
    for entry in Path(found.origin).parent.iterdir():
        if entry.name != _ARCHIVES:
            (directory / entry.name).symlink_to(entry)
    return directory
