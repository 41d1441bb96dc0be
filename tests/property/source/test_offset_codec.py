"""Offsets survive the checkpoint, whatever they hold, and stay small."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasources.errors import OffsetError
from datasources.source.api.split import SplitId, SplitProgress
from datasources.source.checkpoint.offset import Identity, Offset, split_sort_key
from watermark import SplitStatus

MAX_BYTES = 64 * 1024
INT64 = st.integers(-(2**63), 2**63 - 1)
POSITIONS = st.integers(0, 2**63 - 1)
OPTIONAL = st.none() | INT64
GROUPS = st.text(alphabet='ab-_.0٣ \n"', max_size=6)
NAMES = st.one_of(
    st.builds(lambda group, number: f"{group}-{number}", GROUPS, st.integers(0, 40)),
    st.builds(lambda group, number: f"{group}-{number}", GROUPS, st.integers(0, 10**12)),
    st.builds(lambda group, number: f"{group}-0{number}", GROUPS, st.integers(0, 40)),
    GROUPS,
    st.text(max_size=8),
)


@st.composite
def progress(draw, name):
    known_at, *rest = sorted(draw(st.lists(POSITIONS, min_size=4, max_size=4)))
    start, end, limit = rest
    return SplitProgress(
        split=SplitId(name),
        start=start,
        end=end,
        known_at=draw(st.sampled_from([known_at, start])),
        watermark_ms=draw(OPTIONAL),
        status=draw(st.sampled_from(SplitStatus)),
        moved_ms=draw(INT64),
        limit=draw(st.sampled_from([None, limit])),
    )


@st.composite
def offsets(draw):
    names = draw(st.lists(NAMES, unique=True, max_size=12))
    ordered = draw(st.sampled_from([names, sorted(names, key=split_sort_key)]))
    return Offset(
        sequence=draw(st.integers(0, 2**40)),
        run=draw(st.integers(0, 1_000)),
        splits=tuple(draw(progress(name)) for name in ordered),
        combined_ms=draw(OPTIONAL),
        emitted_watermark_ms=draw(OPTIONAL),
        ceiling_ms=draw(OPTIONAL),
        identity=draw(st.builds(Identity, strategy=st.text(), schema=st.text(), subscription=st.text())),
    )


@settings(max_examples=100, deadline=None)
@given(offsets())
def test_an_offset_is_the_same_after_the_checkpoint(offset):
    text = json.dumps(offset.to_json())
    again = Offset.from_json(json.loads(text))
    assert again == offset
    assert json.dumps(again.to_json()) == text
    assert list(offset.to_json()) == sorted(offset.to_json())


@settings(max_examples=100, deadline=None)
@given(offsets(), st.data())
def test_a_damaged_offset_is_an_error_of_ours_or_still_an_offset(offset, data):
    raw = offset.to_json()
    key = data.draw(st.sampled_from(sorted(set(raw) - {"v"})))
    raw[key] = data.draw(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
            lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
            max_leaves=6,
        )
    )
    try:
        read = Offset.from_json(raw)
    except OffsetError:
        return
    assert Offset.from_json(json.loads(json.dumps(read.to_json()))) == read


def thousand(seed, *, lag, name="orders-{}"):
    """1,000 partitions whose every number has 13 digits and has nothing to do with its neighbours."""
    numbers = random.Random(seed)
    statuses = list(SplitStatus)
    splits = []
    for index in range(1_000):
        start, end, limit = sorted(numbers.randrange(10**12, 10**13) for _ in range(3))
        splits.append(
            SplitProgress(
                split=SplitId(name.format(index)),
                start=start,
                end=end,
                known_at=start - numbers.randrange(lag) if lag else start,
                watermark_ms=numbers.randrange(10**12, 10**13),
                status=statuses[index % 4],
                moved_ms=numbers.randrange(10**12, 10**13),
                limit=limit,
            )
        )
    identity = Identity(strategy="s" * 1_000, schema="c" * 1_000, subscription="t" * 1_000)
    known = {"combined_ms": 10**13, "emitted_watermark_ms": 10**13, "ceiling_ms": 10**13}
    return Offset(sequence=10**12, run=10**6, splits=tuple(splits), identity=identity, **known)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("lag", [0, 1_000, 10**12])
def test_a_thousand_partitions_stay_below_64_kb_at_their_worst(seed, lag):
    offset = thousand(seed, lag=lag)
    text = json.dumps(offset.to_json())
    assert len(text.encode()) < MAX_BYTES
    assert Offset.from_json(json.loads(text)) == offset


def test_a_thousand_ordinary_partitions_take_a_few_kb():
    now_ms = 1_795_000_000_000
    splits = tuple(
        SplitProgress(
            split=SplitId(f"orders-{index}"),
            start=5_000_000_000 + index * 17,
            end=5_000_000_100 + index * 17,
            known_at=5_000_000_000 + index * 17,
            watermark_ms=now_ms + index * 31 % 5_000,
            moved_ms=now_ms + index * 7 % 1_000,
        )
        for index in range(1_000)
    )
    offset = Offset(sequence=9, run=1, splits=splits, identity=Identity())
    raw = offset.to_json()
    assert len(json.dumps(raw)) < 32 * 1024
    assert all(isinstance(number, int) for number in raw["from"])  # people can read it


def test_one_partition_far_behind_does_not_make_the_offset_large():
    offset = thousand(1, lag=0)
    behind = SplitProgress(split=SplitId("a-0"), start=0, end=0, known_at=0, watermark_ms=-(2**63), moved_ms=0)
    grown = Offset(sequence=1, run=1, splits=(behind, *offset.splits[1:]), identity=Identity())
    assert len(json.dumps(grown.to_json())) < MAX_BYTES
    assert Offset.from_json(grown.to_json()) == grown
