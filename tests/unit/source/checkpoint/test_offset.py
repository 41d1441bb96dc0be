"""Offsets that were written once must load for ever; golden files are added, never edited.

Each golden pair is the text as it stands in a checkpoint (`NAME.json`) and what it means, spelled out (`NAME.txt`).
Every version has a directory. What an older version wrote is loaded and written back as the newest one, so its text is
the golden text of the same name there.
"""

from __future__ import annotations

import json
import random
from dataclasses import asdict, replace

import pytest

from datasources.errors import OffsetError
from datasources.source.api.split import LogIdentity, SplitId, SplitProgress
from datasources.source.checkpoint.offset import OFFSET_VERSION, Identity, Offset, split_sort_key
from tests.support.project import ROOT
from watermark import SplitStatus

GOLDEN = ROOT / "tests" / "golden" / "offsets"
NEWEST = f"v{OFFSET_VERSION}"
PAIRS = sorted((path.parent.name, path.stem) for path in GOLDEN.glob("*/*.json"))
MAX_BYTES = 64 * 1024

VALID = {
    "v": 2,
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
    "allowed": 5_000,
    "processing": False,
    "turn": [15, None, 0],
    "strategy": "no watermark",
    "schema": "",
    "subscription": "",
}


LATER_PARTS = ("allowed", "processing", "turn")
"""What version 1 did not have."""
VALID_V1 = {key: value for key, value in VALID.items() if key not in LATER_PARTS} | {"v": 1}


def golden(version, name):
    return (GOLDEN / version / f"{name}.json").read_text()


def load(version, name):
    return Offset.from_json(json.loads(golden(version, name)))


def meaning(offset: Offset, version: str) -> str:
    """Spell an offset out, as the golden texts of a version do: version 1 knew no alignment and no processing time."""
    is_later = version != "v1"
    head = f"batch {offset.sequence}, run {offset.run}, combined {offset.combined_ms}, stamped {offset.emitted_watermark_ms}"
    lines = [f"{head}, ceiling {offset.ceiling_ms}"]
    if is_later:
        lines.append(f"allowed {offset.allowed_ms}, in {'processing' if offset.is_processing else 'event'} time")
    parts = asdict(offset.identity)
    lines.append(
        json.dumps({k: v for k, v in parts.items() if v or k not in {"isolation", "statement"}}, sort_keys=True)
    )
    for s in offset.splits:
        described = f"{s.split!r}: [{s.start}, {s.end}) of {s.limit}, {s.status.name}"
        processing_start = f", turn {s.processing_start}" if is_later else ""
        log = f", log {s.log.id} of epochs {s.log.start_epoch} to {s.log.epoch}" if s.log else ""
        lines.append(
            f"{described}, watermark {s.watermark_ms} known at {s.known_at}, moved {s.moved_ms}{processing_start}{log}"
        )
    if offset.gate is not None:
        lines.append(f"held since {offset.gate.since_ms}, released {offset.gate.opened}")
    if offset.load is not None:
        lines.append(f"loading since {offset.load.since_ms}: {dict(offset.load.ends)}, loaded {offset.load.loaded}")
    return "\n".join(lines) + "\n"


# -- golden files --


def test_there_are_golden_offsets_of_every_version():
    old = {"empty", "kafka", "bounded", "odd_names", "lost_reports", "thousand"}
    assert {name for version, name in PAIRS if version == "v1"} == old
    later = {"aligned", "processing_time", "turns", "held", "loaded", "logs", "isolation", "statement"}
    assert {name for version, name in PAIRS if version == "v2"} == old | later
    assert {version for version, _ in PAIRS} == {f"v{number}" for number in range(1, OFFSET_VERSION + 1)}


