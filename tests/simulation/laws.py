"""The laws, each checked after every step by the naive model.

1. Reading a batch, again or in another process, gives exactly the rows and row watermarks that its end offset and the log say.
2. An offset says what the log says: where every split stands, its watermark, which splits are idle; the combination
   follows from these, never runs ahead of them and never goes back.
3. No row is lost or read twice: every range begins where the last one ended. At the end everything was read.
4. Alignment. Of every record read in a batch: its candidate is at most max(F at the start, F at the end) + max-drift.
   F is the minimum, over the splits of the group that are not idle, of the candidate of their next unread record (of
   their watermark if there is none). What F is taken over is what a planning can know:

   * the own source's splits and records as they are when the batch is planned (up to AvailableNow's limit);
   * of another source the splits that were not idle, and their records, at its last planning that reached the
     coordinator: what appears or returns there later counts from its next planning on. A source counts from its first
     planning until its lease ends (for sources of its own query run it has none), its query is terminated or runs
     anew, or the coordinator forgets it; while the coordinator cannot be reached, the others as they were last seen,
     for a lease;
   * at the start own splits stand where the batch begins, those of others where their newest planned batch ends: what
     is planned counts as read, even if a crash forgets it;
   * at the end own splits stand where the batch ends, and those of sources of the same query where their batches of
     the same trigger end, or where they stood before if that is later (out of order: the tasks of a trigger have no
     order); where a slower record came there meanwhile, they stand where they would have come without it.

   A source whose splits are not aligned plans rows only while its own minimum, watermark or next record, is at most
   F of the others + max-drift.
   What a source publishes as its minimum is never above its own part of F at the end.
5. The slowest split is never paused (a planner that did not look at a record takes the split's watermark for it). Paused splits resume: with the producers stopped everything is read in the end.
6. An idle source never holds back a query in which another source is active.
7. An offset survives JSON, and nothing but it is needed to make the tasks.
"""

from __future__ import annotations

import itertools
import json

from datasources.source.api.split import SplitProgress
from datasources.source.checkpoint.offset import Offset
from tests.simulation.naive import FINAL_MS, NOTHING, candidates, combine, watermark
from tests.simulation.source import Known, Planning
from watermark import SplitStatus

_MAX_SPLITS = 100
_HOLDING_BACK = (SplitStatus.ACTIVE, SplitStatus.PAUSED)


class LawBroken(AssertionError):
    """A law does not hold."""

    def __init__(self, law: int, text: str) -> None:
        super().__init__(law, text)  # as it is made again on its way out of another process
        self.law = law

    def __str__(self) -> str:
        return "law {}: {}".format(*self.args)


def require(satisfied: object, law: int, text: str) -> None:
    if not satisfied:
        raise LawBroken(law, text)


def check_planning(planning: Planning) -> None:
    """Laws 2, 5, 7 and the published floor, as soon as a planning returned."""
    _check_pauses(planning)
    _check_source_status(planning)
    end = planning.end
    if end is None:
        return
    raw = end.to_json()
    again = Offset.from_json(json.loads(json.dumps(raw)))
    require(again == end and json.dumps(again.to_json()) == json.dumps(raw), 7, f"{raw} is read as {again}")
    _check_splits(planning, end)
    _check_combination(planning, end)


# -- law 2 --


def _check_splits(planning: Planning, end: Offset) -> None:
    source = planning.source
    found = {s.split: s for s in end.splits}
    require(found.keys() == planning.positions.keys(), 2, f"splits {list(found)}, not {list(planning.positions)}")
    for name, split in found.items():
        script, position = source.script(name), planning.positions[name]
        require(split.start == position, 3, f"{name} goes on at {split.start}, but was read up to {position}")
        require(split.known_at <= split.start <= split.end <= planning.log_ends[name], 3, f"range {split}")
        low, high = _true_watermark(planning, name, split.known_at)
        reported = NOTHING if split.watermark_ms is None else split.watermark_ms
        require(
            low <= reported <= high, 2, f"{name} has watermark {reported} at {split.known_at}, not in [{low}, {high}]"
        )
        _check_status(planning, split)
        if script.limit is not None:
            require(split.limit == script.limit, 2, f"limit of {split}")


def _true_watermark(planning: Planning, name: str, until: int) -> tuple[int, int]:
    """Between which values it must be: one value, unless records vanished or ceilings differed."""
    source = planning.source
    script = source.script(name)
    ceilings = source.ceilings
    low = watermark(script, until, min(ceilings) if ceilings else None)
    if source.options.is_compacted:
        inside = [c for c in script.candidates[script.begin : until] if c is not None]
        return low, max(inside, default=NOTHING)
    return low, watermark(script, until, max(ceilings) if ceilings else None)


