"""What alignment asks of Kafka: looking ahead, ranges that stop early, compacted topics."""

from __future__ import annotations

import datetime as dt
import json
import logging
from collections.abc import Iterable
from contextlib import closing, contextmanager
from random import Random
from threading import Event

import pyarrow as pa
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasources.embedded import EmbeddedKafka
from datasources.errors import DataLossError, EnvironmentProblem, RecordError, SourceUnavailable
from datasources.kafka.client import consumers
from datasources.kafka.client.client_config import ClientConfig
from datasources.kafka.metadata.broker_metadata import BrokerMetadata
from datasources.kafka.metadata.subscriber import SubscribedTopics
from datasources.source.alignment.lookahead import ReaderLookahead, SupportsPeek
from datasources.source.api.reader import ReadCounts
from tests.support.forms import full
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of
from tests.support.kafka.kafka_server import KafkaServer, OwnKafka

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("native_first")]

BASE = 1_760_000_000_000
SCHEMA = "id BIGINT, ts TIMESTAMP"
SECOND = 1_000
CAREFUL = {"kafka__isolation.level": "read_committed"}
PROMPT = {"kafka__fetch.wait.max.ms": "5", "kafkaConsumer__pollTimeoutMs": "10000"}
# The broker's cleaner looks for work every 15 s by default; here it waits for nobody.
FAST_SETTINGS = {
    "log.cleaner.backoff.ms": "100",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "auto.create.topics.enable": "true",  # Kafka's own default, and not that of our brokers
}
COMPACTED = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.001",
    "segment.ms": "100",
    "min.compaction.lag.ms": "0",
    "delete.retention.ms": "0",
}


@pytest.fixture(scope="module")
def fast_broker():
    """A broker that compacts at once, knows permissions, and creates topics that are asked for."""
    try:
        with EmbeddedKafka(FAST_SETTINGS) as embedded:
            yield OwnKafka(embedded)
    except EnvironmentProblem as problem:
        pytest.skip(f"not run: needs an embedded broker: {problem.message.splitlines()[0]}")