@pytest.mark.parametrize(("version", "name"), PAIRS)
def test_a_golden_offset_still_means_what_it_meant(version, name):
    assert meaning(load(version, name), version) == (GOLDEN / version / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", [name for version, name in PAIRS if version == NEWEST])
def test_what_a_newer_version_added_is_not_passed_over(name):
    raw = json.loads(golden(NEWEST, name)) | {"later": None}
    with pytest.raises(OffsetError, match=r"only a newer version of Tidemark understands \(later\)"):
        Offset.from_json(raw)


@pytest.mark.parametrize(("version", "name"), PAIRS)
def test_a_golden_offset_is_written_as_the_newest_version_s_text_of_the_same_name(version, name):
    assert json.dumps(load(version, name).to_json()) + "\n" == golden(NEWEST, name)


@pytest.mark.parametrize("name", [name for version, name in PAIRS if version == "v1"])
def test_an_offset_of_version_1_has_no_alignment_and_is_in_event_time(name):
    offset = load("v1", name)
    assert (offset.allowed_ms, offset.is_processing) == (None, False)
    assert {split.processing_start for split in offset.splits} <= {None}
    assert offset == load("v2", name)


@pytest.mark.parametrize(("version", "name"), PAIRS)
def test_a_golden_offset_has_its_version_sorted_keys_and_no_float(version, name):
    def refuse(text):
        raise AssertionError(f"{text} is no integer")

    raw = json.loads(golden(version, name), parse_float=refuse, parse_constant=refuse)
    assert f"v{raw['v']}" == version
    assert list(raw) == sorted(raw)
    assert list(raw["status"]) == sorted(raw["status"])


def test_the_golden_offsets_use_every_part_that_version_2_added():
    aligned, processing, processing_times = (load("v2", name) for name in ("aligned", "processing_time", "turns"))
    assert aligned.allowed_ms == 1_795_000_005_000
    assert [s.status for s in aligned.splits].count(SplitStatus.PAUSED) == 1
    assert processing.is_processing
    assert [s.processing_start for s in processing_times.splits] == [400, 90, 5, None]


@pytest.mark.parametrize(
    "logs",
    [
        [None, None],
        [LogIdentity("x", 0, 0), LogIdentity("x", 3, 1)],
        [LogIdentity("x", 0, 0), LogIdentity("y", None, None)],
        [None, LogIdentity("y", 7, None)],
        [LogIdentity(None, 4, 4), None],
    ],
)
def test_the_logs_that_positions_refer_to_come_back_as_they_were(logs):
    splits = tuple(
        SplitProgress(split=SplitId(f"orders-{n}"), start=0, end=4, known_at=0, log=log) for n, log in enumerate(logs)
    )
    offset = Offset(sequence=1, run=1, splits=splits, identity=Identity())
    assert Offset.from_json(json.loads(json.dumps(offset.to_json()))) == offset
    assert ("logs" in offset.to_json()) == any(logs)


@pytest.mark.parametrize(
    "logs",
    [
        [],
        {"ids": [], "of": [0, 0, 0], "epoch": [0, 0, 0]},
        {"ids": ["x"], "of": [0, 0], "epoch": [0, 0, 0]},
        {"ids": ["x"], "of": [0, 0, 0]},
        {"ids": [7], "of": [0, 0, 0], "epoch": [0, 0, 0]},
    ],
)
def test_damaged_logs_are_refused(logs):
    with pytest.raises(OffsetError, match="damaged"):
        Offset.from_json(VALID | {"logs": logs})


# -- versions --


def test_the_valid_offset_of_this_file_is_valid():
    offset = Offset.from_json(VALID)
    assert [s.watermark_ms for s in offset.splits] == [1_000, None]
    assert [s.status for s in offset.splits] == [SplitStatus.ACTIVE, SplitStatus.IDLE]
    assert [s.processing_start for s in offset.splits] == [None, 15]
    assert (offset.allowed_ms, offset.is_processing) == (5_000, False)
    assert offset.to_json() == VALID


def test_the_valid_offset_of_version_1_is_valid():
    expected = {**VALID, "allowed": None, "processing": False, "turn": None}
    assert Offset.from_json(VALID_V1).to_json() == expected


@pytest.mark.parametrize("version", [3, 99, 0, -1, None, "1", "2", True, 1.0, 2.0])
def test_another_version_is_refused_and_the_way_out_is_named(version):
    way_out = r"reads versions up to 2\. Use the version that wrote it, or a new checkpoint location"
    with pytest.raises(OffsetError, match=way_out) as caught:
        Offset.from_json({**VALID, "v": version})
    assert f"an offset of version {version!r};" in caught.value.message


@pytest.mark.parametrize("raw", [None, [], "1", 5, {}])
def test_what_is_no_offset_at_all_is_refused(raw):
    with pytest.raises(OffsetError, match="version None"):
        Offset.from_json(raw)


# -- damage --


@pytest.mark.parametrize("key", sorted(set(VALID) - {"v"}))
def test_a_missing_part_is_damage(key):
    raw = {name: value for name, value in VALID.items() if name != key}
    with pytest.raises(OffsetError, match=r"damaged.*Restore the checkpoint from a copy"):
        Offset.from_json(raw)


@pytest.mark.parametrize("key", sorted(set(VALID_V1) - {"v"}))
def test_a_missing_part_of_version_1_is_damage(key):
    raw = {name: value for name, value in VALID_V1.items() if name != key}
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
        ("allowed", "5000"),
        ("allowed", 5_000.0),
        ("allowed", True),
        ("allowed", [5_000]),
        ("processing", None),
        ("processing", 0),
        ("processing", 1),
        ("processing", "true"),
        ("turn", [15]),
        ("turn", [15, None]),
        ("turn", [15, None, 5, 5]),
        ("turn", [15, None, 5.0]),
        ("turn", [15, None, "5"]),
        ("turn", [15, None, False]),
        ("turn", [None, None, 5]),
        ("turn", [15, 1, "AAAA"]),
        ("turn", [15, 1, "not base64!"]),
        ("turn", []),
        ("turn", {}),
        ("turn", 15),
        ("turn", "15"),
        ("strategy", None),
        ("schema", 5),
        ("subscription", ["a"]),
    ],
)
def test_damage_is_found_and_never_guessed_away(key, value):
    with pytest.raises(OffsetError, match="damaged"):
        Offset.from_json({**VALID, key: value})


