"""The laws of holding, checked by the naive model.

8. A probe is read only behind its builds, and a missing report opens no gate.

   * No batch has rows of a probe behind a closed gate, and a batch in which it is released begins behind all that its builds
     had to load: the batches that are over say so, not the one that is planned.
   * It is released only by builds of its own run that could be heard: the coordinator can be reached and knows by tasks
     whose the sources are.
   * Once a written offset says that it is released, every later one says the same, whoever writes it.
   * A run for what is available now does not end while rows wait for a probe behind a closed gate, unless alignment keeps its
     builds from reading what is there.
   * With the producers stopped every probe is released.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.simulation.laws import require
from tests.simulation.query import Query
from tests.simulation.source import Planning, Source

__all__ = ["check_load_gate", "check_run_ended", "gated_sources"]


def check_load_gate(planning: Planning) -> None:
    """The first three, as soon as a planning returned."""
    source, end = planning.source, planning.end
    if end is None:
        return
    if end.load is not None and end.load.loaded == end.sequence:
        require(_is_loaded(source), 8, f"{source.name} is loaded at {source.positions} only")
        planning.process.is_loaded = True
        source.app.faults.add("loaded")
    if source.options.gate is None:
        return
    assert end.gate is not None
    opened = end.gate.opened
    if opened is None:
        rows = {s.split: s.rows for s in end.splits if s.rows}
        require(source.opened is None, 8, f"{source.name} closed its gate again after batch {source.opened}")
        require(not rows, 8, f"{source.name} is read behind a closed gate: {rows}")
        source.app.faults.add("closed gate")
        return
    require(source.opened in (None, opened), 8, f"{source.name}: released {source.opened}, now {opened}")
    if source.opened is None:
        require(opened == end.sequence, 8, f"{source.name} is released in batch {end.sequence} by {opened}")
        _check_opening(planning)
        source.app.faults.add("released")


def check_run_ended(query: Query) -> None:
    """The fourth, when a run for what is available now has no batch any more."""
    for source in gated_sources([query]):
        limit = source.process.limit
        waiting = {split: position for split, position in source.positions.items() if position < limit.get(split, 0)}
        stands = any(s.options.alignment is not None and _has_unread(s) for s in query.sources if s is not source)
        require(stands or not waiting, 8, f"the run ends, and {source.name} is held at {waiting} of {limit}")


def gated_sources(queries: Iterable[Query]) -> list[Source]:
    """The sources whose newest batch left them held."""
    return [s for query in queries for s in query.sources if s.offset.gate is not None and s.offset.gate.opened is None]


def _check_opening(planning: Planning) -> None:
    source, app = planning.source, planning.source.app
    require(app.is_reachable, 8, f"{source.name} is released while the coordinator cannot be reached")
    builds = [s for s in source.query.sources if s.options.load is not None]
    for each in (source, *builds):
        require(each.process.id in app.known_queries, 8, f"{source.name} is open, and no report knows {each.name}")
    for build in builds:
        is_loaded = build.process.is_loaded or build.offset.load.loaded is not None
        require(
            is_loaded and (_is_loaded(build) or _is_timed(build)),
            8,
            f"{source.name} is released, {build.name} stands at {build.positions} only",
        )


def _is_timed(build: Source) -> bool:
    """Whether it was loaded by a moment that is over."""
    return build.options.load.time_ms is not None


def _is_loaded(build: Source) -> bool:
    """By the batches that are over, and by what the log holds now."""
    settings = build.options.load
    if settings.time_ms is None:
        ends = {split: end for split, end in build.load_ends.items() if split in build.positions}
        return all(build.positions[split] >= end for split, end in ends.items())
    return build.last_row_watermark_ms >= settings.time_ms or not _has_unread(build)


def _has_unread(build: Source) -> bool:
    limit = build.process.limit
    for script in build.log.listed():
        end = script.end if limit is None else min(script.end, limit.get(script.name, 0))
        end = end if script.limit is None else min(end, script.limit)
        if script.name in build.positions and build.positions[script.name] < end:
            return True
    return False
