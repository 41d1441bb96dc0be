"""What Spark's analyser throws: PySpark's errors, and those of the JVM for which PySpark has no class.

Those are Spark's internal errors and types of an invalid precision. Py4J brings them from a JVM beside Python;
pyspark-client has no Py4J.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from pyspark.errors import PySparkException

if TYPE_CHECKING or find_spec("py4j") is not None:
    from py4j.protocol import Py4JJavaError

    REFUSALS: Final[tuple[type[Exception], ...]] = (PySparkException, Py4JJavaError)
else:
    REFUSALS: Final = (PySparkException,)


def message_of(refusal: Exception) -> str:
    """Return the message of an error of `REFUSALS`, with what Spark writes behind its sentence."""
    java = getattr(refusal, "java_exception", None)
    return str(refusal) if java is None else str(java.getMessage())