@pytest.mark.parametrize(
    ("key", "value"), [("from", [10, 0]), ("rows", [0, 4, -1]), ("limit", "7"), ("combined", 1.5), ("seq", None)]
)
def test_damage_is_found_in_version_1_too(key, value):
    with pytest.raises(OffsetError, match="damaged"):
        Offset.from_json({**VALID_V1, key: value})


# -- text --


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


@pytest.mark.parametrize("change", [{"allowed_ms": 1}, {"is_processing": True}, {"combined_ms": 1}])
def test_offsets_that_differ_in_one_part_differ_in_their_text(change):
    offset = Offset.from_json(VALID)
    assert json.dumps(replace(offset, **change).to_json()) != json.dumps(offset.to_json())


def test_a_turn_is_written_only_where_a_split_has_one():
    splits = [SplitProgress(split=SplitId(f"a-{n}"), start=0, end=0, known_at=0) for n in range(3)]
    plain = Offset(sequence=0, run=0, splits=tuple(splits), identity=Identity())
    assert plain.to_json()["turn"] is None
    turned = replace(plain, splits=(splits[0], replace(splits[1], processing_start=7), splits[2]))
    assert turned.to_json()["turn"] == [7, None, 0, None]
    assert Offset.from_json(turned.to_json()) == turned


def test_a_thousand_partitions_with_turns_stay_below_64_kb():
    numbers = random.Random(1)
    splits = []
    for index in range(1_000):
        start, end, processing_start = sorted(numbers.randrange(10**12, 10**13) for _ in range(3))
        watermark_ms, moved_ms = numbers.randrange(10**12, 10**13), numbers.randrange(10**12, 10**13)
        times = {"watermark_ms": watermark_ms, "moved_ms": moved_ms, "status": list(SplitStatus)[index % 4]}
        split = SplitProgress(
            split=SplitId(f"orders-{index}"),
            start=start,
            end=end,
            known_at=start - 9,
            processing_start=processing_start,
            **times,
        )
        splits.append(split)
    identity = Identity(strategy="s" * 1_000, schema="c" * 1_000, subscription="t" * 1_000)
    offset = Offset(sequence=10**12, run=10**6, splits=tuple(splits), allowed_ms=10**13, identity=identity)
    text = json.dumps(offset.to_json())
    assert len(text.encode()) < MAX_BYTES
    assert Offset.from_json(json.loads(text)) == offset


@pytest.mark.parametrize("wrong", [{"from": [-1001, 0, 5]}, {"from": [-1, 0, 5]}, {"lag": [11, 0, 0]}])
def test_a_position_below_zero_does_not_load_and_the_way_on_is_named(wrong):
    columns = VALID | {"lag": [0, 0, 0]} | wrong
    with pytest.raises(OffsetError, match="position -[0-9]+ of split 'orders-0' stands in the checkpoint") as caught:
        Offset.from_json(columns)
    assert "remove its newest batches" in caught.value.message


@pytest.mark.parametrize("wrong", [{"start": -1001}, {"end": -1}, {"known_at": -1}])
def test_a_position_below_zero_is_not_written(wrong):
    split = replace(SplitProgress(split=SplitId("orders-0"), start=0, end=0, known_at=0), **wrong)
    offset = Offset(sequence=1, run=1, splits=(split,), identity=Identity())
    with pytest.raises(OffsetError, match="position -[0-9]+ of split 'orders-0' was about to be written"):
        offset.to_json()


@pytest.mark.parametrize(("part", "text"), [("isolation", "read_committed"), ("statement", "85a60ff14de3a9ce")])
def test_a_part_of_the_identity_stands_in_the_offset_only_where_there_is_one(part, text):
    plain = Offset.from_json(VALID)
    assert part not in plain.to_json()
    given = replace(plain, identity=replace(plain.identity, **{part: text}))
    raw = given.to_json()
    assert raw[part] == text
    assert list(raw) == sorted(raw)
    assert Offset.from_json(raw) == given
    with pytest.raises(OffsetError, match="damaged"):
        Offset.from_json({**raw, part: 1})
