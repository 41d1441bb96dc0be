"""Reading real topics, without Spark: positions, gaps, losses, starts, columns. Every test has its own topic."""

from __future__ import annotations

import json
import threading
import time

import pyarrow as pa
import pytest

from datasources.errors import DataLossError, OptionError, RecordError, SourceUnavailable
from datasources.kafka.client.consumers import _partition_pool
from datasources.kafka.source import KafkaSource
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("native_first")]

BASE = 1_760_000_000_000
SCHEMA = "id BIGINT, ts TIMESTAMP"


def order(n, ts_ms=None):
    return json.dumps({"id": n, "ts": ts_ms}).encode()


def ids(table):
    return table.column("value").to_pylist()


def read_all(kafka, topic, **options):
    return KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic, **options)).drain()


def test_raw_columns_are_those_of_sparks_own_source(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [(b"k", b"v", BASE), (None, None, BASE + 1)])
    table = read_all(kafka, topic)
    assert table.schema.names == ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]
    rows = table.to_pylist()
    assert (rows[0]["key"], rows[0]["value"], rows[0]["topic"]) == (b"k", b"v", topic)
    assert (rows[0]["partition"], rows[0]["offset"], rows[0]["timestampType"]) == (0, 0, 0)
    assert table.column("timestamp").cast(pa.int64()).to_pylist() == [BASE * 1_000, (BASE + 1) * 1_000]
    assert rows[1]["value"] is None


def test_headers_come_if_asked_for(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"v"])
    assert read_all(kafka, topic, includeHeaders="true").column("headers").to_pylist() == [None]


def test_an_empty_topic_has_no_batch_without_a_watermark(kafka):
    query = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=kafka.create_topic()))
    assert query.batch() is None


def test_a_range_ends_by_position_where_aborted_transactions_leave_gaps(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"a"])
    kafka.produce_transaction(topic, 0, [b"x1", b"x2"], commit=False)
    kafka.produce_transaction(topic, 0, [b"b"], commit=True)
    options = {"kafka__isolation.level": "read_committed"}
    assert ids(read_all(kafka, topic, **options)) == [b"a", b"b"]
    assert ids(read_all(kafka, topic)) == [b"a", b"x1", b"x2", b"b"]  # Java's and Spark's default


def test_a_range_that_holds_nothing_but_markers_ends(kafka):
    topic = kafka.create_topic()
    query = KafkaQuery(
        scan_of(kafka.bootstrap_servers, subscribe=topic, **{"kafka__isolation.level": "read_committed"})
    )
    kafka.produce(topic, 0, [b"a"])
    assert ids(query.drain()) == [b"a"]
    kafka.produce_transaction(topic, 0, [b"x"], commit=False)
    assert ids(query.drain()) == []
    kafka.produce(topic, 0, [b"b"])
    assert ids(query.drain()) == [b"b"]


def test_small_batches_cut_gaps_anywhere(kafka):
    topic = kafka.create_topic()
    for n in range(5):
        kafka.produce(topic, 0, [b"a%d" % n])
        kafka.produce_transaction(topic, 0, [b"x"], commit=False)
    query = KafkaQuery(
        scan_of(kafka.bootstrap_servers, subscribe=topic, **{"kafka__isolation.level": "read_committed"})
    )
    assert ids(query.drain(rows=1)) == [b"a%d" % n for n in range(5)]


def test_a_compacted_topic_is_read_to_its_end(kafka):
    config = {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.001",
        "segment.ms": "100",
        "segment.bytes": "1048576",
        "min.compaction.lag.ms": "0",
        "delete.retention.ms": "0",
    }
    topic = kafka.create_topic(config=config)
    kafka.produce(topic, 0, [(b"k%d" % (n % 5), b"v%d" % n, BASE + n) for n in range(500)])
    values = ids(read_all(kafka, topic, maxOffsetsPerTrigger=None))
    assert values[-5:] == [b"v%d" % n for n in range(495, 500)]  # compacted or not, every key's last value is there


