"""Kafka's options: Flink's keys and Spark's, one declaration each; two names for one thing are never both accepted."""

from __future__ import annotations

import enum

from pydantic import Field

from datasources.options import DurationMs, OptionGroup


class KafkaStartupMode(enum.Enum):
    """Flink's scan.startup.mode."""

    EARLIEST = "earliest-offset"
    LATEST = "latest-offset"
    GROUP = "group-offsets"
    TIMESTAMP = "timestamp"
    SPECIFIC = "specific-offsets"


class BoundedMode(enum.Enum):
    """Flink's scan.bounded.mode."""

    UNBOUNDED = "unbounded"
    LATEST = "latest-offset"
    TIMESTAMP = "timestamp"
    SPECIFIC = "specific-offsets"


class TimestampStrategy(enum.Enum):
    """What to do where no record is as late as the starting timestamp."""

    ERROR = "error"
    LATEST = "latest"


class KafkaOptions(OptionGroup):
    """Which topics, and from where to where."""

    subscribe: str | None = Field(None, alias="subscribe", description="Topics, separated by commas.")
    subscribe_pattern: str | None = Field(
        None, alias="subscribePattern", description="A regular expression that whole topic names match."
    )
    assign: str | None = Field(
        None, alias="assign", description='Topic partitions as JSON: `{"orders":[0,1],"returns":[2]}`.'
    )
    topic: str | None = Field(None, alias="topic", description="Flink's name for subscribe; separated by semicolons.")
    topic_pattern: str | None = Field(None, alias="topic-pattern", description="Flink's name for subscribePattern.")

    starting_offsets: str | None = Field(
        None,
        alias="startingOffsets",
        description='`earliest`, `latest`, or JSON per partition: `{"orders":{"0":23,"1":-2}}` (-2 earliest, '
        "-1 latest). Streams start at latest, batch reads at earliest.",
    )
    starting_timestamp: int | None = Field(
        None, alias="startingTimestamp", ge=0, description="Start at the first record at or after this time, epoch ms."
    )
    starting_offsets_by_timestamp: str | None = Field(
        None,
        alias="startingOffsetsByTimestamp",
        description='The same per partition: `{"orders":{"0":1700000000000}}`.',
    )
    timestamp_strategy: TimestampStrategy = Field(
        TimestampStrategy.ERROR,
        alias="startingOffsetsByTimestampStrategy",
        description="What happens in a partition without a record that late.",
    )
    startup_mode: KafkaStartupMode | None = Field(None, alias="scan.startup.mode", description="Where a stream starts.")
    startup_timestamp: int | None = Field(
        None, alias="scan.startup.timestamp-millis", ge=0, description="For scan.startup.mode=timestamp."
    )
    startup_specific: str | None = Field(
        None,
        alias="scan.startup.specific-offsets",
        description="For scan.startup.mode=specific-offsets: `partition:0,offset:42;partition:1,offset:300`.",
    )

    ending_offsets: str | None = Field(
        None, alias="endingOffsets", description="Where a batch read ends: `latest` (default) or JSON per partition."
    )
    ending_timestamp: int | None = Field(
        None,
        alias="endingTimestamp",
        ge=0,
        description="A batch read ends before the first record at or after this time.",
    )
    ending_offsets_by_timestamp: str | None = Field(
        None, alias="endingOffsetsByTimestamp", description="The same per partition, as JSON."
    )
    bounded_mode: BoundedMode = Field(
        BoundedMode.UNBOUNDED,
        alias="scan.bounded.mode",
        description="Ends a stream for good: at its end the final watermark closes every window, and no later run of "
        "the same checkpoint reads more.",
    )
    bounded_timestamp: int | None = Field(
        None, alias="scan.bounded.timestamp-millis", ge=0, description="For scan.bounded.mode=timestamp."
    )
    bounded_specific: str | None = Field(
        None, alias="scan.bounded.specific-offsets", description="For scan.bounded.mode=specific-offsets."
    )

    fail_on_data_loss: bool = Field(
        True,
        alias="failOnDataLoss",
        description="Whether positions that are gone (retention, deleted or re-created topics, logs truncated by an "
        "unclean election) stop the query; false continues with the remaining records; the loss is counted and logged.",
    )
    discovery_ms: DurationMs = Field(
        5_000,
        alias="scan.topic-partition-discovery.interval",
        description="How often new topics and partitions are looked for; they are read from their beginning. "
        "0 = never.",
    )
    group_prefix: str | None = Field(
        None,
        alias="groupIdPrefix",
        min_length=1,
        description="What the consumer group's name begins with: the group is `<prefix>-tidemark`. For brokers whose "
        "access rules go by group; nothing joins the group and nothing is committed. Not together with kafka.group.id.",
    )
    rack_variable: str | None = Field(
        None,
        alias="scan.client-rack.env",
        min_length=1,
        description="The environment variable of the executors that holds their rack, such as the name of a zone: "
        "their consumers then read from a replica in it, as with `kafka.client.rack`, which is one rack for all.",
    )
    commits_offsets: bool = Field(
        False,
        alias="commit.offsets.on.checkpoint",
        description="Whether the positions of a batch that Spark has committed are committed to the consumer group of "
        "kafka.group.id too, so that tools show its lag. Only the checkpoint says where a query continues. Flink's "
        "default is true, Spark's own source never commits. Streams only.",
    )
    min_offsets: int | None = Field(
        None,
        alias="minOffsetsPerTrigger",
        gt=0,
        description="A batch with fewer rows waits for more, at most for maxTriggerDelay. The rows that a process "
        "finds at its start do not wait, nor does Trigger.AvailableNow. Waiting rows hold back the watermark, and "
        "their partitions are not idle. Streams only; not with alignment, `scan.hold.name` or processing time.",
    )
    max_trigger_delay_ms: DurationMs | None = Field(
        None,
        alias="maxTriggerDelay",
        description="How long after the last batch with rows a batch waits for minOffsetsPerTrigger at most. Default: "
        "15 min.",
    )
    min_partitions: int | None = Field(
        None,
        alias="minPartitions",
        gt=0,
        description="At least about how many tasks read a batch: the offsets of large partitions are divided among "
        "several. Not with on-event emission, alignment or changelogs, where one task has to read a partition in its "
        "order. It may change on restart.",
    )
    max_records: int | None = Field(
        None,
        alias="maxRecordsPerPartition",
        gt=0,
        description="The most offsets of a partition that one task reads; more are divided among several, as with "
        "`minPartitions`.",
    )
    poll_timeout_ms: int = Field(
        120_000,
        alias="kafkaConsumer.pollTimeoutMs",
        description="How many milliseconds a task waits for a record that must exist before it fails.",
        gt=0,
    )
    num_retries: int = Field(
        3,
        alias="fetchOffset.numRetries",
        description="How often a request for offsets is retried that no leader answered for "
        "`kafka.default.api.timeout.ms`; then the query stops.",
        ge=0,
    )
    retry_interval_ms: int = Field(
        1_000,
        alias="fetchOffset.retryIntervalMs",
        description="The longest pause, in milliseconds, between two attempts of such a request.",
        gt=0,
    )
