"""The Kafka connector: options in, scan out."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import pyarrow as pa

from datasources.errors import OptionError
from datasources.formats.api.error_policy import OnError
from datasources.formats.api.format_options import FormatOptions
from datasources.formats.format_table import FORMATS
from datasources.kafka.client.client_config import PREFIXES, client_config, without_prefix
from datasources.kafka.dead_letters.dead_letter_options import (
    DEAD_LETTER_PREFIXES,
    DeadLetterOptions,
    DeadLetterSettings,
    dead_letter_code_options,
    dead_letter_settings,
    require_other_topic,
)
from datasources.kafka.dead_letters.target_check import check_target
from datasources.kafka.enumerator import KafkaEnumerator, KafkaRange
from datasources.kafka.login.code_options import code_settings
from datasources.kafka.metadata.broker_metadata import BrokerMetadata
from datasources.kafka.metadata.subscriber import only_topic, subscriber
from datasources.kafka.reader.fetcher import FetchSettings
from datasources.kafka.reader.kafka_reader import KafkaReaderFactory
from datasources.kafka.record.flink_format_options import FlinkFormatOptions, on_error
from datasources.kafka.record.record_layout import RecordLayout
from datasources.kafka.record.record_metadata import METADATA_TYPES, VALUE_PREFIX, formats_with
from datasources.kafka.record.record_options import RecordOptions
from datasources.kafka.record.resolve_layout import resolve_layout
from datasources.kafka.startup.kafka_options import KafkaOptions, KafkaStartupMode
from datasources.kafka.startup.refused_options import REFUSED
from datasources.kafka.startup.startup_offsets import ending, starting
from datasources.options import OptionGroup, parse_group
from datasources.source.api.abilities import DelaySettings, DivisionSettings, SourceWatermarkSpec
from datasources.source.api.connector import ScanSource, SessionInfo
from watermark import SystemClock

_logger = logging.getLogger(__name__)
_MAX_TRIGGER_DELAY_MS = 15 * 60_000


@dataclass(frozen=True, kw_only=True)
class KafkaSource(ScanSource):
    """One scan of Kafka."""

    format_name: ClassVar[str] = "tidemark-kafka"
    option_groups: ClassVar[tuple[type[OptionGroup], ...]] = (
        KafkaOptions,
        RecordOptions,
        FlinkFormatOptions,
        FormatOptions,
        DeadLetterOptions,
    )
    option_prefixes: ClassVar[tuple[str, ...]] = (*PREFIXES, *DEAD_LETTER_PREFIXES)
    refused_options: ClassVar[Mapping[str, str]] = REFUSED
    metadata_types: ClassVar[Mapping[str, pa.DataType]] = METADATA_TYPES

    options: KafkaOptions
    columns: pa.Schema
    factory: KafkaReaderFactory

    @classmethod
    def create(cls, options: Mapping[str, str], session: SessionInfo) -> Self:
        """Return the scan; everything that needs no broker is checked here."""
        own = parse_group(KafkaOptions, options)
        record = parse_group(RecordOptions, options)
        flink = parse_group(FlinkFormatOptions, options)
        formats = parse_group(FormatOptions, options)
        _require_range(own)
        _require_group(own, options)
        _require_commit_group(own, options)
        _require_delayed(own)
        columns, layout = resolve_layout(record, flink, formats, only_topic(own))
        policy = on_error(flink, formats)
        dead_letters = _dead_letters(options, own, policy)
        _require_divisible(own, layout, dead_letters)
        settings = FetchSettings(
            config=client_config(
                options,
                num_retries=own.num_retries,
                retry_interval_ms=own.retry_interval_ms,
                group_prefix=own.group_prefix,
                rack_variable=own.rack_variable,
            ),
            poll_timeout_ms=own.poll_timeout_ms,
            fail_on_data_loss=own.fail_on_data_loss,
        )
        factory = KafkaReaderFactory(
            schema=columns,
            settings=settings,
            layout=layout,
            on_error=policy,
            time_zone=session.time_zone,
            dead_letters=dead_letters,
        )
        return cls(options=own, columns=columns, factory=factory, fail_on_data_loss=own.fail_on_data_loss)

    @classmethod
    def found_columns(cls, options: Mapping[str, str]) -> pa.Schema | None:
        """Return the columns that the format of the values finds; see `ScanSource`."""
        record, formats = parse_group(RecordOptions, options), parse_group(FormatOptions, options)
        name = record.format or record.value_format
        if formats.ddl is not None or name is None or FORMATS[name].columns is None:
            return None
        topic = only_topic(parse_group(KafkaOptions, options))
        return resolve_layout(record, parse_group(FlinkFormatOptions, options), formats, topic)[0]

    @classmethod
    def source_watermark(cls) -> SourceWatermarkSpec:
        """Return the watermark of the log itself: a partition's records are assumed to be ordered by timestamp.

        Several records may share a millisecond, so the watermark is the millisecond before it.
        """
        return SourceWatermarkSpec(
            metadata={"_record_time": "timestamp"},
            rowtime="_record_time",
            watermark="_record_time - INTERVAL '0.001' SECOND",
        )

    @classmethod
    def code_options(cls, options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Yield the options that make librdkafka run or load code."""
        yield from ((f"kafka.{name}", effect) for name, effect in code_settings(without_prefix(options)))
        yield from dead_letter_code_options(options)

    def with_metadata(self, columns: Mapping[str, str]) -> Self:
        """Return a copy whose schema ends with metadata columns, name -> key."""
        layout = self.factory.layout
        for name, key in columns.items():
            if key.startswith(VALUE_PREFIX) and key.removeprefix(VALUE_PREFIX) not in layout.value_format.metadata:
                raise OptionError(
                    f"metadata column '{name}': the key '{key}' needs 'format' = {formats_with(key)}; the format here "
                    f"is '{layout.value_format.name}'."
                )
        schema = self.columns
        for name, key in columns.items():
            schema = schema.append(pa.field(name, METADATA_TYPES[key]))
        layout = replace(layout, metadata=(*layout.metadata, *columns.items()))
        return replace(self, columns=schema, factory=replace(self.factory, schema=schema, layout=layout))

    def with_columns(self, decode: pa.Schema) -> Self:
        """Return a copy whose readers decode only these columns."""
        return replace(self, factory=replace(self.factory, columns=decode))

    @property
    def schema(self) -> pa.Schema:
        """The data columns, then those of metadata."""
        return self.columns

    @property
    def subscription(self) -> str:
        """The topics, and the end if there is one."""
        bounded = self.options.bounded_mode.value
        return f"{subscriber(self.options)}" + ("" if bounded == "unbounded" else f", bounded {bounded}")

    @property
    def writes_dead_letters(self) -> bool:
        """Whether bad records or those of late rows are written to a topic."""
        return self.factory.dead_letters is not None

    @property
    def isolation(self) -> str:
        """Whether records of open and aborted transactions are visible: `kafka.isolation.level`."""
        return self.factory.settings.config.isolation_level

    @property
    def batch_delay(self) -> DelaySettings | None:
        """Spark's `minOffsetsPerTrigger` and `maxTriggerDelay`."""
        rows, delay_ms = self.options.min_offsets, self.options.max_trigger_delay_ms
        if rows is None:
            return None
        return DelaySettings(min_rows=rows, max_delay_ms=_MAX_TRIGGER_DELAY_MS if delay_ms is None else delay_ms)

    @property
    def division(self) -> DivisionSettings | None:
        """Spark's `minPartitions` and `maxRecordsPerPartition`."""
        wanted = DivisionSettings(min_tasks=self.options.min_partitions, max_rows=self.options.max_records)
        return None if wanted == DivisionSettings() else wanted

    def enumerator(self, *, is_batch: bool) -> KafkaEnumerator:
        """Open the driver's side."""
        if is_batch and self.options.min_offsets is not None:
            _logger.warning("minOffsetsPerTrigger has no meaning in a batch read: it reads everything at once.")
        if is_batch and self.options.commits_offsets:
            _logger.warning("commit.offsets.on.checkpoint has no meaning in a batch read: it has no checkpoint.")
        commits = self.options.commits_offsets and not is_batch
        wanted = KafkaRange(
            subscriber=subscriber(self.options),
            start=starting(self.options, is_batch=is_batch),
            end=ending(self.options, is_batch=is_batch),
            discovery_ms=self.options.discovery_ms,
            fail_on_data_loss=self.options.fail_on_data_loss,
            commit_group=self.factory.settings.config["group.id"] if commits else None,
        )
        return KafkaEnumerator(
            BrokerMetadata(self.factory.settings.config), wanted, SystemClock(), self._check_dead_letters
        )

    def _check_dead_letters(self) -> None:
        """Verify that dead letters could be written."""
        if self.factory.dead_letters is not None:
            check_target(self.factory.dead_letters, self.factory.settings.config, subscriber(self.options))

    def reader_factory(self) -> KafkaReaderFactory:
        """Return the executors' part."""
        return self.factory