def order(number: int, seconds: float) -> bytes:
    moment = dt.datetime.fromtimestamp(BASE / SECOND + seconds, dt.UTC)
    return json.dumps({"id": number, "ts": moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")}).encode()


def factory_of(kafka: KafkaServer, *topics: str, **options: object):
    given = {"format": "json", "schema": SCHEMA, "subscribe": ",".join(topics)} | options
    return scan_of(kafka.bootstrap_servers, **given).source.reader_factory()


def collected(chunks: Iterable) -> tuple[list, ReadCounts]:
    """What chunks say of their rows: position, values, place, what was left out before; and all that was left out."""
    rows, before = [], ReadCounts()
    for chunk in chunks:
        for number, values in enumerate(chunk.columns.to_pylist()):
            left_out = before + chunk.counts_before(number)
            rows.append((chunk.position(number), values, chunk.describe_row(number), left_out))
        before = before + chunk.counts
    return rows, before


def read_of(factory, split: str, start: int, end: int, only=None):
    reader = factory.open(only=only)
    return collected(reader.read(split, start, end))


def peek_of(factory, ranges, only):
    found: dict[str, list] = {split: [] for split in ranges}
    for split, chunk in factory.peek(ranges, only):
        found[split].append(chunk)
    return {split: collected(chunks) for split, chunks in found.items()}


def wait_until(condition, timeout_s: int = 60) -> None:
    pause = Event()
    for _ in range(timeout_s * 20):
        if condition():
            return
        pause.wait(0.05)
    raise AssertionError(f"not within {timeout_s} s")


# -- peek equals read ---------------------------------------------------------------------------------------------------

PARTITIONS = 5


@pytest.fixture(scope="module")
def mixed(kafka):
    """Two topics with everything that a log may hold, and the ends of their partitions."""
    random = Random(20)
    topics = [kafka.create_topic(partitions=PARTITIONS), kafka.create_topic(partitions=PARTITIONS)]
    for topic in topics:
        for partition in range(PARTITIONS):
            for _ in range(random.randint(1, 4)):
                kafka.produce(topic, partition, [some_record(random) for _ in range(random.randint(1, 60))])
                commit = random.random() < 0.5
                kafka.produce_transaction(topic, partition, [order(0, 0)] * random.randint(1, 3), commit=commit)
    metadata = BrokerMetadata(ClientConfig({"bootstrap.servers": kafka.bootstrap_servers}))
    with closing(metadata):
        ends = metadata.ends([(topic, n) for topic in topics for n in range(PARTITIONS)])
    return topics, {f"{topic}-{partition}": end for (topic, partition), end in ends.items()}


def some_record(random: Random):
    kind = random.random()
    if kind < 0.1:
        return b"k", None, BASE
    if kind < 0.2:
        return random.choice([b"{", b"null", b"", b'{"id": "x"}', b"\xff"])
    return order(random.randint(0, 99), random.uniform(-50, 50))


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("isolation", [*full({}), CAREFUL], ids=["uncommitted", "committed"])
@pytest.mark.parametrize("on_error", [*full("null"), "skip"])
def test_peek_gives_the_rows_of_read(kafka, mixed, isolation, on_error, data):
    topics, ends = mixed
    factory = factory_of(kafka, *topics, **{"format__on-error": on_error}, **isolation, **PROMPT)
    only = frozenset(data.draw(st.sampled_from([["ts"], ["id", "ts"], []])))
    splits = data.draw(st.lists(st.sampled_from(sorted(ends)), unique=True))
    ranges = {}
    for split in splits:
        start = data.draw(st.integers(0, ends[split]))
        ranges[split] = (start, data.draw(st.integers(start, min(ends[split], start + 70))))
    found = peek_of(factory, ranges, only)
    assert found == {split: read_of(factory, split, *bounds, only) for split, bounds in ranges.items()}


@pytest.mark.parametrize("isolation", [{}, *full(CAREFUL)], ids=["uncommitted", "committed"])
def test_peek_gives_the_rows_of_read_for_raw_columns(kafka, mixed, isolation):
    topics, ends = mixed
    factory = factory_of(kafka, *topics, format=None, schema=None, **isolation, **PROMPT)
    only = frozenset({"timestamp", "offset", "value"})
    for start in (0, 7):
        ranges = {split: (start, end) for split, end in ends.items() if start < end}
        found = peek_of(factory, ranges, only)
        assert found == {split: read_of(factory, split, *bounds, only) for split, bounds in ranges.items()}
        assert sum(len(rows) for rows, _ in found.values()) > 300


def test_a_bad_record_fails_its_task_and_not_the_planning(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [order(0, 0), b"{", order(2, 2)])
    factory = factory_of(kafka, topic)
    assert isinstance(factory, SupportsPeek)
    rows, left_out = peek_of(factory, {f"{topic}-0": (0, 3)}, frozenset({"ts"}))[f"{topic}-0"]
    assert ([position for position, *_ in rows], left_out.bad) == ([0, 2], 1)
    with pytest.raises(RecordError, match=f"topic '{topic}', partition 0, offset 1"):
        read_of(factory, f"{topic}-0", 0, 3)


@pytest.mark.slow
def test_candidates_of_many_partitions_are_those_of_their_records(kafka):
    topic = kafka.create_topic(partitions=30)
    for partition in range(30):
        kafka.produce(topic, partition, [order(n, partition * 100 + n) for n in range(80)])
    options = {"watermark__for": "ts", "watermark__as": "ts - INTERVAL '5' SECOND"}
    scan = scan_of(kafka.bootstrap_servers, subscribe=topic, format="json", schema=SCHEMA, **options)
    ahead = ReaderLookahead(scan.source.reader_factory(), scan.source.strategy)
    for start in (0, 16):
        found = ahead.candidates({f"{topic}-{n}": (start, start + 64) for n in range(30)}, None)
        for partition in range(30):
            candidates = found[f"{topic}-{partition}"]
            assert candidates.positions.tolist() == list(range(start, start + 64))
            first = BASE + (partition * 100 + start - 5) * SECOND
            assert candidates.values_ms.tolist() == [first + n * SECOND for n in range(64)]


@pytest.mark.slow
def test_large_records_and_batches_are_peeked_at(kafka):
    topic = kafka.create_topic(partitions=20)
    pad = "x" * 40_000
    for partition in range(20):
        records = [json.dumps({"id": n, "pad": pad}).encode() for n in range(4)]
        kafka.produce(topic, partition, records)
    factory = factory_of(kafka, topic)
    for _ in range(2):
        found = peek_of(factory, {f"{topic}-{n}": (1, 4) for n in range(20)}, frozenset({"id"}))
        for partition in range(20):
            rows, _ = found[f"{topic}-{partition}"]
            assert [(position, values["id"]) for position, values, *_ in rows] == [(1, 1), (2, 2), (3, 3)]


@pytest.mark.slow
def test_a_broker_that_restarts_costs_the_next_peek_nothing(own_kafka):
    topic = own_kafka.create_topic(partitions=2)
    own_kafka.produce(topic, 0, [order(0, 0)])
    factory = factory_of(own_kafka, topic)
    assert len(peek_of(factory, {f"{topic}-0": (0, 1)}, frozenset({"id"}))[f"{topic}-0"][0]) == 1
    own_kafka.kill()
    own_kafka.start()
    own_kafka.produce(topic, 1, [order(1, 1)])
    ranges = {f"{topic}-0": (0, 1), f"{topic}-1": (0, 1)}
    assert [len(rows) for rows, _ in peek_of(factory, ranges, frozenset({"id"})).values()] == [1, 1]


# -- positions that are gone --------------------------------------------------------------------------------------------


def test_deleted_records_are_data_loss_or_counted(kafka):
    topic = kafka.create_topic(partitions=2)
    for partition in range(2):
        kafka.produce(topic, partition, [order(n, n) for n in range(6)])
    kafka.delete_records(topic, 1, 4)
    ranges = {f"{topic}-0": (0, 6), f"{topic}-1": (1, 6)}
    only = frozenset({"id"})
    with pytest.raises(
        DataLossError, match=rf"topic '{topic}', partition 1: offset 1 is gone; the log now holds \[4, 6\)"
    ):
        peek_of(factory_of(kafka, topic), ranges, only)
    tolerant = factory_of(kafka, topic, failOnDataLoss="false")
    found = peek_of(tolerant, ranges, only)
    assert found == {split: read_of(tolerant, split, *bounds, only) for split, bounds in ranges.items()}
    rows, left_out = found[f"{topic}-1"]
    assert ([position for position, *_ in rows], left_out.lost) == ([4, 5], 3)


def test_a_range_that_is_gone_is_counted_once(kafka):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [order(n, n) for n in range(9)])
    kafka.delete_records(topic, 0, 7)
    factory = factory_of(kafka, topic, failOnDataLoss="false")
    lost = [read_of(factory, f"{topic}-0", start, end)[1].lost for start, end in ((0, 2), (2, 5), (5, 9))]
    assert lost == [2, 3, 2]
    assert peek_of(factory, {f"{topic}-0": (2, 5)}, frozenset({"id"}))[f"{topic}-0"] == ([], ReadCounts(lost=3))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["peek", "read"])