def test_deleted_records_are_data_loss_that_names_the_place(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"a", b"b", b"c"])
    query = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic))
    end = query.planner.plan(query.offset)
    kafka.delete_records(topic, 0, 2)
    with pytest.raises(
        DataLossError, match=rf"topic '{topic}', partition 0: offset 0 is gone; the log now holds \[2, 3\)"
    ):
        query.read(end)


def test_accepted_data_loss_goes_on_with_what_is_there_and_counts(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [(None, b"a", BASE), (None, b"b", BASE + 1), (None, b"c", BASE + 2)])
    options = {"watermark__for": "timestamp", "watermark__as": "timestamp", "failOnDataLoss": "false"}
    query = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic, **options))
    end = query.planner.plan(query.offset)
    kafka.delete_records(topic, 0, 2)
    assert [v for v in ids(query.read(end)) if v] == [b"c"]
    assert query.report_store.reports[1][f"{topic}-0"].lost == 2


def plan_until_it_fails(query):
    """Brokers forget a topic a little after they have said so."""
    until, pause = time.monotonic() + 30, threading.Event()
    while time.monotonic() < until:
        assert query.batch() is None
        pause.wait(0.05)


def test_a_deleted_topic_stops_the_query(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"a"])
    query = KafkaQuery(
        scan_of(kafka.bootstrap_servers, subscribe=topic, **{"scan__topic-partition-discovery__interval": "1 ms"})
    )
    query.drain()
    kafka.delete_topic(topic)
    with pytest.raises((DataLossError, SourceUnavailable), match=f"{topic}.*(does not exist|was deleted)"):
        plan_until_it_fails(query)


def test_the_only_topic_is_deleted_before_partitions_are_looked_for_again(kafka):
    """No partition has a leader then, which brokers say in other words than that one of several is not there."""
    topic = kafka.create_topic(partitions=2)
    kafka.produce(topic, 0, [b"a"])
    strict = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic))
    tolerant = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic, failOnDataLoss="false"))
    strict.drain(), tolerant.drain()
    kafka.delete_topic(topic)
    with pytest.raises(DataLossError, match=f"split '{topic}-0' does not exist any more.*failOnDataLoss"):
        plan_until_it_fails(strict)
    assert tolerant.batch() is None


def test_a_topic_that_was_created_again_shorter_is_data_loss(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"a", b"b", b"c"])
    query = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic))
    query.drain()
    kafka.delete_records(topic, 0, 3)  # the nearest to it that keeps the name: nothing of what was read is left
    assert query.batch() is None


def test_new_partitions_are_found_and_read_from_their_beginning(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"a"])
    query = KafkaQuery(
        scan_of(kafka.bootstrap_servers, subscribe=topic, **{"scan__topic-partition-discovery__interval": "1 ms"})
    )
    assert ids(query.drain()) == [b"a"]
    kafka.create_partitions(topic, 2)
    kafka.produce(topic, 1, [b"b"])
    assert ids(query.drain()) == [b"b"]


def test_a_pattern_waits_for_topics_and_finds_them(kafka):
    prefix = "found"
    first = kafka.create_topic(prefix=prefix)
    pattern = f"{first}.*"
    query = KafkaQuery(
        scan_of(
            kafka.bootstrap_servers, subscribePattern=pattern, **{"scan__topic-partition-discovery__interval": "1 ms"}
        )
    )
    kafka.produce(first, 0, [b"a"])
    assert ids(query.drain()) == [b"a"]


