"""Events as the JSON values of Kafka's records, as Flink's JSON format writes the reference's table.

`{"event_type":2,"person":null,"auction":null,"bid":{...}}`; a timestamp has no more digits of its second than it needs.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.nexmark.generator.events import Auctions, Bids, Persons
from benchmarks.nexmark.generator.generator_config import Numbers
from benchmarks.nexmark.generator.text_pools import ChannelTable

__all__ = ["JsonWriter"]

_FRACTIONS: Final = pa.array([f".{ms:03}".rstrip("0").rstrip(".") for ms in range(1_000)])
_MAX_TABLE: Final = 1 << 22
"""Times within so many milliseconds are looked up in a table of texts, others in one of those that occur."""


class JsonWriter:
    """Writes events of each kind.

    Args:
        channels: of the bids.
    """

    def __init__(self, channels: ChannelTable) -> None:
        self._channels = _joined(',"channel":"', channels.names, '","url":"', channels.urls, '","dateTime":"')

    @staticmethod
    def persons(persons: Persons) -> pa.StringArray:
        """Return the values of persons."""
        return _joined(
            '{"event_type":0,"person":{"id":', _numbers(persons.ids), ',"name":"', persons.names,
            '","emailAddress":"', persons.emails, '","creditCard":"', persons.cards, '","city":"', persons.cities,
            '","state":"', persons.states, '","dateTime":"', _timestamps(persons.times_ms),
            '","extra":"', persons.extra.json_texts(), '"},"auction":null,"bid":null}',
        )  # fmt: skip

    @staticmethod
    def auctions(auctions: Auctions) -> pa.StringArray:
        """Return the values of auctions."""
        return _joined(
            '{"event_type":1,"person":null,"auction":{"id":', _numbers(auctions.ids), ',"itemName":"', auctions.items,
            '","description":"', auctions.descriptions, '","initialBid":', _numbers(auctions.first_bids),
            ',"reserve":', _numbers(auctions.reserves), ',"dateTime":"', _timestamps(auctions.times_ms),
            '","expires":"', _timestamps(auctions.expires_ms), '","seller":', _numbers(auctions.sellers),
            ',"category":', _numbers(auctions.categories), ',"extra":"', auctions.extra.json_texts(),
            '"},"bid":null}',
        )  # fmt: skip

    def bids(self, bids: Bids) -> pa.StringArray:
        """Return the values of bids."""
        return _joined(
            '{"event_type":2,"person":null,"auction":null,"bid":{"auction":', _numbers(bids.auctions),
            ',"bidder":', _numbers(bids.bidders), ',"price":', _numbers(bids.prices),
            self._channels.take(pa.array(bids.channels)), _timestamps(bids.times_ms),
            '","extra":"', bids.extra.json_texts(), '"}}',
        )  # fmt: skip


def _joined(*texts: Any) -> pa.StringArray:
    return pc.binary_join_element_wise(*texts, "")


def _numbers(values: Numbers) -> pa.StringArray:
    return pa.array(values).cast(pa.string())


def _timestamps(times_ms: Numbers) -> pa.StringArray:
    """Return `2026-03-31 23:59:00.125` for milliseconds since 1970."""
    if not len(times_ms):
        return pa.array([], pa.string())
    first, last = int(times_ms.min()), int(times_ms.max())
    if last - first < min(_MAX_TABLE, 4 * len(times_ms)):
        different, at = np.arange(first, last + 1), times_ms - first
    else:
        different, at = np.unique(times_ms, return_inverse=True)
    seconds, ms = np.divmod(different, 1_000)
    known, second_at = np.unique(seconds, return_inverse=True)
    texts = pa.array([dt.datetime.fromtimestamp(int(s), dt.UTC).strftime("%Y-%m-%d %H:%M:%S") for s in known])
    return _joined(texts.take(pa.array(second_at)), _FRACTIONS.take(pa.array(ms))).take(pa.array(at))
