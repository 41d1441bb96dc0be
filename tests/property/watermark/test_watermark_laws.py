"""Laws of the algebra that hold for any input."""

from __future__ import annotations

import itertools
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from watermark import (
    MIN_WATERMARK,
    EmitStrategy,
    SplitStatus,
    ms_to_us,
    us_to_ms,
)
from watermark.reference import (
    IdlenessTimer,
    PartialWatermark,
    ReaderWatermarks,
    RecordingOutput,
    SplitAlignment,
    Watermark,
    WatermarkStrategy,
    group_minimum,
    parse_timeline,
    replay,
)

_SETTINGS = settings(max_examples=150, deadline=None)
_TIMES = st.integers(-20, 20)
_PARTIALS = st.builds(
    PartialWatermark,
    watermark=st.builds(Watermark, _TIMES | st.just(MIN_WATERMARK)),
    status=st.sampled_from(SplitStatus),
)


@_SETTINGS
@given(rows=st.lists(st.tuples(st.sampled_from("ABC"), _TIMES), max_size=30), data=st.data())
def test_the_interleaving_of_splits_does_not_change_the_final_watermark(rows, data):
    shuffled = data.draw(st.permutations(rows))
    # the order within each split stays
    queues = {split_id: iter([row for row in rows if row[0] == split_id]) for split_id in "ABC"}
    interleaved = [next(queues[split_id]) for split_id, _ in shuffled]
    finals = []
    for order in (rows, interleaved):
        reader = ReaderWatermarks(WatermarkStrategy(emit=EmitStrategy.ON_EVENT), RecordingOutput())
        for split_id in "ABC":
            reader.add_split(split_id, now_ns=0)
        for split_id, value in order:
            reader.on_event(split_id, value, now_ns=0)
        finals.append(reader.combination)
    assert finals[0] == finals[1]


@_SETTINGS
@given(
    rounds=st.lists(st.dictionaries(st.sampled_from("ABC"), _PARTIALS, min_size=1), max_size=10),
    drift=st.integers(0, 10),
)
def test_alignment_pauses_only_who_is_ahead_and_never_the_slowest(rounds, drift):
    alignment = SplitAlignment()
    for splits in rounds:
        before = alignment.paused
        decision = alignment.decide_within(splits, drift)
        slowest = group_minimum(splits.values())
        assert not set(decision.pause) & before
        assert set(decision.resume) <= before
        for split_id in decision.pause:
            assert splits[split_id].status.holds_back
            assert splits[split_id].watermark.timestamp > slowest + drift
        for split_id in alignment.paused:
            # resume is never skipped, whatever the status
            assert splits[split_id].watermark.timestamp > slowest + drift


_WAITS = st.lists(st.tuples(st.sampled_from(["pause", "unpause", "activity"]), st.integers(0, 9)), max_size=20)


@_SETTINGS
@given(waits=_WAITS, timeout=st.integers(1, 30))
def test_a_timer_measures_the_time_without_a_pause_since_the_last_activity(waits, timeout):
    timer = IdlenessTimer(timeout, now_ns=0)
    now, silent, pauses = 0, 0, 0
    for action, wait in waits:
        now += wait
        silent += 0 if pauses else wait
        assert timer.elapsed_ns(now) == silent
        assert timer.is_expired(now) == (silent >= timeout)
        if action == "activity":
            timer.on_activity(now)
            silent = 0
        elif action == "pause":
            timer.pause(now)
            pauses += 1
        elif pauses:
            timer.resume(now)
            pauses -= 1
        assert (timer.deadline_ns() is None) == (pauses > 0)


@_SETTINGS
@given(milliseconds=st.integers(-(2**53), 2**53), rest=st.integers(0, 999))
def test_milliseconds_are_floored(milliseconds, rest):
    assert us_to_ms(ms_to_us(milliseconds) + rest) == milliseconds


_STEPS = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.sampled_from(
            ["row"] * 6 + ["add", "idle", "active", "pause", "resume", "finish", "remove", "processing_time", "tick"]
        ),
        st.sampled_from("ABC"),
        st.integers(-50, 50),
    ),
    max_size=40,
)
_ORDER = ["late", "active", "watermark", "processing_time", "idle", "paused", "resumed", "error"]


def timeline_of(steps):
    """The possible ones among random steps, as the text of a timeline."""
    now, members, living = 0, set(), set()
    for wait, kind, split_id, rowtime in steps:
        now += wait + 1
        if kind == "tick":
            yield {"at": now, "tick": True}
        elif kind == "add" or split_id not in members:
            if split_id not in members:
                members.add(split_id)
                living.add(split_id)
                yield {"at": now, "add": split_id}
        elif kind == "remove":
            members.discard(split_id)
            living.discard(split_id)
            yield {"at": now, "remove": split_id}
        elif split_id in living:
            if kind == "finish":
                living.discard(split_id)
            yield {"at": now, "split": split_id, "rowtime": rowtime} if kind == "row" else {"at": now, kind: split_id}


def kind_of(line):
    return line.get("status") or next(key for key in line if key != "at")


@settings(max_examples=200, deadline=None)
@given(
    steps=_STEPS,
    emit=st.sampled_from(["on-event", "on-periodic"]),
    idle_timeout=st.none() | st.integers(1, 60),
    max_drift=st.none() | st.integers(0, 20),
)
def test_any_timeline_gives_each_kind_of_line_once_a_step_in_the_fixed_order(steps, emit, idle_timeout, max_drift):
    document = {
        "strategy": {"emit": emit, "idle_timeout_ms": idle_timeout, "max_drift_ms": max_drift},
        "steps": list(timeline_of(steps)),
    }
    lines = list(replay(parse_timeline(json.dumps(document))))
    for _, group in itertools.groupby(lines, key=lambda line: line["at"]):
        ranks = [_ORDER.index(kind_of(line)) for line in group]
        assert all(before < after for before, after in itertools.pairwise(ranks))
    watermarks = [
        float("inf") if line["watermark"] == "max" else line["watermark"] for line in lines if "watermark" in line
    ]
    assert all(before < after for before, after in itertools.pairwise(watermarks))
    statuses = ["active", *(line["status"] for line in lines if "status" in line)]
    assert all(before != after for before, after in itertools.pairwise(statuses))
    assert all("error" not in line for line in lines[:-1])
    if max_drift is None:
        assert not any("paused" in line or "resumed" in line for line in lines)