def test_assigned_partitions_only(kafka):
    topic = kafka.create_topic(partitions=2)
    kafka.produce(topic, 0, [b"a"])
    kafka.produce(topic, 1, [b"b"])
    assign = json.dumps({topic: [1]})
    assert ids(KafkaQuery(scan_of(kafka.bootstrap_servers, assign=assign)).drain()) == [b"b"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"startingOffsets": "earliest"}, [b"a", b"b", b"c"]),
        ({"startingOffsets": "latest"}, []),
        ({"startingOffsets": '{"T": {"0": 1}}'}, [b"b", b"c"]),
        ({"startingOffsets": '{"T": {"0": -2}}'}, [b"a", b"b", b"c"]),
        ({"startingOffsets": '{"T": {"0": -1}}'}, []),
        ({"startingTimestamp": BASE + 1_500}, [b"c"]),
        ({"startingOffsetsByTimestamp": '{"T": {"0": %d}}' % (BASE + 1_000)}, [b"b", b"c"]),
        ({"startingTimestamp": BASE + 9_000, "startingOffsetsByTimestampStrategy": "latest"}, []),
        ({"startingOffsets": None, "scan__startup__mode": "earliest-offset"}, [b"a", b"b", b"c"]),
        ({"startingOffsets": None, "scan__startup__mode": "latest-offset"}, []),
        (
            {
                "startingOffsets": None,
                "scan__startup__mode": "timestamp",
                "scan__startup__timestamp-millis": BASE + 1_000,
            },
            [b"b", b"c"],
        ),
        (
            {
                "startingOffsets": None,
                "scan__startup__mode": "specific-offsets",
                "scan__startup__specific-offsets": "partition:0,offset:2",
            },
            [b"c"],
        ),
        ({"startingOffsets": None, "scan__startup__mode": "group-offsets", "kafka__group.id": "nobody"}, []),
        ({"startingOffsets": None}, []),
    ],
)
def test_every_way_to_begin(kafka, options, expected):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [(None, v, BASE + n * 1_000) for n, v in enumerate((b"a", b"b", b"c"))])
    options = {k: v.replace('"T"', f'"{topic}"') if isinstance(v, str) else v for k, v in options.items()}
    query = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic, **options))
    table = query.batch()
    assert (ids(table) if table else []) == expected


def test_a_start_after_every_record_is_an_error_by_default(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [(None, b"a", BASE)])
    with pytest.raises(OptionError, match="no record at or after.*startingOffsetsByTimestampStrategy"):
        KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic, startingTimestamp=BASE + 1))


def test_start_offsets_must_name_every_partition(kafka):
    topic = kafka.create_topic(partitions=2)
    with pytest.raises(OptionError, match="names no position for"):
        KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic, startingOffsets=json.dumps({topic: {"0": 0}})))


def test_a_bounded_stream_ends_where_the_topic_ended_at_its_start(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"a", b"b"])
    query = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic, scan__bounded__mode="latest-offset"))
    kafka.produce(topic, 0, [b"c"])
    assert ids(query.drain()) == [b"a", b"b"]
    assert query.batch() is None


def test_json_becomes_typed_columns_and_a_kafka_null_is_left_out(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [order(1, "2026-01-01T00:00:00Z"), (b"k", None, BASE), order(2, "2026-01-01T00:00:01.5Z")])
    table = read_all(kafka, topic, format="json", schema=SCHEMA)
    assert table.column("id").to_pylist() == [1, 2]
    assert table.column("ts").cast(pa.int64()).to_pylist() == [1_767_225_600_000_000, 1_767_225_601_500_000]


@pytest.mark.parametrize("bad", [b"null", b"", b"{", b'{"id": "x"}', b'{"id": 1} trailing'])
def test_a_bad_record_names_its_place_and_the_ways_out(kafka, bad):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [order(0), order(1), bad])
    with pytest.raises(RecordError, match=rf"topic '{topic}', partition 0, offset 2.*format\.on-error.*null.*skip"):
        read_all(kafka, topic, format="json", schema=SCHEMA)


def test_bad_records_can_be_nulls_or_left_out_and_are_counted(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [order(0, "2026-01-01T00:00:00Z"), b"{", order(1, "2026-01-01T00:00:01Z")])
    options = {"format": "json", "schema": SCHEMA, "watermark__for": "ts", "watermark__as": "ts"}
    for choice, expected in (("null", [0, None, 1]), ("skip", [0, 1])):
        query = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic, **{"format__on-error": choice}, **options))
        rows = query.drain().filter(pa.compute.field("_heartbeat") == False)  # noqa: E712 - an expression
        assert rows.column("id").to_pylist() == expected
        assert query.planner.totals.counts["bad_records"] == 1
        assert query.report_store.reports[1][f"{topic}-0"].bad == 1