def test_a_topic_that_is_deleted_meanwhile_is_a_clear_error_soon(kafka, way):
    topic = kafka.create_topic(partitions=3)
    for partition in range(3):
        kafka.produce(topic, partition, [order(n, n) for n in range(5)])
    strict, tolerant = factory_of(kafka, topic), factory_of(kafka, topic, failOnDataLoss="false")
    ranges = {f"{topic}-{n}": (0, 5) for n in range(3)}

    def look(factory):
        if way == "peek":
            return peek_of(factory, ranges, frozenset({"id"}))
        return {split: read_of(factory, split, *bounds) for split, bounds in ranges.items()}

    assert [len(rows) for rows, _ in look(strict).values()] == [5, 5, 5]
    kafka.delete_topic(topic)
    with pytest.raises((DataLossError, SourceUnavailable), match=f"'{topic}', partition ."):
        look(strict)  # the poll timeout is 120 s: more than this test has
    assert {(len(rows), left_out.lost) for rows, left_out in look(tolerant).values()} == {(0, 5)}


@pytest.mark.parametrize("way", ["peek", "read"])
def test_a_topic_that_was_created_again_is_a_clear_error_where_its_log_is_shorter(kafka, way):
    topic = kafka.create_topic(partitions=2)
    for partition in range(2):
        kafka.produce(topic, partition, [order(n, n) for n in range(50)])
    factory = factory_of(kafka, topic)

    def look(start, end):
        ranges = {f"{topic}-{n}": (start, end) for n in range(2)}
        if way == "peek":
            return peek_of(factory, ranges, frozenset({"id"}))
        return {split: read_of(factory, split, *bounds) for split, bounds in ranges.items()}

    look(0, 20)
    forget()
    create_again(kafka, topic, partitions=2)
    kafka.produce(topic, 0, [order(n + 100, n) for n in range(3)])
    with pytest.raises(
        DataLossError, match=rf"topic '{topic}', partition .: offset 20 is gone; the log now holds \[0,"
    ):
        look(20, 40)
    kafka.produce(topic, 1, [order(n + 100, n) for n in range(3)])
    assert [[values["id"] for _, values, *_ in rows] for rows, _ in look(0, 3).values()] == [[100, 101, 102]] * 2


