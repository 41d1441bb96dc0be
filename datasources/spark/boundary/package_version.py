"""The version check between a driver and its workers: they exchange pickled objects, whose classes must be the same.

A `PackageVersion` is the first field of what travels to workers. It is pickled as the driver's version, and a worker
that has another one fails as it reads it, before it reads a class that may have changed.
"""

from __future__ import annotations

from functools import cache

from datasources.distribution import DISTRIBUTION, installed_version
from datasources.errors import EnvironmentProblem

_UNKNOWN = "unknown"


class PackageVersion:
    """The version of the process that pickles it, compared by the process that unpickles it."""

    def __reduce__(self) -> tuple[object, ...]:
        return same_version, (_own_version(),)


def same_version(version: str) -> PackageVersion:
    """Return a `PackageVersion` if this process has the same version; unknown ones, of a zip, are not compared.

    Raises:
        EnvironmentProblem: it has another one.
    """
    own = _own_version()
    if _UNKNOWN not in (own, version) and own != version:
        raise EnvironmentProblem(
            f"the driver has {DISTRIBUTION} {version} and this worker {own}: install the driver's version on every "
            f"node, in the Python that PYSPARK_PYTHON names: pip install '{DISTRIBUTION}=={version}'"
        )
    return PackageVersion()


@cache
def _own_version() -> str:
    return installed_version()