def test_a_record_of_a_megabyte_is_read(kafka):
    topic = kafka.create_topic(config={"max.message.bytes": "4000000"})
    big = json.dumps({"id": 7, "pad": "x" * 900_000}).encode()
    kafka.produce(topic, 0, [big, order(8)])
    assert read_all(kafka, topic, format="json", schema=SCHEMA).column("id").to_pylist() == [7, 8]


def test_a_missing_topic_is_an_error_with_a_hint(kafka):
    with pytest.raises(SourceUnavailable, match="topic 'no-such-topic' does not exist.*subscribePattern"):
        KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe="no-such-topic"))


def test_a_missing_partition_is_an_error(kafka):
    topic = kafka.create_topic()
    with pytest.raises(SourceUnavailable, match=f"partition 7 of topic '{topic}' does not exist"):
        KafkaQuery(scan_of(kafka.bootstrap_servers, assign=json.dumps({topic: [7]})))


def test_an_unreachable_broker_is_an_error_with_a_hint():
    options = {"kafka__default.api.timeout.ms": "1500"}
    with pytest.raises(SourceUnavailable, match="brokers at 127.0.0.1:1 did not answer.*advertised listeners"):
        KafkaQuery(scan_of("127.0.0.1:1", subscribe="orders", **options))


def test_consumers_are_kept_between_ranges_and_what_they_read_ahead_is_not_lost(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"%d" % n for n in range(2_000)])
    query = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic))
    assert ids(query.drain(rows=7 * 13)) == [b"%d" % n for n in range(2_000)]
    assert sum(key[1] == topic for key in _partition_pool) == 1


def test_a_range_can_be_read_again_with_equal_rows(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [b"%d" % n for n in range(100)])
    query = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic))
    end = query.planner.plan(query.offset, 40)
    first = query.read(end)
    assert query.read(end).equals(first)
    assert first.num_rows == 40


def test_a_broker_that_restarts_costs_nothing(own_kafka):
    topic = own_kafka.create_topic()
    own_kafka.produce(topic, 0, [b"a"])
    query = KafkaQuery(scan_of(own_kafka.bootstrap_servers, subscribe=topic))
    assert ids(query.drain()) == [b"a"]
    own_kafka.kill()
    own_kafka.start()
    own_kafka.produce(topic, 0, [b"b"])
    assert ids(query.drain()) == [b"b"]


def test_the_scan_can_be_pickled_and_shows_no_secret(kafka):
    import pickle

    scan = scan_of(
        kafka.bootstrap_servers, subscribe="orders", **{"kafka__sasl.password": "hunter2", "kafka__sasl.username": "u"}
    )
    assert pickle.loads(pickle.dumps(scan)).source == scan.source
    assert "hunter2" not in repr(scan)
    assert KafkaSource.format_name == "tidemark-kafka"


def test_a_source_without_a_watermark_counts_what_it_left_out_too(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [order(0), b"{", (b"k", None, BASE)])
    options = {"format": "json", "schema": SCHEMA, "format__on-error": "skip"}
    query = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic, **options))
    assert query.drain().column("id").to_pylist() == [0]
    assert [query.planner.totals.counts[key] for key in ("bad_records", "null_values")] == [1, 1]


@pytest.mark.slow
def test_more_partitions_than_the_pool_keeps_share_its_consumers(kafka):
    topic = kafka.create_topic(partitions=12)
    for partition in range(12):
        kafka.produce(topic, partition, [b"%d" % (partition * 10 + n) for n in range(5)])
    query = KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic))
    expected = sorted(b"%d" % n for n in range(120) if n % 10 < 5)
    assert sorted(ids(query.drain(rows=24))) == expected  # every partition is left and taken up again
    assert len(_partition_pool) <= 8