def _require_group(options: KafkaOptions, given: Mapping[str, str]) -> None:
    if options.startup_mode is KafkaStartupMode.GROUP and "group.id" not in without_prefix(given):
        raise OptionError(
            "scan.startup.mode = 'group-offsets' needs 'kafka.group.id' (or 'properties.group.id'): the group whose "
            "committed offsets are where the query begins."
        )


def _require_commit_group(options: KafkaOptions, given: Mapping[str, str]) -> None:
    if options.commits_offsets and not without_prefix(given).get("group.id"):
        raise OptionError(
            "commit.offsets.on.checkpoint = 'true' needs 'kafka.group.id' (or 'properties.group.id'): the group that "
            "the positions are committed to. Let no other application and no other query use it."
        )


def _dead_letters(options: Mapping[str, str], own: KafkaOptions, policy: OnError) -> DeadLetterSettings | None:
    settings = dead_letter_settings(options, parse_group(DeadLetterOptions, options), policy)
    if settings is not None and not settings.has_own_servers:
        require_other_topic(settings, subscriber(own))
    return settings


def _require_delayed(options: KafkaOptions) -> None:
    delay_ms = options.max_trigger_delay_ms
    if delay_ms is None:
        return
    if options.min_offsets is None:
        raise OptionError("option 'maxTriggerDelay' has no effect without 'minOffsetsPerTrigger': leave it out.")
    if delay_ms == 0:
        raise OptionError("option 'maxTriggerDelay' = 0: no batch would wait. Leave out 'minOffsetsPerTrigger' too.")


def _require_divisible(options: KafkaOptions, layout: RecordLayout, dead_letters: DeadLetterSettings | None) -> None:
    keys = {"minPartitions": options.min_partitions, "maxRecordsPerPartition": options.max_records}
    given = next((key for key, value in keys.items() if value is not None), None)
    if given is not None and (layout.is_upsert or layout.value_format.is_changelog):
        raise OptionError(
            f"option '{given}' does not go with a changelog: later records change earlier rows, and tasks that share a "
            f"partition would emit them in any order. Leave the option out, or give the topic more partitions."
        )
    if given is not None and dead_letters is not None:
        raise OptionError(
            f"option '{given}' does not go with 'format.dead-letter.topic': one task writes the dead letters of a "
            f"partition, in its order. Leave the option out, or give the topic more partitions."
        )


def _require_range(options: KafkaOptions) -> None:
    """Check the start and end options; an error is raised only if neither a stream nor a batch read accepts them."""
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
