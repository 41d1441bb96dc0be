"""The format `tidemark-mysql`."""

from __future__ import annotations

from typing import ClassVar

from datasources.mysql.source import MySqlSource
from datasources.source.api.connector import ScanSource
from datasources.spark.adapter.data_source import TidemarkDataSource


class MySqlDataSource(TidemarkDataSource):
    """MySQL for Spark: a snapshot of tables, then every change, with watermarks from the binlog."""

    connector: ClassVar[type[ScanSource]] = MySqlSource
