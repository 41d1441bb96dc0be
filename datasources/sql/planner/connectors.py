"""Connectors by their SQL names: ours, and all of Spark's formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from datasources.errors import OptionError
from datasources.formats.schema_text.ddl_types import type_text
from datasources.kafka.data_source import KafkaDataSource
from datasources.mysql.data_source import MySqlDataSource
from datasources.near_matches import near_matches
from datasources.options import lower_keys
from datasources.scripted.data_source import ScriptedDataSource
from datasources.source.api.abilities import SourceWatermarkSpec, SupportsSourceWatermark
from datasources.source.api.connector import ScanSource
from datasources.spark.adapter.data_source import TidemarkDataSource
from datasources.sql.planner.files.file_table import FILE_METADATA
from datasources.sql.text.error_location import Site

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SINKS: Mapping[str, str] = {"print": "console", "blackhole": "noop", "memory": "memory"}
"""Sinks with a name of Flink's, and Spark's format for each. They cannot be read."""

_SPARK_NAMES = {"spark-kafka": "kafka", **SINKS}
_FILES = frozenset({"avro", "csv", "json", "orc", "parquet", "text", "xml"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """The connector of `'connector' = '...'`.

    Attributes:
        name: as it is called in SQL.
        format_name: what `spark.read.format()` takes.
        data_source: our class; None = a format of Spark's.
        options: implied by the name.
        takes_schema: whether the format needs its columns as input (files); others know them.
        is_filesystem: whether the format is that of the option `format`, and options are those of Flink's files.
        is_changelog: whether its rows change earlier ones, whatever its options.
        has_history: whether a batch gives all versions of its rows.
        sink_options: what only INSERT obeys, of a table that can be read too.
    """

    name: str
    format_name: str
    data_source: type[TidemarkDataSource] | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    takes_schema: bool = False
    is_filesystem: bool = False
    is_changelog: bool = False
    has_history: bool = True
    sink_options: frozenset[str] = frozenset()

    @property
    def source(self) -> type[ScanSource] | None:
        """The class that plans and reads, if the connector is ours."""
        return None if self.data_source is None else self.data_source.connector

    @property
    def source_time(self) -> SourceWatermarkSpec | None:
        """What SYSTEM_ROWTIME() and SYSTEM_WATERMARK() are in its records; None = it has no time of its own."""
        source = self.source
        if source is None or not issubclass(source, SupportsSourceWatermark):
            return None
        return source.source_watermark()

    @property
    def metadata_types(self) -> Mapping[str, str]:
        """Metadata keys and their types as Spark DDL."""
        if self.is_filesystem:
            return FILE_METADATA
        return {} if self.source is None else {key: type_text(t) for key, t in self.source.metadata_types.items()}

    def require_path(self, table: str, options: Mapping[str, str]) -> None:
        """Raise where files have no span: Spark reads no rows from nowhere, without an error.

        Raises:
            OptionError: naming the table.
        """
        if self.takes_schema and not {"path", "paths"} & set(lower_keys(options)):
            files = "files" if self.is_filesystem else f"{self.name} files"
            raise OptionError(f"table '{table}': option 'path' is required: the directory of its {files}.")

    def require_files(self, table: str, site: Site) -> None:
        """Refuse PARTITIONED BY in a table whose rows are in no directories.

        Raises:
            SqlError: naming the table.
        """
        if not self.takes_schema:
            raise site.error(
                f"table '{table}' ({self.name}) is not one of files, and only their directories are partitions",
                "Leave PARTITIONED BY out, or write LIKE ... (EXCLUDING PARTITIONS) if it comes from there.",
            )

    @property
    def is_ours(self) -> bool:
        """Whether watermarks can be made in its reader."""
        return self.data_source is not None


_KAFKA_SINK_OPTIONS = frozenset(
    {"sink.delivery-guarantee", "sink.parallelism", "sink.partitioner", "sink.semantic", "sink.transactional-id-prefix"}
)

_OURS = {
    "kafka": Connector(
        name="kafka",
        format_name="tidemark-kafka",
        data_source=KafkaDataSource,
        sink_options=_KAFKA_SINK_OPTIONS | {"sink.transaction-naming-strategy"},
    ),
    "upsert-kafka": Connector(
        name="upsert-kafka",
        format_name="tidemark-kafka",
        data_source=KafkaDataSource,
        options={"scan.upsert": "true", "scan.startup.mode": "earliest-offset"},  # a table, not its newest changes
        is_changelog=True,
        sink_options=_KAFKA_SINK_OPTIONS | {"sink.buffer-flush.interval", "sink.buffer-flush.max-rows"},
    ),
    "mysql-cdc": Connector(
        name="mysql-cdc",
        format_name="tidemark-mysql",
        data_source=MySqlDataSource,
        options={"scan.metadata": ""},  # a DataFrame has all metadata columns, a table those that it declares
        is_changelog=True,
        has_history=False,
    ),
    "scripted": Connector(name="scripted", format_name="tidemark-scripted", data_source=ScriptedDataSource),
    "filesystem": Connector(name="filesystem", format_name="filesystem", takes_schema=True, is_filesystem=True),
}


def connector_of(spark: SparkSession, name: str) -> Connector:
    """Return the connector of a name: ours, a source that was registered with the session, or a format of Spark's."""
    folded = name.lower()
    if folded in _OURS:
        return _OURS[folded]
    registered = getattr(spark, "_tidemark_formats", {})
    if folded in registered:
        return Connector(name=name, format_name=folded, data_source=registered[folded][0])
    return Connector(
        name=name,
        format_name=_SPARK_NAMES.get(folded, name),
        takes_schema=folded in _FILES,
    )


def unknown_file_format(table: str, format_name: str, error: Exception) -> OptionError | None:
    """Return the error about a format of files that Spark does not have, or None if `error` is about something else."""
    if not _is_not_found(error):
        return None
    return OptionError(
        f"table '{table}': this Spark session does not know the format '{format_name}': add its package "
        f"(org.apache.spark:spark-{format_name})."
    )


def _is_not_found(error: Exception) -> bool:
    text = str(error)
    return "DATA_SOURCE_NOT_FOUND" in text or "Failed to find data source" in text


def unknown_connector(table: str, connector: Connector, error: Exception) -> OptionError | None:
    """Return the error about a connector that neither we nor Spark have, or None if `error` is about something else."""
    if not _is_not_found(error):
        return None
    known = {*_OURS, *_SPARK_NAMES, *_FILES, "rate", "socket", "delta", "iceberg", "jdbc"} - {connector.name.lower()}
    near = near_matches(connector.name, sorted(known))
    return OptionError(
        f"table '{table}': there is no connector '{connector.name}'.{near} Tidemark's are {', '.join(_OURS)}; "
        f"any other name is a format that this Spark session must know: add its package if it has one."
    )
