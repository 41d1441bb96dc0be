"""The load-gate protocol: what the sources of a query exchange through the coordinator.

A build reports its progress; a probe requests the builds that it waits for and receives those of its own run of its own
query. Two queries may wait for builds of one name: neither receives the other's. The coordinator learns the run of a
source from its tasks; until one has reported, a source receives no builds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

from datasources.errors import CoordinatorError

__all__ = ["Build", "LoadGateAnswer", "LoadGateExchange", "LoadGateRequest", "LoadReport"]

Progress = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """The progress of a build.

    Attributes:
        name: the name that probes wait for.
        is_loaded: what had to be loaded was read in batches that are over.
        is_working: there is something unread now.
        is_stuck: alignment lets it read nothing of that, in an AvailableNow run: it will not be loaded in this run.
        since_ms: wall clock, ms, when loading began.
        unread: how many positions have to be read still; None = not known.
        snapshot: how far the reading of tables came, for people; None = it reads none.
    """

    name: str
    is_loaded: bool
    is_working: bool
    since_ms: int
    unread: int | None = None
    snapshot: Progress | None = None
    is_stuck: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return JSON primitives."""
        return {
            "name": self.name,
            "is_loaded": self.is_loaded,
            "is_working": self.is_working,
            "since": self.since_ms,
            "unread": self.unread,
            "snapshot": None if self.snapshot is None else dict(self.snapshot),
            "is_stuck": self.is_stuck,
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Return the report in `raw`.

        Raises:
            CoordinatorError: it is none.
        """
        try:
            own = cls(
                name=raw["name"],
                is_loaded=raw["is_loaded"],
                is_working=raw["is_working"],
                since_ms=raw["since"],
                unread=raw["unread"],
                snapshot=raw["snapshot"],
                is_stuck=raw["is_stuck"],
            )
        except (LookupError, TypeError):
            raise CoordinatorError("a source sent a malformed report of its loading") from None
        if (
            not isinstance(own.name, str)
            or not all(isinstance(value, bool) for value in (own.is_loaded, own.is_working, own.is_stuck))
            or type(own.since_ms) is not int
            or not (own.unread is None or type(own.unread) is int)
            or not isinstance(own.snapshot, Mapping | None)
        ):
            raise CoordinatorError("a source sent a report of its loading with fields of the wrong type")
        return own


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadGateRequest:
    """A probe's builds to wait for, a build's progress."""

    until: tuple[str, ...] = ()
    load: LoadReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A build of the own run as the coordinator knows it; `is_alive` = its lease has not expired."""

    reported: LoadReport
    is_alive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadGateAnswer:
    """The coordinator's answer.

    Attributes:
        is_query_known: whether a task reported the source's run; else there are no builds.
        is_awaited: whether a source waits, or may wait, for this build.
        builds: those of the own run that were asked for.
        expected: how many sources of each name the query's plan has, as far as it could be read; None = the listener
            has not reported it yet, or without one that a build's query is not known, so no gate opens.
    """

    is_query_known: bool
    is_awaited: bool = False
    builds: tuple[Build, ...] = ()
    expected: Mapping[str, int] | None = None

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Return the answer in `raw`, which the coordinator made."""
        return cls(
            is_query_known=raw["is_query_known"],
            is_awaited=raw["is_awaited"],
            builds=tuple(
                Build(reported=LoadReport.from_json(each["says"]), is_alive=each["is_alive"]) for each in raw["builds"]
            ),
            expected=raw["expected"],
        )


class LoadGateExchange(Protocol):
    """A planner's load-gate exchange. Real: the coordinator. When called: by every planning that depends on it."""

    def exchange_gate(self, own: LoadGateRequest) -> LoadGateAnswer | None:
        """Send a request and return the answer; None = the coordinator cannot be reached."""
        ...
