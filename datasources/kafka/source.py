"""The Kafka connector: options in, scan out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import pyarrow as pa

from datasources.errors import OptionError
from datasources.formats.ddl import parse_schema
from datasources.formats.options import FormatOptions
from datasources.kafka.client_config import PREFIXES, client_config
from datasources.kafka.enumerator import KafkaEnumerator, KafkaRange
from datasources.kafka.fetcher import FetchSettings
from datasources.kafka.metadata import BrokerMetadata
from datasources.kafka.offsets import ending, starting
from datasources.kafka.options import KafkaOptions, ValueFormat
from datasources.kafka.raw import raw_schema
from datasources.kafka.reader import KafkaReaderFactory
from datasources.kafka.subscriber import subscriber
from datasources.options import OptionGroup, parse_group
from datasources.source.connector import ScanSource, SessionFacts
from watermark import SystemClock

__all__ = ["KafkaSource"]


@dataclass(frozen=True, kw_only=True)
class KafkaSource(ScanSource):
    """One scan of Kafka.

    Attributes:
        options: Kafka's own options.
        columns: the data columns.
        factory: the executors' part.
    """

    format_name: ClassVar[str] = "tidemark-kafka"
    option_groups: ClassVar[tuple[type[OptionGroup], ...]] = (KafkaOptions, FormatOptions)
    option_prefixes: ClassVar[tuple[str, ...]] = PREFIXES

    options: KafkaOptions
    columns: pa.Schema
    factory: KafkaReaderFactory

    @classmethod
    def create(cls, options: Mapping[str, str], session: SessionFacts) -> Self:
        """Return the scan; everything that needs no broker is checked here."""
        own = parse_group(KafkaOptions, options)
        formats = parse_group(FormatOptions, options)
        _require_range(own)
        columns = _columns(own, formats)
        settings = FetchSettings(
            config=client_config(options),
            poll_timeout_ms=own.poll_timeout_ms,
            fail_on_data_loss=own.fail_on_data_loss,
        )
        factory = KafkaReaderFactory(
            schema=columns,
            settings=settings,
            is_json=own.value_format is ValueFormat.JSON,
            on_error=formats.on_error,
            time_zone=session.time_zone,
        )
        return cls(options=own, columns=columns, factory=factory, fail_on_data_loss=own.fail_on_data_loss)

    @property
    def schema(self) -> pa.Schema:
        """The data columns."""
        return self.columns

    @property
    def subscription(self) -> str:
        """The topics, and the end if there is one."""
        bounded = self.options.bounded_mode.value
        return f"{subscriber(self.options)}" + ("" if bounded == "unbounded" else f", bounded {bounded}")

    def enumerator(self, *, is_batch: bool) -> KafkaEnumerator:
        """Open the driver's side."""
        wanted = KafkaRange(
            subscriber=subscriber(self.options),
            start=starting(self.options, is_batch=is_batch),
            end=ending(self.options, is_batch=is_batch),
            discovery_ms=self.options.discovery_ms,
        )
        return KafkaEnumerator(BrokerMetadata(self.factory.settings.config), wanted, SystemClock())

    def reader_factory(self) -> KafkaReaderFactory:
        """Return the executors' part."""
        return self.factory


def _require_range(options: KafkaOptions) -> None:
    """Check where to begin and to end. What is right for streams or for batch reads only, the other use refuses."""
    subscriber(options)
    problems = []
    for is_batch in (False, True):
        try:
            starting(options, is_batch=is_batch)
            ending(options, is_batch=is_batch)
        except OptionError as problem:
            problems.append(problem)
    if len(problems) > 1:
        raise problems[0]


def _columns(options: KafkaOptions, formats: FormatOptions) -> pa.Schema:
    if options.value_format is ValueFormat.RAW:
        if formats.ddl is not None:
            raise OptionError("option 'schema' needs 'format' = 'json': raw columns are fixed.")
        return raw_schema(headers=options.include_headers)
    if formats.ddl is None:
        raise OptionError("option 'format' = 'json' needs 'schema': the columns as Spark DDL.")
    if options.include_headers:
        raise OptionError("option 'includeHeaders' adds a raw column: it cannot be combined with 'format' = 'json'.")
    return parse_schema(formats.ddl)
