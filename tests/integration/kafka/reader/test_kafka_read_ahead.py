"""Tasks of many partitions, which one consumer fetches ahead: the same rows as from a consumer for each partition."""

from __future__ import annotations

import threading
import time
from random import Random

import pytest

from datasources.errors import DataLossError, SourceUnavailable
from datasources.kafka.client import consumers
from datasources.kafka.client.librdkafka import RawConsumer
from datasources.kafka.client.topic_partition import parse_split
from datasources.kafka.metadata.topic_ids import current_topic_id
from datasources.kafka.reader import fetcher, grouped_ranges, kafka_reader
from datasources.kafka.source import KafkaSource
from datasources.source.api.connector import SessionInfo
from datasources.source.api.split import LogIdentity
from tests.support.forms import full

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("library")]

PARTITIONS = 24
LARGEST_VALUE = 300_000
"""Beyond the smallest response that is asked for."""


@pytest.fixture(autouse=True)
def _nothing_is_left():
    """Neither consumers, nor the size of records, on which depends which consumer is used."""
    kafka_reader._record_bytes.clear()
    yield
    for pool in (consumers._partition_pool, consumers._ahead_pool):
        pool._close_all()


@pytest.fixture
def opened(monkeypatch):
    """The consumers of several partitions that are opened."""
    found = []
    monkeypatch.setattr(
        consumers, "open_native_consumer", lambda settings: found.append(RawConsumer(settings)) or found[-1]
    )
    return found


def factory(kafka, topic, **options):
    given = {"kafka.bootstrap.servers": kafka.bootstrap_servers, "subscribe": topic}
    given |= {key.replace("__", ".").lower(): value for key, value in options.items()}
    return KafkaSource.create(given, SessionInfo(time_zone="UTC", ansi=True)).reader_factory()


def rows(reader, split, start, end, limit=None):
    """The offsets and values of a range, and how many offsets were lost; of the first `limit` rows.

    The topic and partition of a row must be those of the range.
    """
    found, lost = [], 0
    chunks = reader.read(split, start, end)
    for chunk in chunks:
        lost += chunk.counts.lost
        names = zip(*(chunk.columns.column(name).to_pylist() for name in ("topic", "partition")), strict=True)
        assert {f"{topic}-{partition}" for topic, partition in names} <= {split}
        offsets, values = chunk.columns.column("offset").to_pylist(), chunk.columns.column("value").to_pylist()
        found += zip(offsets, values, strict=True)
        if limit is not None and len(found) >= limit:
            break
    chunks.close()
    return found[:limit], lost


def fill(kafka, topic, random):
    """Partitions of records, large ones, aborted transactions, deleted beginnings, and nothing; return their ends."""
    ends = {}
    for partition in range(PARTITIONS):
        end = 0
        for _ in range(random.randrange(4)):
            values = [b"%d" % random.randrange(10**6) for _ in range(random.randrange(1, 300))]
            if random.random() < 0.2:
                values.append(random.randbytes(random.randrange(1_000, LARGEST_VALUE)))
            if random.random() < 0.3:
                kafka.produce_transaction(topic, partition, values, commit=random.random() < 0.5)
                end += len(values) + 1
            else:
                end = kafka.produce(topic, partition, values)
        ends[f"{topic}-{partition}"] = end
    return ends


@pytest.mark.parametrize("seed", [1, *full(2, 3, 4, 5, 6)])
@pytest.mark.parametrize("level", ["read_committed", pytest.param("read_uncommitted", marks=pytest.mark.long)])
def test_generated_ranges_have_the_rows_that_a_consumer_for_each_partition_gives(
    kafka, opened, seed, level, monkeypatch
):
    random = Random(seed)
    topics = [kafka.create_topic(partitions=PARTITIONS) for _ in range(2)]
    ends = {split: end for topic in topics for split, end in fill(kafka, topic, random).items()}
    for split, end in ends.items():
        if random.random() < 0.2:
            kafka.delete_records(*parse_split(split), random.randint(0, end))
    readers = factory(kafka, ",".join(topics), kafka__isolation__level=level, failOnDataLoss="false")
    for _ in range(6):
        splits = random.sample(sorted(ends), random.randrange(consumers._FEW + 1, PARTITIONS + 1))
        ranges = []
        for split in splits:
            edges = sorted(random.randint(0, ends[split]) for _ in range(2))
            ranges.append((split, *(edges if random.random() < 0.7 else (0, ends[split]))))
        monkeypatch.setattr(grouped_ranges, "_MAX_RANGES", random.choice([1, 3, 64]))
        monkeypatch.setattr(grouped_ranges, "_MAX_BYTES", random.choice([1, 2_000, 8 << 20]))
        alone, ahead = readers.open(), readers.open()
        ahead.read_ahead(ranges)
        order = [each for each in ranges if random.random() < 0.9]  # some are not read
        if random.random() < 0.2:
            random.shuffle(order)
        for split, start, end in order:
            asked = random.randint(start, end) if random.random() < 0.1 else start  # not as it was said
            limit = random.randrange(1, 50) if random.random() < 0.2 else None
            assert rows(ahead, split, asked, end, limit) == rows(alone, split, asked, end, limit), (split, asked, end)
        ahead.close()
        alone.close()
    assert opened


