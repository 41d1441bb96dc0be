"""A SPARK_HOME of a test's own: executors of a local cluster get directories below it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Final

_ARCHIVES: Final = "python"


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
