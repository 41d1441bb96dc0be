"""The texts on the wire between tasks, planners and the coordinator, and in checkpoints: byte for byte as released.

Names in the code may change; these texts may not: the checkpoint of an older version must load, dashboards read Spark's
progress, and a worker that was started with an older file must still be understood.
"""

from __future__ import annotations

import json

import pytest

from datasources.source.api.split import LogIdentity, SplitId, SplitProgress
from datasources.source.checkpoint.load_gate_state import GateState, LoadState
from datasources.source.checkpoint.offset import Identity, Offset
from datasources.source.coordination.client import CoordinatorLink
from datasources.source.coordination.registry import SourceRegistry
from datasources.source.coordination.reports import SplitReport
from datasources.source.load_gate.gate_protocol import LoadGateRequest, LoadReport
from datasources.source.planning.summary import SourceInfo, Totals, summarise
from datasources.source.watermarks.source_status import SourceStatus
from watermark import ManualClock

STATUS = SourceStatus(
    round=3,
    group="g",
    time_type="local",
    planned_minimum_ms=10,
    guaranteed_minimum_ms=20,
    is_idle=True,
    is_finished=False,
    is_processing=False,
    watermark_ms=7,
)
STATUS_TEXT = (
    '{"round":3,"group":"g","time_type":"local","floor_ms":10,"reach_ms":20,"is_idle":true,"is_finished":false,'
    '"is_processing":false,"watermark_ms":7}'
)
LOAD = LoadReport(name="b", is_loaded=False, is_working=True, since_ms=5, unread=6, snapshot={"rows": 1}, is_stuck=True)
LOAD_TEXT = (
    '{"name":"b","is_loaded":false,"is_working":true,"since":5,"unread":6,"snapshot":{"rows":1},"is_stuck":true}'
)
REPORT = SplitReport(
    sequence=1,
    split=SplitId("a-0"),
    position=9,
    watermark_ms=8,
    last_row_watermark_ms=7,
    next_ms=6,
    rows=5,
    late_rows=4,
    max_lateness_ms=3,
    null_rowtime_rows=2,
    ahead_rows=1,
    bad=11,
    null_value=12,
    lost=13,
    dead_letters=14,
    attribute_watermarks_ms=(8, None),
    note="n",
    server="s",
)
REPORT_TEXT = (
    '{"sequence":1,"split":"a-0","position":9,"watermark_ms":8,"stamp_ms":7,"next_ms":6,"rows":5,"late_rows":4,'
    '"max_lateness_ms":3,"null_rowtime_rows":2,"ahead_rows":1,"bad":11,"null_value":12,"lost":13,"dead_letters":14,"parts_ms":[8,null],'
    '"note":"n","server":"s"}'
)
OFFSET = Offset(
    sequence=4,
    run=2,
    splits=(
        SplitProgress(
            split=SplitId("a-0"),
            start=5,
            end=9,
            watermark_ms=100,
            known_at=3,
            moved_ms=50,
            limit=12,
            processing_start=8,
            attribute_watermarks_ms=(100, 200),
            log=LogIdentity("log", 2, 1),
        ),
    ),
    combined_ms=90,
    emitted_watermark_ms=95,
    ceiling_ms=1_000,
    allowed_ms=500,
    is_processing=False,
    identity=Identity(strategy="s", schema="c", subscription="t", isolation="i"),
    state={"x": 1},
    gate=GateState(since_ms=1, opened=2),
    load=LoadState(since_ms=3, loaded=None, ends={SplitId("a-0"): 7}),
    dead_letters="d",
)
OFFSET_TEXT = (
    '{"allowed":500,"ceiling":1000,"combined":90,"dead_letters":"d","from":[5,0],"hold":{"released":2,"since":1},"isolation":"i",'
    '"lag":[2,0],"limit":[12,0],"load":{"ends":[7,0],"loaded":null,"since":3,"splits":[["a",[[0,0]]]]},'
    '"logs":{"epoch":[2,0],"ids":["log"],"of":[0,0],"start":[1,0]},"moved":[50,0],"parts":[[100,0],[200,0]],'
    '"processing":false,"rows":[4,0],"run":2,"schema":"c","seq":4,"splits":[["a",[[0,0]]]],"stamped":95,"state":{"x":1},'
    '"status":{},"strategy":"s","subscription":"t","turn":[8,0],"v":2,"wm":[100,0]}'
)
PROGRESS_TEXT = (
    '{"late_rows":0,"max_lateness_ms":0,"null_rowtime_rows":0,"ahead_rows":0,"bad_records":0,"dead_letters":0,"null_values":0,'
    '"lost_positions":0,"time":110,"batch":4,"watermark":90,"status":"active","max_allowed":120,"splits":[{"split":"a-0",'
    '"position":9,"lag":11,"watermark":100,"watermark_lag":10,"status":"active","idle_since":null,"paused_since":null,'
    '"unanswered_since":null,"unanswered_reason":null,"drift":20,"late_rows":0,"max_lateness_ms":0,"dead_letters":0}],'
    '"split_count":1,"unanswered_splits":0,"minOffsetsBehindLatest":11,"maxOffsetsBehindLatest":11,"avgOffsetsBehindLatest":11.0}'
)