def test_one_consumer_reads_all_partitions_again_and_again(kafka, opened):
    topic = kafka.create_topic(partitions=PARTITIONS)
    ends = {f"{topic}-{partition}": kafka.produce(topic, partition, [b"v"] * 50) for partition in range(PARTITIONS)}
    readers = factory(kafka, topic)
    for start in range(0, 50, 10):
        reader = readers.open()
        reader.read_ahead([(split, start, start + 10) for split in ends])
        for split in ends:
            found, _ = rows(reader, split, start, start + 10)
            assert [offset for offset, _ in found] == list(range(start, start + 10))
        reader.close()
    assert len(opened) == 1
    assert not any(key[1] == topic for key in consumers._partition_pool)


def test_few_partitions_have_consumers_of_their_own(kafka, opened):
    topic = kafka.create_topic(partitions=2)
    kafka.produce(topic, 0, [b"v"])
    reader = factory(kafka, topic).open()
    reader.read_ahead([(f"{topic}-0", 0, 1), (f"{topic}-1", 0, 0)])
    assert rows(reader, f"{topic}-0", 0, 1) == ([(0, b"v")], 0)
    assert not opened


@pytest.mark.parametrize("setting", ["max.partition.fetch.bytes", "queued.min.messages"])
def test_a_size_that_the_user_gives_counts(kafka, opened, setting):
    topic = kafka.create_topic(partitions=8)
    ends = {f"{topic}-{partition}": kafka.produce(topic, partition, [b"v"]) for partition in range(8)}
    reader = factory(kafka, topic, **{f"kafka.{setting}": "100000"}).open()
    reader.read_ahead([(split, 0, 1) for split in ends])
    assert [rows(reader, split, 0, 1) for split in ends] == [([(0, b"v")], 0)] * 8
    reader.close()
    assert not opened


def topic_without_its_beginning(kafka):
    """A topic of 8 partitions of 20 records, of which partition 5 lost the first 15; its splits."""
    topic = kafka.create_topic(partitions=8)
    splits = [f"{topic}-{partition}" for partition in range(8)]
    for partition in range(8):
        kafka.produce(topic, partition, [b"v"] * 20)
    kafka.delete_records(topic, 5, 15)
    return topic, splits


def read_ahead(readers, ranges):
    """The rows of some ranges, read in their order, by their split."""
    reader = readers.open()
    reader.read_ahead(ranges)
    try:
        return {split: rows(reader, split, start, end) for split, start, end in ranges}
    finally:
        reader.close()


def test_lost_records_are_an_error_that_names_the_place(kafka, opened):
    topic, splits = topic_without_its_beginning(kafka)
    wanted = rf"topic '{topic}', partition 5: offset 0 is gone; the log now holds \[15, 20\)"
    with pytest.raises(DataLossError, match=wanted):
        read_ahead(factory(kafka, topic), [(split, 0, 20) for split in splits])
    assert opened
    assert not len(consumers._ahead_pool)


def test_lost_records_are_counted_where_that_is_allowed(kafka, opened):
    topic, splits = topic_without_its_beginning(kafka)
    found = read_ahead(factory(kafka, topic, failOnDataLoss="false"), [(split, 0, 20) for split in splits])
    assert found.pop(f"{topic}-5") == ([(offset, b"v") for offset in range(15, 20)], 15)
    assert all(each == ([(offset, b"v") for offset in range(20)], 0) for each in found.values())
    assert opened


