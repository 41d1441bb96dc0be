"""The DataSource classes that Spark instantiates by format name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NoReturn

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from datasources.errors import QueryError, SchemaError, TidemarkError
from datasources.source.api.connector import ScanSource
from datasources.spark.adapter.batch_reader import TidemarkBatchReader
from datasources.spark.adapter.binding import Binding
from datasources.spark.adapter.stream_reader import TidemarkStreamReader
from datasources.spark.boundary.errors import spark_entry
from datasources.spark.boundary.redaction import require_hidden_by_spark
from datasources.spark.scan.scan import Scan, build_scan
from datasources.spark.scan.schema import arrow_output_schema, spark_schema


class TidemarkDataSource(DataSource):
    """Base of the formats; a subclass names its connector, and register() binds the application's settings."""

    connector: ClassVar[type[ScanSource]]
    binding: ClassVar[Binding] = Binding()

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return cls.connector.format_name

    @spark_entry
    def schema(self) -> StructType:
        """Return the data columns, and the hidden ones if the scan has a watermark."""
        return spark_schema(self._scan())

    @spark_entry
    def reader(self, schema: StructType) -> TidemarkBatchReader:
        """Open for `spark.read`."""
        scan = self._scan()
        _require_own_schema(schema, scan)
        return TidemarkBatchReader(scan, arrow_output_schema(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """Open for `spark.readStream`."""
        try:
            scan = self._scan()
            _require_own_schema(schema, scan)
            _require_attached(scan)
        except TidemarkError as error:
            return _RefusedStreamReader(error)
        return TidemarkStreamReader(scan, arrow_output_schema(schema), self.binding)

    def _scan(self) -> Scan:
        bound = self.binding
        if not bound.hides_secrets:
            require_hidden_by_spark(self.options)
        return build_scan(
            self.connector, dict(self.options), bound.defaults, bound.functions, allows_code=bound.allows_code
        )


def _require_attached(scan: Scan) -> None:
    if scan.source.strategy is not None and not scan.is_attached:
        raise QueryError(
            "the stream has a watermark but was not attached, so operators would see heartbeat rows and ignore the "
            "watermark. Use read_stream(...), or with_source_watermark(df) directly on the loaded DataFrame and the "
            "DataFrame that it returns; without watermark.for the source is a plain one."
        )


def _require_own_schema(schema: StructType, scan: Scan) -> None:
    own = spark_schema(scan)
    if [(f.name, f.dataType) for f in schema.fields] == [(f.name, f.dataType) for f in own.fields]:
        return
    raise SchemaError(
        f"the schema was given by .schema(...), which hides what the source adds. Give it as an option instead: "
        f'.option("schema", "...") with format=json, and no .schema(...). The source reads: {own.simpleString()}'
    )


class _RefusedStreamReader(DataSourceStreamReader):
    """Raises one error from every method that Spark may call first.

    PySpark's runner process hides an error that leaves `DataSource.streamReader` behind an UnboundLocalError of its own
    (it stops the reader that was never made). Errors that leave the reader's methods arrive whole.
    """

    def __init__(self, error: TidemarkError) -> None:
        self._error = error

    def initialOffset(self) -> NoReturn:  # noqa: N802
        """Refuse."""
        self._refuse()

    def latestOffset(self, *_: Any) -> NoReturn:  # noqa: N802 - with a limit or without one
        """Refuse."""
        self._refuse()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> NoReturn:  # noqa: ARG002 - Spark's signature
        """Refuse: after a restart in mid-batch this is the first call."""
        self._refuse()

    def read(self, partition: InputPartition) -> Iterator[NoReturn]:  # noqa: ARG002 - Spark's signature
        """Refuse."""
        self._refuse()

    @spark_entry
    def _refuse(self) -> NoReturn:
        raise self._error
