"""Events as Arrow tables `person`, `auction` and `bid`, with the columns of the reference's views."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from benchmarks.nexmark.generator.events import Auctions, Bids, EventMaker, Persons
from benchmarks.nexmark.generator.generator_config import Numbers

__all__ = ["event_tables"]


def event_tables(maker: EventMaker, numbers: Numbers) -> Mapping[str, pa.Table]:
    """Return the tables of the events of some numbers, by name."""
    events = maker.make(numbers)
    return {
        "person": _persons(events.persons),
        "auction": _auctions(events.auctions),
        "bid": _bids(events.bids, maker),
    }


def _persons(persons: Persons) -> pa.Table:
    return pa.table(
        {
            "id": persons.ids,
            "name": persons.names,
            "emailAddress": persons.emails,
            "creditCard": persons.cards,
            "city": persons.cities,
            "state": persons.states,
            "dateTime": _times(persons.times_ms),
            "extra": persons.extra.texts(),
        }
    )


def _auctions(auctions: Auctions) -> pa.Table:
    return pa.table(
        {
            "id": auctions.ids,
            "itemName": auctions.items,
            "description": auctions.descriptions,
            "initialBid": auctions.first_bids,
            "reserve": auctions.reserves,
            "dateTime": _times(auctions.times_ms),
            "expires": _times(auctions.expires_ms),
            "seller": auctions.sellers,
            "category": auctions.categories,
            "extra": auctions.extra.texts(),
        }
    )


def _bids(bids: Bids, maker: EventMaker) -> pa.Table:
    channels = pa.array(bids.channels)
    return pa.table(
        {
            "auction": bids.auctions,
            "bidder": bids.bidders,
            "price": bids.prices,
            "channel": maker.channels.names.take(channels),
            "url": maker.channels.urls.take(channels),
            "dateTime": _times(bids.times_ms),
            "extra": bids.extra.texts(),
        }
    )


def _times(times_ms: Numbers) -> pa.Array:
    return pa.array(times_ms * 1_000).cast(pa.timestamp("us"))
