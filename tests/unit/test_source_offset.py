"""Offsets that were written once must load for ever; golden files are added, never edited.

Each golden pair is the text as it stands in a checkpoint (`NAME.json`) and what it means, spelled out (`NAME.txt`).
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from datasources.errors import OffsetError
from datasources.source.offset import Identity, Offset, split_sort_key
from datasources.source.split import SplitId, SplitProgress
from watermark import SplitStatus

GOLDEN = Path(__file__).parents[1] / "golden" / "offsets" / "v1"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.json"))

VALID = {
    "v": 1,
    "seq": 7,
    "run": 2,
    "splits": [["orders", [[0, 1]]]],
    "from": [10, 0, 5],
    "rows": [0, 4, 0],
    "wm": [1_000, 0, None],
    "lag": None,
    "moved": [1_000, 0, 0],
    "status": {"idle": [[1, 1]]},
    "limit": None,
    "combined": 900,
    "stamped": None,
    "ceiling": None,
    "strategy": "no watermark",
    "schema": "",
    "subscription": "",
}


def meaning(offset: Offset) -> str:
    head = f"batch {offset.sequence}, run {offset.run}, combined {offset.combined_ms}, stamped {offset.stamped_ms}"
    lines = [f"{head}, ceiling {offset.ceiling_ms}", json.dumps(asdict(offset.identity), sort_keys=True)]
    for s in offset.splits:
        place = f"{s.split!r}: [{s.start}, {s.end}) of {s.limit}, {s.status.name}"
        lines.append(f"{place}, watermark {s.watermark_ms} known at {s.known_at}, moved {s.moved_ms}")
    return "\n".join(lines) + "\n"


def test_there_are_golden_offsets():
    assert {"empty", "kafka", "bounded", "odd_names", "lost_reports", "thousand"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_offset_still_means_what_it_meant(name):
    offset = Offset.from_json(json.loads((GOLDEN / f"{name}.json").read_text()))
    assert meaning(offset) == (GOLDEN / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_offset_is_written_as_the_same_text(name):
    text = (GOLDEN / f"{name}.json").read_text()
    assert json.dumps(Offset.from_json(json.loads(text)).to_json()) + "\n" == text


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_offset_has_sorted_keys_and_no_float(name):
    def refuse(text):
        raise AssertionError(f"{text} is no integer")

    raw = json.loads((GOLDEN / f"{name}.json").read_text(), parse_float=refuse, parse_constant=refuse)
    assert list(raw) == sorted(raw)
    assert list(raw["status"]) == sorted(raw["status"])


def test_the_valid_offset_of_this_file_is_valid():
    offset = Offset.from_json(VALID)
    assert [s.watermark_ms for s in offset.splits] == [1_000, None]
    assert [s.status for s in offset.splits] == [SplitStatus.ACTIVE, SplitStatus.IDLE]
    assert offset.to_json() == VALID


@pytest.mark.parametrize("version", [2, 99, 0, -1, None, "1", True, 1.0])
def test_another_version_is_refused_and_the_way_out_is_named(version):
    with pytest.raises(OffsetError, match=r"reads version 1\. Use the version that wrote it, or a new checkpoint"):
        Offset.from_json({**VALID, "v": version})


@pytest.mark.parametrize("raw", [None, [], "1", 5, {}])
def test_what_is_no_offset_at_all_is_refused(raw):
    with pytest.raises(OffsetError, match="version None"):
        Offset.from_json(raw)


@pytest.mark.parametrize("key", sorted(set(VALID) - {"v"}))
def test_a_missing_part_is_damage(key):
    raw = {name: value for name, value in VALID.items() if name != key}
    with pytest.raises(OffsetError, match=r"damaged.*Restore the checkpoint from a copy"):
        Offset.from_json(raw)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seq", "7"),
        ("seq", 7.0),
        ("seq", None),
        ("seq", True),
        ("run", 1.5),
        ("splits", [["orders", [[0, 2]]]]),
        ("splits", [["orders", [[0, 10**12]]]]),
        ("splits", [["orders", [[1, 0]]]]),
        ("splits", [["orders", [[-2, -1]]]]),
        ("splits", [["orders", [[0, 0], [0, 0]]]]),
        ("splits", [[7, [[0, 1]]]]),
        ("splits", [[7, None], ["a", None]]),
        ("splits", [["orders"]]),
        ("splits", None),
        ("splits", 5),
        ("splits", {}),
        ("from", [10, 0]),
        ("from", [10, 0, 5, 6]),
        ("from", [10, 0, None]),
        ("from", [10, 0, 5.0]),
        ("from", [10, 0, "5"]),
        ("from", [None, 0, 5]),
        ("from", []),
        ("from", {}),
        ("rows", [0, 4, -1]),
        ("rows", [0, 4, True]),
        ("wm", [1_000, 0, "x"]),
        ("wm", [1_000, 0]),
        ("wm", [0, 2, "not base64!"]),
        ("wm", [0, 2, "AAA="]),
        ("wm", [0, 0, "AAAA"]),
        ("wm", [0, 1, "AAAAAAAA"]),
        ("lag", [0, 0, -3]),
        ("lag", [0, 0]),
        ("lag", 3),
        ("moved", [0, None, None]),
        ("status", {"asleep": [[0, 0]]}),
        ("status", {"idle": [[0, 2]]}),
        ("status", {"idle": [[-1, -1]]}),
        ("status", {"idle": [[0]]}),
        ("status", {"idle": [[0, 10**12]]}),
        ("status", [["idle", 0]]),
        ("limit", [0, 5]),
        ("limit", "7"),
        ("combined", "900"),
        ("combined", 900.5),
        ("stamped", []),
        ("ceiling", False),
        ("strategy", None),
        ("schema", 5),
        ("subscription", ["a"]),
    ],
)
def test_damage_is_found_and_never_guessed_away(key, value):
    with pytest.raises(OffsetError, match="damaged"):
        Offset.from_json({**VALID, key: value})


def test_equal_offsets_give_equal_text():
    first = Offset.from_json(VALID)
    again = Offset.from_json(json.loads(json.dumps(first.to_json())))
    assert json.dumps(first.to_json()) == json.dumps(again.to_json())


def test_splits_are_ordered_by_group_and_then_by_number():
    names = ["b", "a-10", "a-9", "a-b-2", "a", "a-09"]
    assert sorted(names, key=split_sort_key) == ["a", "a-9", "a-10", "a-09", "a-b-2", "b"]


@pytest.mark.parametrize("name", ["a-٣", "a-1٣", "a-²", "a-1234567890", "a-01", "a--1", "-", "-3", "", "a\n-1", "é-7"])
def test_a_name_survives_whatever_it_looks_like(name):
    split = SplitProgress(split=SplitId(name), start=0, end=0, known_at=0)
    offset = Offset(sequence=0, run=0, splits=(split,), identity=Identity())
    assert Offset.from_json(json.loads(json.dumps(offset.to_json()))) == offset