def create_again(kafka: KafkaServer, topic: str, *, partitions: int) -> None:
    kafka.delete_topic(topic)
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})

    def is_created() -> bool:
        """A topic's name is free a moment after the deletion is confirmed."""
        future = admin.create_topics([NewTopic(topic, num_partitions=partitions)])[topic]
        return future.exception() is None

    wait_until(is_created)
    wait_until(lambda: len(admin.list_topics(topic, timeout=10).topics[topic].partitions) == partitions)


# -- ranges that stop early ---------------------------------------------------------------------------------------------


@contextmanager
def counted(monkeypatch):
    """Count the consumers that are opened in one way or the other."""
    opened = []
    real, native = consumers.Consumer, consumers.open_native
    with monkeypatch.context() as patch:
        patch.setattr(consumers, "Consumer", lambda given: opened.append(given) or real(given))
        patch.setattr(consumers, "open_native", lambda given, *rest: opened.append(given) or native(given, *rest))
        yield opened


def stopped_at(factory, split: str, start: int, end: int, stop: int) -> list[int]:
    """Read as an aligned task does: close the rows where one at or behind `stop` shows up."""
    positions = []
    with closing(factory.open().read(split, start, end)) as chunks:
        for chunk in chunks:
            for row in range(chunk.columns.num_rows):
                if chunk.position(row) >= stop:
                    return positions
                positions.append(chunk.position(row))
    return positions


@pytest.mark.parametrize("isolation", [*full({}), CAREFUL], ids=["uncommitted", "committed"])
def test_a_range_that_stops_anywhere_goes_on_there_with_the_same_consumer(kafka, monkeypatch, isolation):
    topic = kafka.create_topic()
    for n in range(4):
        kafka.produce(topic, 0, [order(n, n), b"{", order(n, n)])
        kafka.produce_transaction(topic, 0, [order(n, n)], commit=n % 2 == 0)
    split, end = f"{topic}-0", 20
    factory = factory_of(kafka, topic, **{"format__on-error": "skip"}, **isolation, **PROMPT)
    undisturbed = stopped_at(factory, split, 0, end, end)
    assert len(undisturbed) == (12 if not isolation else 10)
    with counted(monkeypatch) as opened:
        for stop in [*undisturbed, end]:
            assert stopped_at(factory, split, 0, end, stop) == [p for p in undisturbed if p < stop]
            assert stopped_at(factory, split, stop, end, end) == [p for p in undisturbed if p >= stop]
    assert opened == []


