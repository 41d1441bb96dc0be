from __future__ import annotations

import json

import pytest

from watermark import InvalidState, SplitStatus
from watermark.reference import END_OF_INPUT, PROCESSING_TIME, STATE_VERSION, ReaderSnapshot, SplitSnapshot, Watermark

_SNAPSHOT = ReaderSnapshot(
    watermark=Watermark(-5),
    had_splits=True,
    splits={
        "b": SplitSnapshot(watermark=Watermark(7), status=SplitStatus.PAUSED, is_paused=True, idle_ns=9),
        "a": SplitSnapshot(status=SplitStatus.IDLE),
        "c": SplitSnapshot(watermark=PROCESSING_TIME),
        "d": SplitSnapshot(watermark=END_OF_INPUT, status=SplitStatus.FINISHED),
    },
)


def valid():
    return json.loads(json.dumps(_SNAPSHOT.to_json()))


def test_a_snapshot_survives_json():
    assert ReaderSnapshot.from_json(valid()) == _SNAPSHOT
    assert ReaderSnapshot.from_json(ReaderSnapshot().to_json()) == ReaderSnapshot()


def test_the_form_of_version_1_is_fixed():
    # Old checkpoints must load: change this text only together with the version.
    assert STATE_VERSION == 1
    assert json.dumps(_SNAPSHOT.to_json()) == (
        '{"had_splits": true, "splits": {'
        '"a": {"idle_ns": 0, "paused": false, "status": "IDLE", "watermark": null}, '
        '"b": {"idle_ns": 9, "paused": true, "status": "PAUSED", "watermark": 7}, '
        '"c": {"idle_ns": 0, "paused": false, "status": "ACTIVE", "watermark": "processing-time"}, '
        '"d": {"idle_ns": 0, "paused": false, "status": "FINISHED", "watermark": 9223372036854775807}}, '
        '"version": 1, "watermark": -5}'
    )


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_version_is_refused(version):
    with pytest.raises(InvalidState, match="cannot be read: this release reads version 1"):
        ReaderSnapshot.from_json({**valid(), "version": version})


@pytest.mark.parametrize("damaged", [None, [], "x", {"version": 1}, {**_SNAPSHOT.to_json(), "extra": 1}])
def test_a_state_of_another_shape_is_refused(damaged):
    with pytest.raises(InvalidState, match="must be an object with exactly the keys"):
        ReaderSnapshot.from_json(damaged)


@pytest.mark.parametrize(
    ("key", "value"), [("splits", []), ("had_splits", 1), ("watermark", 1.5), ("watermark", True), ("watermark", 2**63)]
)
def test_a_damaged_member_is_refused(key, value):
    with pytest.raises(InvalidState, match="damaged"):
        ReaderSnapshot.from_json({**valid(), key: value})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("status", "SLEEPING"),
        ("status", []),
        ("paused", "no"),
        ("idle_ns", -1),
        ("idle_ns", 0.5),
        ("watermark", "never"),
        ("watermark", -(2**63)),
    ],
)
def test_a_damaged_split_is_refused(key, value):
    split = {**SplitSnapshot().to_json(), key: value}
    with pytest.raises(InvalidState, match="damaged"):
        SplitSnapshot.from_json(split)
