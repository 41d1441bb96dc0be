"""Nexmark's events: each is determined by its number, in the reference's shares, the same in JSON and in Parquet."""

from __future__ import annotations

import json
from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.nexmark.generator.event_json import JsonWriter
from benchmarks.nexmark.generator.event_tables import event_tables
from benchmarks.nexmark.generator.events import EventMaker
from benchmarks.nexmark.generator.generator_config import AUCTION, BID, FIRST_AUCTION, FIRST_PERSON, GeneratorConfig

EVENTS = 5_000
LEAD = 10
"""So many auctions and persons ahead are referred to before they come, as in the reference."""
KINDS = ("person", "auction", "bid")


@pytest.fixture(scope="module")
def maker():
    return EventMaker(GeneratorConfig())


@pytest.mark.parametrize("group", [1, 100])
def test_events_are_the_same_however_they_are_divided(group):
    maker = EventMaker(GeneratorConfig(out_of_order_group=group))
    whole = event_tables(maker, np.arange(EVENTS))
    pieces = [event_tables(maker, numbers) for numbers in np.array_split(np.arange(EVENTS), 7)]
    for name in KINDS:
        assert pa.concat_tables([each[name] for each in pieces]).equals(whole[name])


def test_kinds_have_the_reference_s_shares_and_a_group_out_of_order_has_its_own_events():
    config = GeneratorConfig(out_of_order_group=50)
    ids = config.ids(np.arange(EVENTS))
    assert np.bincount(config.kinds(ids)).tolist() == [EVENTS // 50, EVENTS * 3 // 50, EVENTS * 46 // 50]
    assert not np.array_equal(ids, np.arange(EVENTS))
    assert np.array_equal(np.sort(ids.reshape(-1, 50), axis=1).ravel(), np.arange(EVENTS))


def test_times_are_those_of_the_rate():
    config = GeneratorConfig(rate=500, base_ms=1_000)
    assert config.times_ms(np.array([0, 1, 500])).tolist() == [1_000, 1_002, 2_000]


def test_bids_are_for_auctions_in_flight_half_of_them_for_a_hot_one(maker):
    config, numbers = maker.config, np.arange(20_000, 40_000)
    newest = config.last_auctions(numbers[config.kinds(numbers) == BID]) + FIRST_AUCTION
    auctions = event_tables(maker, numbers)["bid"].column("auction").to_numpy()
    behind = newest - auctions
    assert behind.min() >= -LEAD
    assert behind.max() <= config.auctions_in_flight
    assert 0.45 < np.mean(auctions == newest // 100 * 100) < 0.55


def test_sellers_are_persons_that_are_active(maker):
    config, numbers = maker.config, np.arange(20_000, 40_000)
    newest = config.last_persons(numbers[config.kinds(numbers) == AUCTION]) + FIRST_PERSON
    behind = newest - event_tables(maker, numbers)["auction"].column("seller").to_numpy()
    assert behind.min() >= -LEAD
    assert behind.max() <= config.active_people


def test_a_record_has_the_values_of_its_row(maker):
    numbers = np.arange(1_000)
    events, rows = maker.make(numbers), event_tables(maker, numbers)
    writer = JsonWriter(maker.channels)
    texts = {"person": writer.persons(events.persons), "auction": writer.auctions(events.auctions)}
    texts["bid"] = writer.bids(events.bids)
    for number, name in enumerate(KINDS):
        records = [json.loads(each) for each in texts[name].to_pylist()]
        assert {each["event_type"] for each in records} == {number}
        assert all(record[other] is None for record in records for other in KINDS if other != name)
        found = [{key: _value(key, value) for key, value in record[name].items()} for record in records]
        assert found == rows[name].to_pylist()


def _value(key, value):
    return datetime.fromisoformat(value) if key in {"dateTime", "expires"} else value