def test_a_topic_that_was_deleted_meanwhile_is_data_loss_and_its_consumer_is_not_used_again(kafka, opened):
    topic = kafka.create_topic(partitions=8)
    ends = {f"{topic}-{partition}": kafka.produce(topic, partition, [b"v"] * 5) for partition in range(8)}
    kafka.delete_topic(topic)
    with pytest.raises(DataLossError, match="does not exist any more"):
        read_ahead(factory(kafka, topic), [(split, 0, 5) for split in ends])
    assert opened
    assert not len(consumers._ahead_pool)


@pytest.fixture
def asked_ids(monkeypatch):
    """The topics whose ids are asked for, in order."""
    found = []

    def ask(config, topic):
        found.append(topic)
        return current_topic_id(config, topic)

    monkeypatch.setattr(fetcher, "current_topic_id", ask)
    return found


def planned(kafka, values, partitions=8, **options):
    """A topic with these values in each partition; it, the ranges, and readers that know its id."""
    topic = kafka.create_topic(partitions=partitions)
    ranges = [(f"{topic}-{n}", 0, kafka.produce(topic, n, values)) for n in range(partitions)]
    readers = factory(kafka, topic, **options)
    log = LogIdentity(id=current_topic_id(readers.settings.config, topic))
    assert log.id is not None
    return topic, ranges, readers.in_logs({split: log for split, _, _ in ranges})


def recreate(kafka, topic):
    """Delete it, and let it have other and more records."""
    kafka.recreate_topic(topic, partitions=8)
    for partition in range(8):
        kafka.produce(topic, partition, [b"new"] * 30)


def test_the_id_of_a_topic_is_asked_for_once_in_a_group(kafka, opened, asked_ids):
    topic, ranges, readers = planned(kafka, [b"v"] * 20)
    assert set(map(str, read_ahead(readers, ranges).values())) == {str(([(n, b"v") for n in range(20)], 0))}
    assert asked_ids == [topic]
    assert opened


def test_the_id_of_a_topic_is_asked_for_after_each_list_of_a_long_range(kafka, opened, asked_ids):
    _, ranges, readers = planned(kafka, [b"v" * 900_000] * 20, partitions=5)
    assert all(len(found) == 20 for found, _ in read_ahead(readers, ranges).values())
    assert len(asked_ids) >= 2 * 5
    assert opened


def test_a_topic_that_was_recreated_meanwhile_is_not_read_as_the_old_one(kafka, opened, asked_ids):
    topic, ranges, readers = planned(kafka, [b"old"] * 5)
    recreate(kafka, topic)
    with pytest.raises(DataLossError, match="partition 0: the topic was deleted and created"):
        read_ahead(readers, ranges)
    assert asked_ids == [topic]
    assert not len(consumers._ahead_pool)
    assert opened


def test_all_records_of_a_recreated_topic_are_lost_where_that_is_allowed(kafka, opened, asked_ids):
    topic, ranges, readers = planned(kafka, [b"old"] * 5, failOnDataLoss="false")
    recreate(kafka, topic)
    assert list(read_ahead(readers, ranges).values()) == [([], 5)] * 8
    assert asked_ids == [topic]
    assert not len(consumers._ahead_pool)
    assert opened


@pytest.mark.parametrize("partition", [0, 3, 7])
def test_a_range_that_is_lost_as_a_whole_changes_no_other_of_its_group(kafka, opened, partition):
    _, ranges, readers = planned(kafka, [b"v"] * 20, failOnDataLoss="false")
    lost = ranges[partition][0]
    kafka.delete_records(*parse_split(lost), 20)
    found = read_ahead(readers, ranges)
    assert found.pop(lost) == ([], 20)
    assert list(found.values()) == [([(n, b"v") for n in range(20)], 0)] * 7
    assert opened


def test_a_recreated_topic_without_its_beginning_loses_each_offset_once(kafka, opened):
    topic, ranges, readers = planned(kafka, [b"old"] * 20, failOnDataLoss="false")
    recreate(kafka, topic)
    for partition in range(8):
        kafka.delete_records(topic, partition, 5)
    assert list(read_ahead(readers, ranges).values()) == [([], 20)] * 8
    assert opened


def test_a_group_has_few_records_and_bytes_however_small_their_values(kafka, opened, monkeypatch):
    monkeypatch.setattr(grouped_ranges, "_MAX_BYTES", 10_000)
    groups = []
    monkeypatch.setattr(grouped_ranges, "_verify", lambda fetchers: groups.append(len(list(fetchers))))
    _, ranges, readers = planned(kafka, [(b"k" * 100, b"v", 1)] * 20)
    assert all(len(found) == 20 for found, _ in read_ahead(readers, ranges).values())
    assert groups == [5, 3]
    monkeypatch.setattr(grouped_ranges, "_MAX_BYTES", 8 << 20)
    monkeypatch.setattr(grouped_ranges, "_MAX_RECORDS", 50)
    assert all(len(found) == 20 for found, _ in read_ahead(readers, ranges).values())
    assert groups == [5, 3, 3, 3, 2]
    assert opened


