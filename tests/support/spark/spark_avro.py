"""Spark's own Avro, for tests and benchmarks: its jar is no part of PySpark, and has to be there when a JVM starts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from datasources.embedded.fetch.ivy import Artifact
from datasources.embedded.fetch.jars import JarBundle, JarCache

__all__ = ["spark_avro_jars"]

_NAME: Final = "spark-avro_2.13"
_VERSION: Final = "4.2.0"  # the newest that a repository has; Spark 4.3 runs it
_JARS: Final = JarBundle(
    title=f"{_NAME} {_VERSION}",
    directory_name=f"peer-{_NAME}-{_VERSION}",
    size_mb=1,
    artifacts=(Artifact(organisation="org.apache.spark", name=_NAME, revision=_VERSION),),
    instead="What compares formats with Spark's own needs it.",
)


def spark_avro_jars() -> list[Path]:
    """Return the jars of `from_avro` but for those that PySpark has.

    Raises:
        EnvironmentProblem: they cannot be fetched.
    """
    found = JarCache().provide(_JARS)
    return [*found.glob(f"*{_NAME}.jar"), *found.glob("*xz.jar")]
