"""Session settings that the stateful operators need."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Final

from datasources.errors import EnvironmentProblem, QueryError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PROVIDER: Final = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB: Final = "RocksDBStateStoreProvider"
_ROCKSDB_CLASS: Final = f"org.apache.spark.sql.execution.streaming.state.{_ROCKSDB}"
_CHANGELOG: Final = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
_NEEDED: Final = {"google.protobuf": "protobuf", "pandas": "pandas"}


def configure_state(spark: SparkSession) -> None:
    """Configure the session for Spark's transformWithState, which the operators use.

    Sets the RocksDB state store with changelog checkpointing, unless the session sets something else. Queries with a
    checkpoint keep the store they started with.

    Raises:
        QueryError: the session asks for another state store.
        EnvironmentProblem: a package that PySpark needs for it is missing.
    """
    for module, package in _NEEDED.items():
        if not _is_there(module):
            raise EnvironmentProblem(
                f"this operator runs on Spark's transformWithState, which needs the package '{package}': "
                f"pip install '{package}' where the driver and the executors run."
            )
    provider = spark.conf.get(_PROVIDER, None)
    if provider is None:
        spark.conf.set(_PROVIDER, _ROCKSDB_CLASS)
    elif not str(provider).endswith(_ROCKSDB):
        raise QueryError(
            f"{_PROVIDER} is '{provider}', but Spark's transformWithState works with RocksDB only. Remove the setting, "
            f"or set it to '{_ROCKSDB_CLASS}'."
        )
    if spark.conf.get(_CHANGELOG, None) is None:
        spark.conf.set(_CHANGELOG, "true")


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a package above it is missing
        return False
