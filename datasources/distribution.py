"""The name under which Tidemark is installed, which is neither its import names nor its command.

The distribution ``tidemark`` on PyPI belongs to another project.
"""

from __future__ import annotations

import importlib.metadata
from typing import Final

DISTRIBUTION: Final = "tidemark-spark"
FOREIGN_DISTRIBUTION: Final = "tidemark"
WITH_SPARK: Final = f"pip install '{DISTRIBUTION}[spark]'"
WITH_OBSERVE: Final = f"pip install '{DISTRIBUTION}[observe]'"


def installed_version() -> str:
    """Return the version that is installed; ``unknown`` where the packages run without one, from a zip for example."""
    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
