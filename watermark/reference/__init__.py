"""The per-record model: the rules of ``DESIGN.md`` one record at a time, in classes like Flink's.

``python -m watermark`` replays timelines with it, and property tests compare ``watermark.vectorized`` with it. Read
``strategy``, ``reader``, ``multiplexer``, ``combined``; then ``alignment``. ``split_transitions`` and
``idleness_timer`` are the life of a split; ``timeline`` and ``replay`` are the command.
"""

from __future__ import annotations

from watermark.reference.alignment import AlignmentDecision, SplitAlignment, group_minimum
from watermark.reference.combined import Combination, CombinedWatermark, PartialWatermark, combine, is_later
from watermark.reference.generators import ExpressionValues
from watermark.reference.idleness_timer import IdlenessTimer
from watermark.reference.multiplexer import SplitWatermarks
from watermark.reference.output import EmissionGuard, Emitted, RecordingOutput, StreamStatus, WatermarkOutput
from watermark.reference.reader import ReaderWatermarks
from watermark.reference.replay import Line, replay
from watermark.reference.split_transitions import TRANSITIONS, SplitEvent, next_status
from watermark.reference.strategy import WatermarkStrategy
from watermark.reference.timeline import JsonValue, StepKind, Timeline, TimelineStep, parse_timeline
from watermark.reference.watermark import END_OF_INPUT, NO_WATERMARK, PROCESSING_TIME, Watermark

__all__ = [
    "END_OF_INPUT",
    "NO_WATERMARK",
    "PROCESSING_TIME",
    "TRANSITIONS",
    "AlignmentDecision",
    "Combination",
    "CombinedWatermark",
    "EmissionGuard",
    "Emitted",
    "ExpressionValues",
    "IdlenessTimer",
    "JsonValue",
    "Line",
    "PartialWatermark",
    "ReaderWatermarks",
    "RecordingOutput",
    "SplitAlignment",
    "SplitEvent",
    "SplitWatermarks",
    "StepKind",
    "StreamStatus",
    "Timeline",
    "TimelineStep",
    "Watermark",
    "WatermarkOutput",
    "WatermarkStrategy",
    "combine",
    "group_minimum",
    "is_later",
    "next_status",
    "parse_timeline",
    "replay",
]
