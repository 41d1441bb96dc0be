"""Sets of transactions: MySQL's GTID sets, and MariaDB's positions per domain."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from datasources.errors import OptionError

Interval = tuple[int, int]
"""First and last number, both included."""

_TAG: Final = re.compile(r"[a-z_][a-z0-9_]{0,31}")
_INTERVAL: Final = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_DOMAIN: Final = re.compile(r"([0-9]+)-([0-9]+)-([0-9]+)")
_GREATEST: Final = 2**63 - 2


@dataclass(frozen=True, slots=True)
class GtidSet:
    """Transactions of MySQL servers.

    Attributes:
        sources: per source (``uuid``, or ``uuid:tag``) its numbers: sorted, disjoint, not adjacent. Sorted by uuid,
            then tag; a uuid without a tag comes first.
    """

    sources: tuple[tuple[str, tuple[Interval, ...]], ...] = ()

    @classmethod
    def parse(cls, text: str) -> GtidSet:
        """Parse a GTID set: ``uuid:1-5:7,uuid:tag:1-3``.

        Raises:
            OptionError: it is no GTID set.
        """
        found: dict[str, list[Interval]] = {}
        for each in filter(None, (part.strip() for part in text.replace("\n", "").split(","))):
            name, *rest = each.split(":")
            source = _uuid_text(name.strip(), f"'{each}' in the GTID set '{text}'")
            for key, interval in _intervals(source, rest, text):
                found.setdefault(key, []).append(interval)
        return cls.of(found)

    @classmethod
    def of(cls, intervals: Mapping[str, Iterable[Interval]]) -> GtidSet:
        """Return the set of these intervals per source, in any order, overlapping or not."""
        merged = ((source, _merged(each)) for source, each in sorted(intervals.items()))
        return cls(tuple((source, each) for source, each in merged if each))

    def __str__(self) -> str:
        """Return the canonical text of this set, as servers print it but without line breaks."""
        parts: list[str] = []
        last = ""
        for source, intervals in self.sources:
            server, _, tag = source.partition(":")
            text = ":".join([*([tag] if tag else []), *map(_interval_text, intervals)])
            parts.append(f":{text}" if server == last else f"{',' if parts else ''}{server}:{text}")
            last = server
        return "".join(parts)

    def __bool__(self) -> bool:
        return bool(self.sources)

    def __len__(self) -> int:
        """How many transactions it holds."""
        return sum(last - first + 1 for _, intervals in self.sources for first, last in intervals)

    def union(self, other: GtidSet) -> GtidSet:
        """Return the transactions that are in one of the two."""
        found = {source: list(intervals) for source, intervals in self.sources}
        for source, intervals in other.sources:
            found.setdefault(source, []).extend(intervals)
        return GtidSet.of(found)

    def minus(self, other: GtidSet) -> GtidSet:
        """Return the transactions of this set that are not in the other."""
        gone = dict(other.sources)
        return GtidSet.of({source: _without(own, gone.get(source, ())) for source, own in self.sources})

    def contains(self, other: GtidSet) -> bool:
        """Return whether all transactions of the other set are in this one."""
        return not other.minus(self)

    def has_gtid(self, gtid: str) -> bool:
        """Return whether one transaction, ``uuid:5`` or ``uuid:tag:5``, is in the set.

        Raises:
            OptionError: it is no GTID.
        """
        return self.contains(GtidSet.parse(gtid))


@dataclass(frozen=True, slots=True)
class DomainPositions:
    """MariaDB: the newest transaction of each domain; those before it in the domain are included.

    ``newest`` has domain, server and number of each, sorted by domain.
    """

    newest: tuple[tuple[int, int, int], ...] = ()

    @classmethod
    def parse(cls, text: str) -> DomainPositions:
        """Parse MariaDB's GTID position: ``0-1-5,1-2-7``.

        Raises:
            OptionError: it is not one, or names a domain twice.
        """
        found: dict[int, tuple[int, int]] = {}
        for each in filter(None, (part.strip() for part in text.split(","))):
            match = _DOMAIN.fullmatch(each)
            if match is None or int(match[1]) in found:
                raise OptionError(
                    f"'{each}' in the position '{text}' is no domain-server-number such as 0-1-5, or its domain occurs "
                    f"twice."
                )
            found[int(match[1])] = int(match[2]), int(match[3])
        return cls.of(found)

    @classmethod
    def of(cls, newest: Mapping[int, tuple[int, int]]) -> DomainPositions:
        """Return the positions of these domains: server and number of each."""
        return cls(tuple((domain, *newest[domain]) for domain in sorted(newest)))

    def __str__(self) -> str:
        return ",".join(f"{domain}-{server}-{number}" for domain, server, number in self.newest)

    def __bool__(self) -> bool:
        return bool(self.newest)

    def union(self, other: DomainPositions) -> DomainPositions:
        """Return the newest of each domain of the two; of two servers with one number, the other's."""
        found = {domain: (server, number) for domain, server, number in self.newest}
        for domain, server, number in other.newest:
            if domain not in found or number >= found[domain][1]:
                found[domain] = server, number
        return DomainPositions.of(found)

    def contains(self, other: DomainPositions) -> bool:
        """Return whether this position is at or behind the other one in each domain of the other."""
        found = {domain: number for domain, _, number in self.newest}
        return all(found.get(domain, 0) >= number for domain, _, number in other.newest)

    def has_gtid(self, gtid: str) -> bool:
        """Return whether a transaction, ``domain-server-number``, is at or before its domain's position.

        Raises:
            OptionError: it is no GTID.
        """
        return self.contains(DomainPositions.parse(gtid))


def _uuid_text(name: str, where: str) -> str:
    """Return a server's UUID in the usual spelling.

    Raises:
        OptionError: it is not a UUID.
    """
    try:
        return str(uuid.UUID(name))
    except ValueError as error:
        raise OptionError(f"{where} does not begin with a server's UUID.") from error


def _intervals(source: str, parts: list[str], text: str) -> Iterator[tuple[str, Interval]]:
    key = source
    for part in (each.strip() for each in parts):
        match = _INTERVAL.fullmatch(part)
        if match is not None:
            first, last = int(match[1]), int(match[2] or match[1])
            if not 1 <= first <= last <= _GREATEST:
                raise OptionError(f"'{part}' in the GTID set '{text}' is no interval: numbers rise, and begin with 1.")
            yield key, (first, last)
        elif _TAG.fullmatch(part.lower()):
            key = f"{source}:{part.lower()}"
        else:
            raise OptionError(f"'{part}' in the GTID set '{text}' is neither an interval nor a tag.")


def _interval_text(interval: Interval) -> str:
    first, last = interval
    return str(first) if first == last else f"{first}-{last}"


def _merged(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    merged: list[Interval] = []
    for first, last in sorted(intervals):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def _without(own: tuple[Interval, ...], gone: tuple[Interval, ...]) -> Iterator[Interval]:
    """Subtract merged intervals from merged intervals, in one pass over both."""
    at = 0
    for begin, last in own:
        first = begin
        while at < len(gone) and gone[at][1] < first:
            at += 1
        index = at
        while index < len(gone) and gone[index][0] <= last:
            if gone[index][0] > first:
                yield first, gone[index][0] - 1
            first = gone[index][1] + 1
            index += 1
        if first <= last:
            yield first, last
