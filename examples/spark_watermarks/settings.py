"""The session's settings under which the claims run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["SETTINGS"]

SETTINGS: Final[Mapping[str, str]] = {
    "spark.sql.shuffle.partitions": "1",
    # For a handful of rows compiling costs more than running.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
}
"""They make small queries fast. None of them affects watermarks: those have Spark's defaults."""