def _check_status(planning: Planning, split: SplitProgress) -> None:
    expected = planning.statuses[split.split]
    if expected is SplitStatus.FINISHED and split.known_at < split.start:
        expected = split.status  # its final watermark is not known yet
    found = SplitStatus.ACTIVE if split.status is SplitStatus.PAUSED else split.status
    require(found is expected, 2, f"{split.split} is {split.status.name}, not {expected.name}")


def _check_combination(planning: Planning, end: Offset) -> None:
    combined = NOTHING if end.combined_ms is None else end.combined_ms
    sure = planning.process.sure_ms
    require(combined >= planning.source.highest_ms, 2, f"the watermark goes back to {combined}")
    require(sure is None or combined >= sure, 2, f"{combined} although {sure} went out")
    counting = {s.split: _counting(planning, s) for s in end.splits}
    low, own = (
        combine([(counting[s.split][i], s.status) for s in end.splits], end.emitted_watermark_ms) for i in (0, 1)
    )
    if own == FINAL_MS or (not end.is_processing and any(s.status in _HOLDING_BACK for s in end.splits)):
        require(low <= combined <= own, 2, f"combined {combined}, not in [{low}, {own}]")
        return
    require(combined <= max(own, _lead(planning, end)), 2, f"combined {combined} runs ahead of {own}")
    require(end.is_processing or combined >= own, 2, f"combined {combined} stays behind {own}")


def _counting(planning: Planning, split: SplitProgress) -> tuple[int | None, int | None]:
    """Between which values a split counts; a watermark is one.

    A split that alignment pauses before its first record holds just before that record's candidate. Where candidates
    have a ceiling, another record may have been the first with a candidate when the planner looked: a smaller one, for
    the ceiling was lower then.
    """
    if split.watermark_ms is not None or split.status is not SplitStatus.PAUSED:
        return split.watermark_ms, split.watermark_ms
    part = planning.part(split.split, planning.positions)
    if part is None or planning.ceiling_ms is None:
        return (None, None) if part is None else (part - 1, part - 1)
    script, start = planning.source.script(split.split), planning.positions[split.split]
    unread = candidates(script, start, planning.log_ends[split.split], planning.ceiling_ms)
    return min([part, *(c for _, c in unread)]) - 1, part - 1


def _lead(planning: Planning, end: Offset) -> int:
    """How far a source that is idle or in processing time may come by the clock and by the others."""
    source, process = planning.source, planning.process
    clock_ms = planning.now_ms if process.limit is None else process.limit_ms
    others = max(_followed(known, clock_ms, end) for known in (planning.known, planning.known_before))
    idle = [s for s in end.splits if s.status is SplitStatus.IDLE]
    if end.is_processing or not (idle and source.options.advances_when_idle):
        return others
    since = max(s.moved_ms for s in idle) + source.options.idle_timeout_ms
    latest = max((s.watermark_ms for s in idle if s.watermark_ms is not None), default=NOTHING)
    return max(others, latest + max(0, clock_ms - since))


def _followed(known: list[Known], clock_ms: int, end: Offset) -> int:
    mine = [k.member.reported for k in known if k.same_query and not k.member.reported.is_finished]
    active = [s.watermark_ms for s in mine if not s.is_idle and not s.is_processing]
    if not active and end.is_processing:
        return clock_ms
    active = active or [s.watermark_ms for s in mine if s.is_processing]
    if active:
        return NOTHING if None in active else min(active)
    return max((s.watermark_ms for s in mine if s.watermark_ms is not None), default=NOTHING)


# -- laws 4 and 5 --


def _check_source_status(planning: Planning) -> None:
    member = planning.process.newest
    if member is None or member.reported.round != planning.process.rounds:
        return
    group_minimum, own = member.reported.planned_minimum_ms, member.planned_minimum_ms
    require(
        group_minimum is None or own is None or group_minimum <= own,
        4,
        f"floor {group_minimum} is published, but F is {own}",
    )


def _check_pauses(planning: Planning) -> None:
    alignment = planning.source.options.alignment
    if alignment is None or not alignment.aligns_splits:
        return
    table = planning.process.planner.table(planning.end or planning.source.offset, max_splits=_MAX_SPLITS)
    paused = [row["split"] for row in table["splits"] if row["paused_since"] is not None]
    parts = {split: planning.part(split, planning.positions) for split in planning.holding}
    known = [_known_part(planning, split, part) for split, part in parts.items()]
    slowest = lower(*known, *(k.member.reported.planned_minimum_ms for k in _group(planning, planning.known)))
    for split in paused:
        part = parts[split]
        require(
            slowest is None or part is None or part > slowest, 5, f"{split} is paused, but it is the slowest: {parts}"
        )


def _known_part(planning: Planning, split: str, part: int | None) -> int | None:
    """A planner need not look at the next record: it may take the watermark for it, where that is lower.

    Where candidates have a ceiling it may have looked while the ceiling was lower: then another record had the first
    candidate. The batch that reads up to it learns better.
    """
    reached = planning.source.reached.get(split, NOTHING)
    known = part if reached == NOTHING else lower(part, reached)
    if planning.ceiling_ms is None:
        return known
    script, start = planning.source.script(split), planning.positions[split]
    return lower(known, *(c for _, c in candidates(script, start, planning.log_ends[split], planning.ceiling_ms)))