def text(value):
    return json.dumps(value, separators=(",", ":"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [(STATUS, STATUS_TEXT), (LOAD, LOAD_TEXT), (REPORT, REPORT_TEXT), (OFFSET, OFFSET_TEXT)],
    ids=["status", "load", "report", "offset"],
)
def test_a_value_has_its_released_text_and_is_read_from_it(value, expected):
    assert text(value.to_json()) == expected
    assert type(value).from_json(json.loads(expected)) == value


def test_the_progress_of_a_source_has_its_released_text():
    info = SourceInfo(
        time_ms=110,
        is_idle=False,
        max_allowed_ms=120,
        group_minimum_ms=80,
        ends={SplitId("a-0"): 20},
        idle_since_ms={},
        paused_since_ms={},
    )
    assert text(summarise(OFFSET, Totals(), info, max_splits=10)) == PROGRESS_TEXT


class RecordingClient:
    """Answers from a registry, and keeps the text of both directions."""

    def __init__(self) -> None:
        self.registry = SourceRegistry(ManualClock(0))
        self.texts = []

    def ask(self, message):
        self.texts.append(text(message))
        answer = self.registry.answer(json.loads(self.texts[-1]))
        self.texts.append(text(answer))
        return answer


def test_requests_and_answers_have_their_released_texts():
    client = RecordingClient()
    client.registry.expect_builds("r", {"b": 1})
    for source in ("one", "two"):
        client.ask({"ask": "report", "source": source, "query": "q", "run": "r", "batch": 0, "reports": []})
    client.texts.clear()
    build, probe = CoordinatorLink(client, "one", ManualClock(0)), CoordinatorLink(client, "two", ManualClock(0))
    build.exchange(STATUS)
    probe.exchange(STATUS)
    build.renew(STATUS)
    build.exchange_gate(LoadGateRequest(load=LOAD))
    probe.exchange_gate(LoadGateRequest(until=("b",)))
    probe.renew_gate(LoadGateRequest(until=("b",)))
    probe.take(1)
    probe.publish("topic", {"x": 1})
    expected = f"""
        {{"ask":"exchange","source":"one","says":{STATUS_TEXT}}}
        {{"peers":[],"is_query_known":true}}
        {{"ask":"exchange","source":"two","says":{STATUS_TEXT}}}
        {{"peers":[{{"source":"one","says":{STATUS_TEXT},"same_query":true}}],"is_query_known":true}}
        {{"ask":"renew","source":"one","says":{STATUS_TEXT}}}
        {{"ok":true}}
        {{"ask":"hold","source":"one","until":[],"load":{LOAD_TEXT}}}
        {{"is_query_known":true,"is_awaited":false,"builds":[],"expected":{{"b":1}}}}
        {{"ask":"hold","source":"two","until":["b"],"load":null}}
        {{"is_query_known":true,"is_awaited":false,"builds":[{{"says":{LOAD_TEXT},"is_alive":true}}],"expected":{{"b":1}}}}
        {{"ask":"hold","source":"two","until":["b"],"load":null,"renews":true}}
        {{"is_query_known":true,"is_awaited":false,"builds":[{{"says":{LOAD_TEXT},"is_alive":true}}],"expected":{{"b":1}}}}
        {{"ask":"take","source":"two","sequence":1}}
        {{"reports":[],"conflict":null,"has_state":null,"batch":0}}
        {{"ask":"table","source":"two","name":"topic","table":{{"x":1}}}}
        {{"ok":true}}
    """
    assert client.texts == [line.strip() for line in expected.strip().splitlines()]


def test_members_that_cannot_be_compared_are_answered_with_the_released_text():
    client = RecordingClient()
    client.ask({"ask": "exchange", "source": "one", "says": SourceStatus(group="g").to_json()})
    client.ask({"ask": "exchange", "source": "two", "says": SourceStatus(group="g", time_type="local").to_json()})
    assert client.texts[-1] == '{"misfit":"instant","peers":[]}'
