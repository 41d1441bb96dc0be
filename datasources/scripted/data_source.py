"""The format `tidemark-scripted`."""

from __future__ import annotations

from typing import ClassVar

from datasources.scripted.source import ScriptedSource
from datasources.source.api.connector import ScanSource
from datasources.spark.adapter.data_source import TidemarkDataSource


class ScriptedDataSource(TidemarkDataSource):
    """Scripts for Spark: JSON-lines files as splits."""

    connector: ClassVar[type[ScanSource]] = ScriptedSource
