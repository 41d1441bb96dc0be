"""Ctrl-C while Spark works.

PySpark's own handler calls the JVM from within a call to the JVM that is under way; both then fail, with tracebacks on
standard error, and the jobs continue. So while the shell waits, Ctrl-C only sets a flag, which the waiting code checks.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Final, TypeVar

__all__ = ["Interrupts", "interruptible", "noted_interrupts"]

_LOOK_S: Final = 0.2

T = TypeVar("T")


class Interrupts:
    """Whether Ctrl-C was pressed. No event: setting one in a signal handler can wait for the thread that it stopped."""

    is_pressed = False


@contextmanager
def noted_interrupts() -> Iterator[Interrupts]:
    """Note Ctrl-C in the block instead of raising KeyboardInterrupt; only the main thread can ask for that."""
    interrupts = Interrupts()

    def note(_number: int, _frame: object) -> None:
        interrupts.is_pressed = True

    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)


def interruptible(action: Callable[[], T], cancel: Callable[[], None]) -> T:
    """Run an action in a thread of its own and return its result; Ctrl-C cancels it.

    Args:
        action: what to run.
        cancel: makes the action end soon; called in this thread, again and again until the action has ended: what it
            cancels may not have begun.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed, and the action has ended.
    """
    with noted_interrupts() as interrupts, ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(action)
        while not wait([future], timeout=_LOOK_S).done:
            if interrupts.is_pressed:
                cancel()
        if interrupts.is_pressed:
            raise KeyboardInterrupt
        return future.result()