def check_alignment(plannings: list[Planning]) -> None:
    """Law 4 for the batches of one trigger."""
    positions = {p.process.id: p for p in plannings}
    for planning in plannings:
        alignment = planning.source.options.alignment
        if planning.end is None or alignment is None or planning.end.is_processing:
            continue
        at_start = lower(
            planning.group_minimum(planning.positions), *(k.member.planned_minimum_ms for k in _counted(planning))
        )
        if alignment.aligns_splits:
            at_end = lower(planning.group_minimum(planning.stops), *(_at_end(k, positions) for k in _counted(planning)))
            slowest = at_start if at_end is None else at_end if at_start is None else max(at_start, at_end)
            _check_records(planning, slowest, alignment.max_drift_ms + _minimum_slack_ms(planning))
        else:
            _check_whole(
                planning, lower(*(k.member.planned_minimum_ms for k in _counted(planning))), alignment.max_drift_ms
            )


def _minimum_slack_ms(planning: Planning) -> int:
    """By how much a promise may be wrong: sources of one query, a row budget, and records out of order.

    Which records a budget takes is decided anew in every trigger, so behind a promised end a late record may come to
    stand at the end of the batch. It is late by the disorder of its split, no more.
    """
    query = planning.source.query
    if query.budget_rows is None or len(query.sources) == 1:
        return 0
    return max(_disorder_ms(script.candidates) for s in query.sources for script in s.log.scripts.values())


def _disorder_ms(candidates: list[int | None]) -> int:
    known = [c for c in candidates if c is not None]
    return max((high - c for high, c in zip(itertools.accumulate(known, max), known, strict=True)), default=0)


def _check_records(planning: Planning, slowest: int | None, drift_ms: int) -> None:
    for split, stop in planning.stops.items():
        script = planning.source.script(split)
        start = planning.positions.get(split, stop)
        read = [script.candidates[p] for p in range(start, stop) if script.exists(p)]
        read = [c for c in read if c is not None and (planning.ceiling_ms is None or c <= planning.ceiling_ms)]
        if read and slowest is not None:
            require(
                max(read) <= slowest + drift_ms, 4, f"{split}: {max(read)} is read, F + drift = {slowest} + {drift_ms}"
            )


def _check_whole(planning: Planning, slowest: int | None, drift_ms: int) -> None:
    assert planning.end is not None
    holding = [s.watermark_ms for s in planning.end.splits if s.status in _HOLDING_BACK]
    if slowest is None or None in holding or not any(s.rows for s in planning.end.splits) or not holding:
        return
    own = lower(min(holding), planning.group_minimum(planning.positions))  # its own late record may hold the others
    require(own is None or own <= slowest + drift_ms, 4, f"the source is at {own}, F + drift = {slowest} + {drift_ms}")


def _at_end(known: Known, plannings: dict[str, Planning]) -> int | None:
    planning = plannings.get(known.member.process.id)
    member = known.member
    if planning is None or member.planned_minimum_ms is None:
        return member.planned_minimum_ms
    reachable = member.reported.guaranteed_minimum_ms
    if reachable is not None and _has_slower(planning, member.log_ends, reachable):
        return max(reachable, member.planned_minimum_ms)
    at_end = planning.group_minimum(planning.stops, member.log_ends)
    return None if at_end is None else max(at_end, member.planned_minimum_ms)


def _has_slower(planning: Planning, log_ends: dict[str, int], guaranteed_minimum_ms: int) -> bool:
    """Whether something before `guaranteed_minimum_ms` is there now that was not when the splits had `log_ends`."""
    for split in planning.holding:
        part = planning.part(split, planning.positions)
        if split not in log_ends and part is not None and part < guaranteed_minimum_ms:
            return True
        start = max(planning.positions[split], log_ends.get(split, 0))
        new = candidates(planning.source.script(split), start, planning.log_ends[split], planning.ceiling_ms)
        if any(candidate < guaranteed_minimum_ms for _, candidate in new):
            return True
    return False


def _group(planning: Planning, known: list[Known]) -> list[Known]:
    alignment = planning.source.options.alignment
    assert alignment is not None
    return [k for k in known if k.member.reported.group == alignment.group]


def _counted(planning: Planning) -> list[Known]:
    """The group without what is left of earlier runs of the own query: its splits are those of this run."""
    query, run = planning.source.query, planning.process.run
    return [
        k
        for k in _group(planning, planning.known_after)
        if k.member.process.source.query is not query or k.member.process.run == run
    ]


def lower(*values: int | None) -> int | None:
    return min((v for v in values if v is not None), default=None)
