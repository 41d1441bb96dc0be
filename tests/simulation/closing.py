"""How a schedule ends: the producers stop, everyone goes on, everything is read and every watermark arrives."""

from __future__ import annotations

from datasources.source.api.abilities import NullRowtime, ProcessingTime
from tests.simulation.application import Application
from tests.simulation.gate_laws import check_run_ended, gated_sources
from tests.simulation.laws import require
from tests.simulation.naive import NOTHING, combine, watermark
from tests.simulation.producer import Producer
from tests.simulation.query import Query
from tests.simulation.source import Planning, Source
from watermark import SplitStatus

_STALLED_ROUNDS = 16  # without a row read, though there are unread ones: longer than a lease and any timeout
_MAX_ROUNDS = 600
_ROUND_MS = 5_000
_SHORT_ROUND_MS = 10
_HEARTBEAT_MS = 31_000  # of a query without state
_ACTIVE_ROUNDS = 5
_ACTIVE_ROUND_MS = 1_100


def close(app: Application, queries: list[Query], producers: list[Producer]) -> None:
    """Let the producers stop and the queries go on; check laws 2, 3, 5 and 6."""
    app.is_reachable = True
    app.deliver_late_post()
    latest = _let_producers_catch_up(queries, producers)
    _drain(app, queries)
    for query in queries:
        for source in query.sources:
            _check_everything_was_read(source)
    _let_watermarks_arrive(app, queries)
    for query, producer in _with_one_active(queries, producers):
        _check_idle_sources_follow(app, query, producer, latest + 100_000)


def _let_producers_catch_up(queries: list[Query], producers: list[Producer]) -> int:
    """Without an idle timeout a split that brings nothing more holds its group for ever, and rightly so."""
    sources = [source for query in queries for source in query.sources]
    scripts = [script for source in sources for script in source.log.scripts.values()]
    latest = max((watermark(script, script.end) for script in scripts), default=NOTHING)
    if not all(s.options.idle_timeout_ms for s in sources if s.options.alignment is not None):
        for producer in producers:
            producer.add_everywhere(latest)
    return latest


# -- everything is read --


def _drain(app: Application, queries: list[Query]) -> None:
    stalled = rounds = 0
    budget_rows = app.random.choice((None, None, 15, 60))
    while (
        (unread := _unread(queries)) or any(q.pending or q.is_available_now for q in queries) or gated_sources(queries)
    ):
        for query in queries:
            _go_on(query, budget_rows)
        rounds += 1
        stalled = stalled + 1 if _unread(queries) == unread else 0
        app.advance(_ROUND_MS if stalled else _SHORT_ROUND_MS)
        waiting = [source.name for source in gated_sources(queries)]
        law = 8 if waiting else 5
        require(
            stalled < _STALLED_ROUNDS, law, f"{unread} rows stay unread: nothing moves any more, {waiting} are held"
        )
        require(rounds < _MAX_ROUNDS, law, f"{unread} rows stay unread after {rounds} rounds, {waiting} are held")


def _go_on(query: Query, budget_rows: int | None = None) -> None:
    query.faults_in_tasks = False
    if not query.is_running:
        query.start()
    query.raise_budget(budget_rows)
    if not query.trigger() and query.is_available_now:
        check_run_ended(query)
        query.stop(is_reported=True)
        query.start()


def _unread(queries: list[Query]) -> int:
    return sum(_unread_of(source) for query in queries for source in query.sources)


def _unread_of(source: Source) -> int:
    unread = 0
    for script in source.log.listed():
        if source.log.is_bounded and script.name not in source.positions:
            continue
        end = script.end if script.limit is None else min(script.end, script.limit)
        unread += max(0, end - source.positions.get(script.name, script.begin))
    return unread


def _check_everything_was_read(source: Source) -> None:
    drops_nulls = source.options.null_rowtime is NullRowtime.DROP
    found = sorted(source.emitted + source.dropped)
    require(len(set(found)) == len(found), 3, f"rows were read twice: {found}")
    wanted = set()
    for split, position in source.positions.items():
        script = source.script(split)
        wanted |= {
            script.id_of(p)
            for p in range(script.begin, position)
            if script.exists(p) and not (drops_nulls and script.rowtimes[p] is None)
        }
    missing = wanted - set(found)
    require(not missing, 3, f"rows were lost: {sorted(missing)}")


# -- every watermark arrives --


def _let_watermarks_arrive(app: Application, queries: list[Query]) -> None:
    """With nothing left to read, heartbeats carry every watermark, also those that move because splits fall idle."""
    for _ in range(3):
        app.advance(_HEARTBEAT_MS)
        for query in queries:
            _go_on(query)
    for query in queries:
        for planning in query.plannings:
            _check_watermark_arrived(planning)


def _check_watermark_arrived(planning: Planning) -> None:
    source = planning.source
    if planning.process.planner.status.is_processing or source.options.max_ahead_ms:
        return  # it follows a clock; what counted was decided batch by batch
    if source.options.is_compacted:
        return  # a record that vanished before its report arrived cannot be found again
    parts = [(_reached(source, split), status) for split, status in planning.statuses.items()]
    expected = combine(parts, None)
    require(
        source.last_row_watermark_ms >= expected,
        2,
        f"{source.name} never emits {expected}, only {source.last_row_watermark_ms}",
    )


def _reached(source: Source, split: str) -> int:
    """A split's watermark; what vanished before it was reported may be missing from it."""
    if source.options.is_compacted:
        return watermark(source.script(split), source.positions[split])
    return source.reached.get(split, NOTHING)


# -- idle sources follow --


def _with_one_active(queries: list[Query], producers: list[Producer]) -> list[tuple[Query, Producer]]:
    """Queries of several sources, each with the producer of a source that can be the only active one."""
    if not all(s.options.idle_timeout_ms for q in queries for s in q.sources):
        return []
    chosen = []
    for query in queries:
        usable = [p for p in producers if p.log in [s.log for s in query.sources if _can_lead(s)]]
        if len(query.sources) > 1 and query.keeps_state and usable:
            chosen.append((query, usable[0]))
    return chosen


def _can_lead(source: Source) -> bool:
    options = source.options
    is_plain = options.processing_time is ProcessingTime.NEVER and not options.max_ahead_ms
    return is_plain and not options.is_bounded and not source.log.has_removed


def _check_idle_sources_follow(app: Application, query: Query, producer: Producer, time_ms: int) -> None:
    for _ in range(_ACTIVE_ROUNDS):
        producer.add_everywhere(time_ms)
        _go_on(query)
        app.advance(_ACTIVE_ROUND_MS)
    for planning in query.plannings:
        source = planning.source
        statuses = set(planning.statuses.values())
        is_idle = SplitStatus.IDLE in statuses and SplitStatus.ACTIVE not in statuses
        if source.log is producer.log or (is_idle and not planning.process.planner.status.is_processing):
            app.faults.add("idle source beside an active one")
            require(
                source.last_row_watermark_ms >= time_ms,
                6,
                f"{source.name} holds the query at {source.last_row_watermark_ms}, not {time_ms}",
            )
