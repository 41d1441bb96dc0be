"""The format `tidemark-mysql`."""

from __future__ import annotations

from typing import ClassVar

from datasources.mysql.source import MySqlSource
from datasources.source.api.connector import ScanSource
from datasources.spark.adapter.data_source import TidemarkDataSource

__all__ = ["MySqlDataSource"]


class MySqlDataSource(TidemarkDataSource):
    """MySQL for Spark: tables as they are, then every change of them, with watermarks made from the binlog."""

    connector: ClassVar[type[ScanSource]] = MySqlSource
