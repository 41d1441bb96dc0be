"""Files as Spark sees them, in any file system that it knows, by the driver's JVM. A client of Connect has none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from datasources.spark.boundary.connect import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SINK_LOG: Final = "_spark_metadata"
"""The directory in which a stream's file sink keeps what it has committed."""

_GLOB: Final = re.compile(r"[{}\[\]*?\\]")


@dataclass(frozen=True, slots=True)
class HadoopFiles:
    """Looks at files; the session is no client of Connect."""

    spark: SparkSession

    def qualified(self, path: str) -> str:
        """Return a path with its file system: equal texts for equal files."""
        system, found = self._open(path)
        return str(system.makeQualified(found).toString())

    def is_file(self, path: str) -> bool:
        """Tell whether a path is that of one file."""
        system, found = self._open(path)
        return bool(system.exists(found)) and bool(system.getFileStatus(found).isFile())

    def names(self, path: str) -> list[str] | None:
        """Return what is in a directory, without hidden files; None if it does not exist."""
        system, found = self._open(path)
        if not system.exists(found):
            return None
        names = (str(each.getPath().getName()) for each in system.listStatus(found))
        return sorted(name for name in names if not name.startswith("."))

    def _open(self, path: str) -> tuple[Any, Any]:
        jvm: Any = self.spark._jvm  # noqa: SLF001 - there is no other way to Hadoop's file systems
        found = jvm.org.apache.hadoop.fs.Path(path)
        settings = self.spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
        return found.getFileSystem(settings), found


def has_sink_log(spark: SparkSession, path: str) -> bool:
    """Tell whether a directory is read by the log of a stream; unknown to a client of Connect."""
    return not is_connect(spark) and HadoopFiles(spark).names(f"{path}/{SINK_LOG}") is not None


def path_of_stream(spark: SparkSession, path: str) -> str:
    """Return a path that a stream can read: Spark's takes directories and patterns, and one file as a pattern only."""
    if is_connect(spark) or _GLOB.search(path) is not None or not HadoopFiles(spark).is_file(path):
        return path
    head, slash, name = path.rpartition("/")
    return f"{head}{slash}[{name[0]}]{name[1:]}"