def test_where_nothing_can_be_fetched_ahead_a_group_is_one_range(kafka, monkeypatch, asked_ids):
    """Each range has a consumer of the pool then, which may be open once at a time."""
    monkeypatch.setattr(consumers.ReadAhead, "take", lambda *_: None)
    topic, ranges, readers = planned(kafka, [b"v"] * 20)
    assert set(map(str, read_ahead(readers, ranges).values())) == {str(([(n, b"v") for n in range(20)], 0))}
    assert asked_ids == [topic] * 8


def test_ranges_that_were_fetched_and_not_read_leave_nothing_assigned(kafka, opened):
    _, ranges, readers = planned(kafka, [b"v"] * 20)
    reader = readers.open()
    reader.read_ahead(ranges)
    assert len(rows(reader, *ranges[0], limit=3)[0]) == 3
    reader.close()
    assert read_ahead(readers, ranges)[ranges[3][0]] == ([(n, b"v") for n in range(20)], 0)
    assert len(opened) == 1


def test_a_broker_that_is_killed_costs_nothing_once_it_is_back(own_kafka, opened, monkeypatch):
    monkeypatch.setattr(grouped_ranges, "_MAX_RANGES", 3)
    topic = own_kafka.create_topic(partitions=PARTITIONS)
    values = [b"%d" % n for n in range(2_000)]
    splits = {f"{topic}-{partition}": own_kafka.produce(topic, partition, values) for partition in range(PARTITIONS)}
    reader = factory(own_kafka, topic).open()
    reader.read_ahead([(split, 0, 2_000) for split in splits])
    found = [rows(reader, split, 0, 2_000) for split in list(splits)[:3]]
    own_kafka.kill()
    own_kafka.start()
    found += [rows(reader, split, 0, 2_000) for split in list(splits)[3:]]
    assert found == [(list(enumerate(values)), 0)] * PARTITIONS
    reader.close()
    assert len(opened) == 1


def test_a_broker_that_does_not_come_back_is_an_error_within_the_poll_timeout(own_kafka, opened):
    topic = own_kafka.create_topic(partitions=PARTITIONS)
    splits = {f"{topic}-{partition}": own_kafka.produce(topic, partition, [b"v"]) for partition in range(PARTITIONS)}
    options = {"kafkaConsumer.pollTimeoutMs": "3000", "kafka__default__api__timeout__ms": "2000"}
    reader = factory(own_kafka, topic, **options).open()
    own_kafka.kill()
    reader.read_ahead([(split, 0, 1) for split in splits])
    began = time.monotonic()
    with pytest.raises(SourceUnavailable, match="partition 0"):
        rows(reader, f"{topic}-0", 0, 1)
    assert time.monotonic() - began < 20
    reader.close()
    assert opened


def test_tasks_in_several_threads_have_consumers_of_their_own(kafka, opened):
    topic = kafka.create_topic(partitions=PARTITIONS)
    splits = {f"{topic}-{partition}": kafka.produce(topic, partition, [b"v"] * 500) for partition in range(PARTITIONS)}
    readers, found = factory(kafka, topic), []

    def run():
        for _ in range(5):
            reader = readers.open()
            reader.read_ahead([(split, 0, 500) for split in splits])
            found.extend(len(rows(reader, split, 0, 500)[0]) for split in splits)
            reader.close()

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [500] * (3 * 5 * PARTITIONS)


def test_records_that_were_left_over_serve_a_reader_of_fewer_columns(kafka):
    topic = kafka.create_topic()
    split, end = f"{topic}-0", kafka.produce(topic, 0, [(b"k", b"%d" % n, 1) for n in range(100)])
    readers = factory(kafka, topic)
    first = readers.open()
    chunks = first.read(split, 0, 60)
    assert next(chunks).columns.num_rows == 60
    chunks.close()
    first.close()
    second = readers.open(only=frozenset({"value"}))
    values = [value for chunk in second.read(split, 10, end) for value in chunk.columns.column("value").to_pylist()]
    assert values == [b"%d" % n for n in range(10, 100)]
