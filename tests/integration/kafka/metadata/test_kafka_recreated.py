"""A topic that is created again, and a log that an election truncated, are not taken for the continuation of the old."""

from __future__ import annotations

import threading

import pytest

from datasources.errors import DataLossError
from datasources.kafka.reader import fetcher
from datasources.source.checkpoint.offset import Offset
from tests.support.forms import full
from tests.support.kafka.kafka_cluster import OpenCluster
from tests.support.kafka.kafka_scan import KafkaQuery, scan_of
from tests.support.kafka.kafka_ways import use

pytestmark = [pytest.mark.kafka]

OLD, NEW = 50, 120


@pytest.fixture(params=["native", *full("python")])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, ways: None) -> str:
    use(monkeypatch, request.param)
    return request.param


def recreate(kafka, topic, records):
    kafka.recreate_topic(topic)
    kafka.produce(topic, 0, records)


def numbered(prefix, count):
    return [f"{prefix}-{n}".encode() for n in range(count)]


def values(table):
    return [] if table is None else table.column("value").to_pylist()


def query_of(kafka, topic, **options):
    return KafkaQuery(scan_of(kafka.bootstrap_servers, subscribe=topic, **options))


def eventually(query, count):
    """The values of batches until there are so many; at most a minute."""
    found, pause = [], threading.Event()
    for _ in range(600):
        found += values(query.batch())
        if len(found) >= count:
            break
        pause.wait(0.1)
    return found


@pytest.mark.parametrize("count", [NEW, *full(OLD)], ids=["more", "as many"])
@pytest.mark.parametrize("restarts", [False, True], ids=["running", "restarted"])
def test_a_recreated_topic_stops_the_query_with_both_ids(kafka, way, count, restarts):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, numbered("old", OLD))
    query = query_of(kafka, topic)
    assert values(query.drain()) == numbered("old", OLD)
    before = query.offset.splits[0].log.id
    recreate(kafka, topic, numbered("new", count))
    if restarts:
        stopped, query = query.offset, query_of(kafka, topic)
        query.offset = Offset.from_json(stopped.to_json())
    with pytest.raises(DataLossError, match="deleted and created again [(]topic id ") as caught:
        eventually(query, 1)
    ids = query.planner._enumerator._metadata.topic_ids([topic], {})
    assert all(part in caught.value.message for part in (topic, before, ids[topic], "Set failOnDataLoss to false"))
    assert before != ids[topic]


@pytest.mark.parametrize("restarts", [*full(False), True], ids=["running", "restarted"])
def test_a_recreated_topic_is_read_from_its_beginning_where_loss_is_accepted(kafka, way, restarts, caplog):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, numbered("old", OLD))
    query = query_of(kafka, topic, failOnDataLoss=False)
    assert values(query.drain()) == numbered("old", OLD)
    recreate(kafka, topic, numbered("new", NEW))
    if restarts:
        stopped, query = query.offset, query_of(kafka, topic, failOnDataLoss=False)
        query.offset = Offset.from_json(stopped.to_json())
    assert eventually(query, NEW) == numbered("new", NEW)
    assert "data_loss accepted=true" in caplog.text
    assert query.drain().num_rows == 0


@pytest.mark.parametrize("accepts", [False, True], ids=["fails", "goes on"])
def test_a_topic_that_is_recreated_after_its_range_was_planned_is_not_read_as_the_old_one(kafka, way, accepts):
    """The driver cannot see it: the task asks for the id after it fetched, before it gives away what it read."""
    topic = kafka.create_topic()
    kafka.produce(topic, 0, numbered("old", OLD))
    query = query_of(kafka, topic, failOnDataLoss=not accepts)
    planned = Offset.from_json(query.planner.plan(query.offset).to_json())
    assert planned.splits[0].end == OLD
    recreate(kafka, topic, numbered("new", NEW))
    if not accepts:
        with pytest.raises(DataLossError, match=f"topic '{topic}', partition 0: the topic was deleted and created"):
            query.read(planned)
        return
    assert query.read(planned).num_rows == 0
    query.offset = planned
    assert eventually(query, NEW) == numbered("new", NEW)


def test_an_offset_without_ids_gets_them_and_loses_nothing(kafka, way):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, numbered("old", OLD))
    query = query_of(kafka, topic)
    query.drain()
    raw = {key: value for key, value in query.offset.to_json().items() if key != "logs"}
    query = query_of(kafka, topic)
    query.offset = Offset.from_json(raw)
    assert query.offset.splits[0].log is None
    kafka.produce(topic, 0, numbered("more", 3))
    assert eventually(query, 3) == numbered("more", 3)
    assert query.offset.splits[0].log.id is not None


def test_brokers_without_ids_are_read_as_before(kafka, way, monkeypatch):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, numbered("old", OLD))
    known = query_of(kafka, topic).planner._enumerator._metadata.topic_ids([topic], {})
    monkeypatch.setattr("datasources.kafka.metadata.topic_ids._NO_ID", known[topic])
    monkeypatch.setattr(fetcher, "current_topic_id", lambda *_: pytest.fail("no id was planned"))
    query = query_of(kafka, topic)
    assert values(query.drain()) == numbered("old", OLD)
    assert query.offset.splits[0].log.id is None


@pytest.mark.long
@pytest.mark.parametrize("accepts", [False, *full(True)], ids=["fails", "goes on"])
@pytest.mark.parametrize("restarts", [False, *full(True)], ids=["running", "restarted"])
def test_a_log_that_an_unclean_election_truncated_is_noticed_when_it_has_grown_again(
    own_cluster: OpenCluster, way, restarts, accepts, caplog
):
    cluster = own_cluster(unclean_election=True)
    topic = cluster.create_assigned_topic([[1, 2]])
    cluster.produce(topic, 0, numbered("both", 5))
    query = query_of(cluster, topic, failOnDataLoss=not accepts)
    assert values(query.drain()) == numbered("both", 5)
    cluster.kill(2)
    cluster.produce(topic, 0, numbered("lost", 10))
    assert eventually(query, 10) == numbered("lost", 10)
    cluster.kill(1)
    cluster.start(2)
    cluster.wait_for_leader(topic, 0, lambda leader: leader == 2)
    cluster.produce(topic, 0, numbered("after", 20))
    cluster.start(1)
    if restarts:
        use_no_kept_consumer()
        stopped, query = query.offset, query_of(cluster, topic, failOnDataLoss=not accepts)
        query.offset = Offset.from_json(stopped.to_json())
    if not accepts:
        with pytest.raises(DataLossError, match="its log was truncated below offset 15"):
            eventually(query, 1)
        return
    assert eventually(query, 10) == numbered("after", 20)[10:]
    assert "data_loss accepted=true" in caplog.text


def use_no_kept_consumer():
    """What a process that begins has."""
    from datasources.kafka.client import consumers

    consumers._partition_pool._close_all()
