"""What Nexmark's generator is configured with, and what follows from an event's number alone.

The defaults are those of the reference implementation (`GeneratorConfig`, `NexmarkConfiguration`).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["AUCTION", "BID", "FIRST_AUCTION", "FIRST_CATEGORY", "FIRST_PERSON", "PERSON", "GeneratorConfig", "Numbers"]

Numbers = npt.NDArray[np.int64]
PERSON: Final = 0
AUCTION: Final = 1
BID: Final = 2
FIRST_PERSON: Final = 1_000
FIRST_AUCTION: Final = 1_000
FIRST_CATEGORY: Final = 10
_OUT_OF_ORDER_STEP: Final = 953
_BASE: Final = dt.datetime(2026, 3, 31, 23, 59, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorConfig:
    """A stream of events.

    Attributes:
        seed: of everything that is random.
        rate: events of a second of event time.
        base_ms: the time of the first event, milliseconds since 1970. By default a minute before a day ends, so that
            short streams have two days.
        person_share, auction_share, bid_share: how many of each there are in a row.
        person_bytes, auction_bytes, bid_bytes: the mean size of each, which the column `extra` makes up.
        hot_auction_ratio, hot_bidder_ratio, hot_seller_ratio: all but one in so many belong to a hot one.
        auctions_in_flight: how many of the newest auctions a bid may be for.
        active_people: how many of the newest persons bid and sell.
        out_of_order_group: events of so many numbers in a row change their order; 1 = none does.
    """

    seed: int = 7
    rate: int = 10_000
    base_ms: int = int(_BASE.timestamp()) * 1_000
    person_share: int = 1
    auction_share: int = 3
    bid_share: int = 46
    person_bytes: int = 200
    auction_bytes: int = 500
    bid_bytes: int = 100
    hot_auction_ratio: int = 2
    hot_bidder_ratio: int = 4
    hot_seller_ratio: int = 4
    auctions_in_flight: int = 100
    active_people: int = 1_000
    out_of_order_group: int = 1

    @property
    def total_share(self) -> int:
        """The number of events after which the kinds repeat."""
        return self.person_share + self.auction_share + self.bid_share

    def ids(self, numbers: Numbers) -> Numbers:
        """Return the ids of the events that come at some positions: the positions, but for groups out of order."""
        group = self.out_of_order_group
        return numbers if group == 1 else numbers // group * group + numbers * _OUT_OF_ORDER_STEP % group

    def times_ms(self, ids: Numbers) -> Numbers:
        """Return the event times, milliseconds since 1970."""
        return self.base_ms + (ids * (1e6 / self.rate)).astype(np.int64) // 1_000

    def kinds(self, ids: Numbers) -> npt.NDArray[np.int8]:
        """Return which events are a PERSON, an AUCTION, a BID."""
        offset = ids % self.total_share
        is_later = offset >= self.person_share
        kinds: npt.NDArray[np.int8] = is_later.astype(np.int8) + (offset >= self.person_share + self.auction_share)
        return kinds

    def last_persons(self, ids: Numbers) -> Numbers:
        """Return the newest person as of each event, counted from 0; of a person itself."""
        epoch, offset = np.divmod(ids, self.total_share)
        return epoch * self.person_share + np.minimum(offset, self.person_share - 1)

    def last_auctions(self, ids: Numbers) -> Numbers:
        """Return the newest auction as of each event, counted from 0; of an auction itself."""
        epoch, offset = np.divmod(ids, self.total_share)
        of_epoch = np.minimum(offset - self.person_share, self.auction_share - 1)
        return epoch * self.auction_share + np.where(of_epoch < 0, -1, of_epoch)

    def auction_horizon_ms(self, ids: Numbers) -> Numbers:
        """Return the time until the auctions in flight are others, milliseconds: half of the longest auction."""
        ahead = self.auctions_in_flight * self.total_share // self.auction_share
        return self.times_ms(ids + ahead) - self.times_ms(ids)
