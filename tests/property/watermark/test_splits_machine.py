"""``SplitWatermarks`` against a naive model, under any sequence of calls."""

from __future__ import annotations

import itertools

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from watermark import MAX_WATERMARK, MIN_WATERMARK, ManualClock, SplitStatus
from watermark.reference import EmissionGuard, RecordingOutput, SplitWatermarks, StreamStatus, Watermark

_IDS = st.sampled_from("ABCD")
_TIMES = st.integers(-20, 20)


class Model:
    """What the combination should be, written without thinking of speed or of Flink."""

    def __init__(self) -> None:
        self.splits: dict[str, dict] = {}
        self.watermark, self.is_idle, self.had_splits = MIN_WATERMARK, False, False

    def add(self, split_id: str) -> None:
        self.splits[split_id] = {"watermark": MIN_WATERMARK, "idle": False, "paused": False, "finished": False}
        self.is_idle, self.had_splits = False, True

    def combine(self) -> None:
        living = [split for split in self.splits.values() if not split["finished"]]
        active = [split["watermark"] for split in living if not split["idle"]]
        if active:
            self.watermark = max(self.watermark, min(active))
        elif living:
            self.watermark = max(self.watermark, *(split["watermark"] for split in living))
        elif self.splits:
            self.watermark = MAX_WATERMARK
        self.is_idle = not active and (bool(living) or (not self.splits and self.had_splits))


class SplitsMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.recording = RecordingOutput()
        self.guard = EmissionGuard(self.recording, ManualClock())
        self.splits = SplitWatermarks(self.guard)

    def living(self, split_id: str) -> bool:
        return split_id in self.model.splits and not self.model.splits[split_id]["finished"]

    @rule(split_id=_IDS)
    def add_or_remove(self, split_id):
        if split_id in self.model.splits:
            assert self.splits.unregister(split_id)
            del self.model.splits[split_id]
            self.model.combine()
        else:
            assert not self.splits.unregister(split_id)
            self.splits.register(split_id)
            self.model.add(split_id)

    @rule(split_id=_IDS, timestamp=_TIMES, at_once=st.booleans())
    def emit(self, split_id, timestamp, at_once):
        if not self.living(split_id):
            return
        split = self.model.splits[split_id]
        has_effect = timestamp > split["watermark"] or split["idle"]
        split.update(watermark=max(timestamp, split["watermark"]), idle=False)
        output = self.splits.immediate_output(split_id) if at_once else self.splits.deferred_output(split_id)
        output.emit_watermark(Watermark(timestamp))
        if at_once and has_effect:
            self.model.combine()

    @rule(split_id=_IDS)
    def record(self, split_id):
        if self.living(split_id):
            self.splits.on_record(split_id)
            self.model.splits[split_id]["idle"] = False
            self.model.is_idle = False

    @rule(split_id=_IDS, is_idle=st.booleans(), at_once=st.booleans())
    def mark(self, split_id, is_idle, at_once):
        if self.living(split_id):
            output = self.splits.immediate_output(split_id) if at_once else self.splits.deferred_output(split_id)
            (output.mark_idle if is_idle else output.mark_active)()
            self.model.splits[split_id]["idle"] = is_idle
            if at_once:
                self.model.combine()

    @rule(split_id=_IDS, is_paused=st.booleans())
    def pause_or_resume(self, split_id, is_paused):
        if self.living(split_id):
            (self.splits.pause if is_paused else self.splits.resume)(split_id)
            self.model.splits[split_id]["paused"] = is_paused

    @precondition(lambda self: len(self.model.splits) > 2)
    @rule(split_id=_IDS)
    def finish(self, split_id):
        if self.living(split_id):
            self.splits.finish(split_id)
            self.model.splits[split_id].update(finished=True, paused=False)
            self.model.combine()

    @rule()
    def tick(self):
        self.splits.combine()
        self.model.combine()

    @invariant()
    def the_combination_is_the_models(self):
        combination = self.splits.combination
        assert combination.watermark == Watermark(self.model.watermark)
        assert combination.is_idle == self.model.is_idle

    @invariant()
    def each_split_is_as_in_the_model(self):
        for split_id, split in self.model.splits.items():
            partial = self.splits.partial(split_id)
            assert partial.watermark == Watermark(split["watermark"])
            if split["finished"]:
                assert partial.status is SplitStatus.FINISHED
            elif split["idle"]:
                assert partial.status is SplitStatus.IDLE
            else:
                assert partial.status is (SplitStatus.PAUSED if split["paused"] else SplitStatus.ACTIVE)
            assert self.splits.is_paused(split_id) == split["paused"]

    @invariant()
    def watermarks_rise_and_statuses_alternate(self):
        emitted = self.recording.emitted
        timestamps = [what.timestamp for what in emitted if isinstance(what, Watermark)]
        assert all(before < after for before, after in itertools.pairwise(timestamps))
        statuses = [StreamStatus.ACTIVE, *(what for what in emitted if isinstance(what, StreamStatus))]
        assert all(before is not after for before, after in itertools.pairwise(statuses))

    @invariant()
    def without_splits_nothing_was_ever_emitted(self):
        if not self.model.had_splits:
            assert self.recording.emitted == []


SplitsMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
test_splits_behave_like_the_model = SplitsMachine.TestCase