def test_a_stopped_range_goes_on_without_a_request(kafka, monkeypatch):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [order(n, n) for n in range(300)])
    factory = factory_of(kafka, topic)
    moves = []
    real = consumers.PartitionConsumer.move
    monkeypatch.setattr(
        consumers.PartitionConsumer, "move", lambda self, to, _epoch=None: moves.append(to) or real(self, to)
    )
    found = []
    for start in range(0, 300, 50):
        found += stopped_at(factory, f"{topic}-0", start, 300, start + 50)
    assert found == list(range(300))
    assert moves == [0]


# -- what brokers say of topics -----------------------------------------------------------------------------------------


@pytest.fixture
def metadata(fast_broker):
    with closing(BrokerMetadata(ClientConfig({"bootstrap.servers": fast_broker.bootstrap_servers}))) as found:
        yield found


@pytest.mark.parametrize(
    ("policy", "expected"), [("delete", False), ("compact", True), ("compact,delete", True), (None, False)]
)
def test_a_compacted_topic_is_known_by_its_policy(fast_broker, metadata, policy, expected):
    topic = fast_broker.create_topic(config={} if policy is None else {"cleanup.policy": policy})
    assert metadata.is_compacted(topic) is expected


def test_a_topic_whose_configuration_may_not_be_read_is_taken_for_compacted(fast_broker, metadata, caplog):
    topic = fast_broker.create_topic()
    deny(fast_broker, topic, AclOperation.DESCRIBE_CONFIGS)
    with caplog.at_level(logging.WARNING, "datasources.kafka"):
        wait_until(lambda: metadata.is_compacted(topic))
        assert metadata.is_compacted(topic)
    [warning] = [record.getMessage() for record in caplog.records]
    assert topic in warning
    assert "Grant DESCRIBE_CONFIGS on the topic" in warning


def test_a_topic_that_is_gone_has_no_policy(metadata):
    with pytest.raises(SourceUnavailable, match="configuration of topic 'no-such-topic'.*UNKNOWN_TOPIC_OR_PART"):
        metadata.is_compacted("no-such-topic")


def test_asking_for_a_topic_does_not_create_it(fast_broker, metadata):
    with pytest.raises(SourceUnavailable, match="topic 'misspelled' does not exist"):
        metadata.partitions(SubscribedTopics(("misspelled",)))
    admin = AdminClient({"bootstrap.servers": fast_broker.bootstrap_servers})
    assert "misspelled" not in admin.list_topics(timeout=10).topics


def deny(fast_broker: KafkaServer, topic: str, operation: AclOperation) -> None:
    rules = [(AclOperation.ALL, AclPermissionType.ALLOW), (operation, AclPermissionType.DENY)]
    acls = [
        AclBinding(ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, "User:ANONYMOUS", "*", what, kind)
        for what, kind in rules
    ]
    with AdminClient({"bootstrap.servers": fast_broker.bootstrap_servers}) as admin:
        for future in admin.create_acls(acls).values():
            future.result()


# -- compaction ---------------------------------------------------------------------------------------------------------


def test_peek_gives_the_rows_of_read_where_compaction_left_gaps(fast_broker):
    topic = fast_broker.create_topic(config=COMPACTED)
    fill(fast_broker, topic, 0, [(b"k%d" % (n % 7), order(n, n)) for n in range(120)], at=0)
    factory = factory_of(fast_broker, topic)
    wait_until(lambda: len(read_anew(factory, topic)) < 60)
    random = Random(5)
    for _ in range(40):
        start, end = sorted(random.choices(range(121), k=2))
        found, undisturbed = between_cleanings(factory, topic, start, end)
        assert found == ([row for row in undisturbed if start <= row[0] < end], ReadCounts())


