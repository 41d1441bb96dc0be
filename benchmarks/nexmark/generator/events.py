"""The columns of events, as the reference implementation's generators of persons, auctions and bids draw them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.nexmark.generator.event_random import EventRandom
from benchmarks.nexmark.generator.generator_config import (
    AUCTION,
    BID,
    FIRST_AUCTION,
    FIRST_CATEGORY,
    FIRST_PERSON,
    PERSON,
    GeneratorConfig,
    Numbers,
)
from benchmarks.nexmark.generator.text_pools import ChannelTable, TextPool, extra_pool, trimmed_words, word_pool

__all__ = ["Auctions", "Bids", "EventMaker", "Events", "Padding", "Persons"]

_STATES: Final = pa.array(["AZ", "CA", "ID", "OR", "WA", "WY"])
_CITIES: Final = pa.array(
    ["Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"]
)
_FIRST_NAMES: Final = pa.array(
    ["Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"]
)
_LAST_NAMES: Final = pa.array(["Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"])
_CARD_GROUPS: Final = pa.array([f"{number:04}" for number in range(10_000)])
_HOT_EACH: Final = 100
"""One in so many persons and auctions is a hot one."""
_ID_LEAD: Final = 10
"""So many persons and auctions that do not exist yet may be named."""
_CATEGORIES: Final = 5
_NUMBER_BYTES: Final = 8
_SPREAD: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Padding:
    """The column `extra`: slices of a pool."""

    pool: TextPool
    at: Numbers
    lengths: Numbers

    def texts(self) -> pa.StringArray:
        """Return the texts."""
        return self.pool.slices(self.at, self.lengths)

    def json_texts(self) -> pa.StringArray:
        """Return the texts as they stand in JSON."""
        return self.pool.json_slices(self.at, self.lengths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Persons:
    """Events that are a person."""

    times_ms: Numbers
    ids: Numbers
    names: pa.StringArray
    emails: pa.StringArray
    cards: pa.StringArray
    cities: pa.StringArray
    states: pa.StringArray
    extra: Padding


@dataclass(frozen=True, slots=True, kw_only=True)
class Auctions:
    """Events that are an auction."""

    times_ms: Numbers
    ids: Numbers
    items: pa.StringArray
    descriptions: pa.StringArray
    first_bids: Numbers
    reserves: Numbers
    expires_ms: Numbers
    sellers: Numbers
    categories: Numbers
    extra: Padding


@dataclass(frozen=True, slots=True, kw_only=True)
class Bids:
    """Events that are a bid; the channels are indices of a `ChannelTable`."""

    times_ms: Numbers
    auctions: Numbers
    bidders: Numbers
    prices: Numbers
    channels: npt.NDArray[np.int32]
    extra: Padding


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """Some events in their order: their kinds, and the columns of each kind in that order."""

    kinds: npt.NDArray[np.int8]
    persons: Persons
    auctions: Auctions
    bids: Bids


class EventMaker:
    """Makes events.

    Args:
        config: of the stream.
    """

    def __init__(self, config: GeneratorConfig) -> None:
        self.config = config
        self.channels = ChannelTable(config.seed)
        self._extra = extra_pool(config.seed)
        self._words = word_pool(config.seed)

    def make(self, numbers: Numbers) -> Events:
        """Return the events of some numbers, the positions in the stream."""
        ids = self.config.ids(numbers)
        kinds = self.config.kinds(ids)
        return Events(
            kinds=kinds,
            persons=self._persons(ids[kinds == PERSON]),
            auctions=self._auctions(ids[kinds == AUCTION]),
            bids=self._bids(ids[kinds == BID]),
        )

    def _persons(self, ids: Numbers) -> Persons:
        draws = EventRandom(self.config.seed, ids)
        names = _joined(" ", _drawn(draws, "first name", _FIRST_NAMES), _drawn(draws, "last name", _LAST_NAMES))
        user, host = (trimmed_words(self._words, draws, what, length) for what, length in (("user", 7), ("host", 5)))
        emails = _joined("", user, "@", host, ".com")
        cards = _joined(" ", *(_drawn(draws, f"card {group}", _CARD_GROUPS) for group in range(4)))
        cities, states = _drawn(draws, "city", _CITIES), _drawn(draws, "state", _STATES)
        size = _NUMBER_BYTES + _sizes(names) + _sizes(emails) + _sizes(cards) + _sizes(cities) + _sizes(states)
        return Persons(
            times_ms=self.config.times_ms(ids),
            ids=FIRST_PERSON + self.config.last_persons(ids),
            names=names,
            emails=emails,
            cards=cards,
            cities=cities,
            states=states,
            extra=self._padding(draws, size, self.config.person_bytes),
        )

    def _auctions(self, ids: Numbers) -> Auctions:
        config, draws = self.config, EventRandom(self.config.seed, ids)
        items = trimmed_words(self._words, draws, "item", 20)
        descriptions = trimmed_words(self._words, draws, "description", 100)
        first_bids, times_ms = draws.prices("first bid"), config.times_ms(ids)
        size = 6 * _NUMBER_BYTES + _sizes(items) + _sizes(descriptions)
        return Auctions(
            times_ms=times_ms,
            ids=FIRST_AUCTION + config.last_auctions(ids),
            items=items,
            descriptions=descriptions,
            first_bids=first_bids,
            reserves=first_bids + draws.prices("reserve"),
            expires_ms=times_ms + 1 + draws.below("length", np.maximum(config.auction_horizon_ms(ids) * 2, 1)),
            sellers=FIRST_PERSON + self._people(draws, ids, "seller", config.hot_seller_ratio, hot_offset=0),
            categories=FIRST_CATEGORY + draws.below("category", _CATEGORIES),
            extra=self._padding(draws, size, config.auction_bytes),
        )

    def _bids(self, ids: Numbers) -> Bids:
        config, draws = self.config, EventRandom(self.config.seed, ids)
        last = config.last_auctions(ids)
        oldest = np.maximum(last - config.auctions_in_flight, 0)
        others = oldest + draws.below("auction", last - oldest + 1 + _ID_LEAD)
        is_hot = draws.below("hot auction", config.hot_auction_ratio) > 0
        bidders = self._people(draws, ids, "bidder", config.hot_bidder_ratio, hot_offset=1)
        return Bids(
            times_ms=config.times_ms(ids),
            auctions=FIRST_AUCTION + np.where(is_hot, last // _HOT_EACH * _HOT_EACH, others),
            bidders=2 * FIRST_PERSON + bidders,  # the reference adds it twice: bidders are other persons' ids
            prices=draws.prices("price"),
            channels=self.channels.indices(draws),
            extra=self._padding(draws, np.full(len(ids), 4 * _NUMBER_BYTES), config.bid_bytes),
        )

    def _people(self, draws: EventRandom, ids: Numbers, what: str, hot_ratio: int, *, hot_offset: int) -> Numbers:
        """Return a person for each event, counted from 0: a hot one, or one of those that are active."""
        last = self.config.last_persons(ids)
        active = np.minimum(last + 1, self.config.active_people)
        others = last + 1 - active + draws.below(what, active + _ID_LEAD)
        is_hot = draws.below(f"hot {what}", hot_ratio) > 0
        return np.where(is_hot, last // _HOT_EACH * _HOT_EACH + hot_offset, others)

    def _padding(self, draws: EventRandom, sizes: Numbers, mean_bytes: int) -> Padding:
        """Return texts with which events are so large on average, a fifth more or less."""
        missing = mean_bytes - sizes
        spread = np.floor(missing * _SPREAD + 0.5).astype(np.int64)
        drawn = draws.below("extra length", np.maximum(2 * spread, 1))
        lengths = np.where(missing < 0, 0, missing - spread + np.where(spread > 0, drawn, 0))
        at = draws.below("extra slice", len(self._extra) - lengths)
        return Padding(pool=self._extra, at=at, lengths=lengths)


def _drawn(draws: EventRandom, what: str, texts: pa.StringArray) -> pa.StringArray:
    return texts.take(pa.array(draws.below(what, len(texts))))


def _joined(separator: str, *texts: pa.StringArray | str) -> pa.StringArray:
    return pc.binary_join_element_wise(*texts, separator)


def _sizes(texts: pa.StringArray) -> Numbers:
    sizes: Numbers = pc.binary_length(texts).to_numpy(zero_copy_only=False).astype(np.int64)
    return sizes
