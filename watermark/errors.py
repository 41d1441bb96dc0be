"""Every error that the algebra raises.

    WatermarkError
    ├── InvalidStrategy            an idle timeout that cannot work
    ├── InvalidTimeline            a file of ``python -m watermark`` without the documented shape; names the step
    ├── SplitError                 the caller's bookkeeping of splits went wrong
    │   ├── DuplicateSplit         an id was registered twice
    │   ├── UnknownSplit           an id is not, or no longer, registered
    │   └── IllegalTransition      something happened to a split that has finished
    ├── ClockError                 a clock was asked to run backwards, or a timer resumed without a pause
    └── ProcessingTimeError        the rules of ``use_processing_time`` were broken
        ├── EventTimeAfterProcessingTime    it was taken back
        └── ProcessingTimeTooEarly          it was declared while the clock is behind the watermark

Each message is one sentence: what happened, to which split, and what to do about it.
"""

from __future__ import annotations


class WatermarkError(Exception):
    """Base of all errors of the algebra."""


class InvalidStrategy(WatermarkError):
    """A strategy cannot work as given; correct the value that the message names."""


class InvalidTimeline(WatermarkError):
    """A timeline does not follow the format; the message names the step and what it lacks."""


class SplitError(WatermarkError):
    """The splits that the caller names are not those that it registered."""


class DuplicateSplit(SplitError):
    """A split id was registered twice; unregister it first, or use unique ids."""


class UnknownSplit(SplitError):
    """A split id is not registered; register a split when it is assigned, before its first row."""


class IllegalTransition(SplitError):
    """Something happened to a split after it had finished."""


class ClockError(WatermarkError):
    """Time cannot go backwards, and a timer that runs cannot be resumed."""


class ProcessingTimeError(WatermarkError):
    """A watermark broke the rules of ``use_processing_time``."""


class EventTimeAfterProcessingTime(ProcessingTimeError):
    """An output that follows processing time was given an event-time watermark; the switch is for good."""


class ProcessingTimeTooEarly(ProcessingTimeError):
    """An output was switched to processing time while its watermark was later than the clock."""
