"""When a split is idle: a timer that takes the time as an argument.

Theory of operation. Idle time is time in which a split *could* have delivered and did not. It is anchored at the last
activity and expires exactly when ``timeout`` has passed (``>=``), however often it is queried: Flink's timer starts
at the first periodic check without activity, which delays detection by up to three ticks (FLINK-40503). While the split
is not polled the timer is stopped, else alignment or a slow consumer would make a split idle that has rows waiting
(FLINK-35886, FLINK-36751). The instant 0 is an instant like any other.
"""

from __future__ import annotations

from watermark.errors import ClockError, InvalidStrategy


class IdlenessTimer:
    """Measures the time since one split's last activity, without the time in which it was paused.

    Units: nanoseconds of a monotonic clock. The caller passes ``now_ns``, which never decreases.

    Args:
        timeout_ns: How long a split may be silent before it is idle.
        now_ns: When the timer starts; the assignment of the split counts as activity.
        elapsed_ns: Idle time that had already passed then, so that a restarted process continues where its
            predecessor stopped.

    Raises:
        InvalidStrategy: The timeout is not positive, or the elapsed time is negative.
    """

    __slots__ = ("_elapsed_ns", "_pauses", "_running_since_ns", "_timeout_ns")

    def __init__(self, timeout_ns: int, *, now_ns: int, elapsed_ns: int = 0) -> None:
        if timeout_ns <= 0:
            raise InvalidStrategy(
                f"an idle timeout must be positive, got {timeout_ns} ns: leave it out to disable idleness"
            )
        if elapsed_ns < 0:
            raise InvalidStrategy(f"the idle time so far cannot be negative, got {elapsed_ns} ns")
        self._timeout_ns = timeout_ns
        self._elapsed_ns = elapsed_ns
        self._running_since_ns = now_ns
        self._pauses = 0

    def on_activity(self, now_ns: int) -> None:
        """Start anew: the split delivered a row, or was marked active."""
        self._elapsed_ns = 0
        self._running_since_ns = now_ns

    def pause(self, now_ns: int) -> None:
        """Stand still: the split is not polled. Pauses nest."""
        self._elapsed_ns = self.elapsed_ns(now_ns)
        self._running_since_ns = now_ns
        self._pauses += 1

    def resume(self, now_ns: int) -> None:
        """Undo one pause; the timer continues where it stopped when the last pause is undone.

        Raises:
            ClockError: The timer is not paused.
        """
        if not self._pauses:
            raise ClockError("an idleness timer was resumed that is not paused: each resume takes back one pause")
        self._pauses -= 1
        self._running_since_ns = now_ns

    def elapsed_ns(self, now_ns: int) -> int:
        """Return the idle time so far, to be shown or stored across a restart."""
        return self._elapsed_ns if self._pauses else self._elapsed_ns + now_ns - self._running_since_ns

    def deadline_ns(self) -> int | None:
        """Return when the split will be idle if nothing happens; ``None`` while the timer is paused."""
        return None if self._pauses else self._running_since_ns + self._timeout_ns - self._elapsed_ns

    def is_expired(self, now_ns: int) -> bool:
        """Return whether the timeout has passed."""
        return self.elapsed_ns(now_ns) >= self._timeout_ns