def read_anew(factory, topic: str):
    forget()
    return read_of(factory, f"{topic}-0", 0, 120)[0]


def between_cleanings(factory, topic: str, start: int, end: int):
    """Peek into a range, and read it and the whole log; none of it while the broker removes records."""
    for _ in range(20):
        before = read_anew(factory, topic)
        peeked = peek_of(factory, {f"{topic}-0": (start, end)}, frozenset({"id", "ts"}))[f"{topic}-0"]
        read = read_of(factory, f"{topic}-0", start, end)
        if before == read_anew(factory, topic):
            assert read == peeked
            return peeked, before
    raise AssertionError("the broker removed records again and again")


def fill(
    fast_broker: KafkaServer, topic: str, partition: int, records: Iterable[tuple[bytes, bytes]], *, at: int
) -> None:
    """Write records, each in a segment of its own: only what lies before the last segment is compacted.

    Segments end by the timestamps of records, which must grow: the first one is `at` seconds.
    """
    with Producer({"bootstrap.servers": fast_broker.bootstrap_servers}) as producer:
        for number, (key, value) in enumerate(records):
            producer.produce(topic, value, key, partition, timestamp=BASE + (at + number) * SECOND)
            assert producer.flush(30) == 0


def forget() -> None:
    """Close what this process has fetched: the next reader is in another one, and sees the log as it is."""
    consumers._partition_pool._close_all()


DRIFT_S = 10


def aligned_query(fast_broker: KafkaServer, topic: str) -> KafkaQuery:
    options = {
        "watermark__for": "ts",
        "watermark__as": "ts",
        "scan__watermark__alignment__group": "orders",
        "scan__watermark__alignment__max-drift": f"{DRIFT_S} s",
    }
    return KafkaQuery(scan_of(fast_broker.bootstrap_servers, subscribe=topic, format="json", schema=SCHEMA, **options))


def seconds_of(table: pa.Table) -> list[float]:
    """Event times of the records in a batch, as seconds since the base."""
    rows = table.filter(pa.compute.invert(table.column("_heartbeat")))
    return [time.timestamp() - BASE / SECOND for time in rows.column("ts").to_pylist()]


@pytest.mark.parametrize("report", ["arrives", *full("lost")])
def test_no_record_beyond_the_allowed_candidate_is_read_though_the_stopping_record_vanishes(fast_broker, report):
    """Split 1 runs ahead of split 0 and stops before its record of second 60, which compaction then removes."""
    topic = fast_broker.create_topic(partitions=2, config=COMPACTED)
    slow = [(b"s%d" % n, order(n, n)) for n in range(10)]
    fast = [(b"f1", order(100, 5)), (b"f2", order(101, 15)), (b"stop", order(102, 60)), (b"f3", order(103, 18))]
    fill(fast_broker, topic, 0, slow, at=0)
    fill(fast_broker, topic, 1, fast, at=0)
    query = aligned_query(fast_broker, topic)
    query.report_store.losing = report == "lost"
    allowed = 9 + DRIFT_S  # the slowest split's last record, once it was read
    first = drained(query)
    assert sorted(first) == sorted([*map(float, range(10)), 5.0, 15.0])
    last = query.offset

    factory = query.scan.source.reader_factory()
    fill(fast_broker, topic, 1, [(b"stop", order(104, 70)), (b"f4", order(105, 71)), (b"f5", order(106, 72))], at=10)
    wait_until(lambda: forget() or read_of(factory, f"{topic}-1", 2, 3)[0] == [])
    assert set(seconds_of(query.read(last))) <= set(first)  # a retry of the batch

    more = drained(query)
    assert more == [18.0]  # neither left out nor read twice
    assert max(first + more) <= allowed


def drained(query: KafkaQuery) -> list[float]:
    found = []
    while (table := query.batch()) is not None:
        found += seconds_of(table)
    return found
