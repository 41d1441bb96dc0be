"""The exhaustive tests in slices: `python -m tests.support.slices 45` runs as many as fit into 45 minutes.

A slice is a file's tests marked `full`, at most `SLICE` of them. The date decides which slice comes first, so runs on
successive days cover all of them. A slice that the end of the time interrupts has not failed: `-x` ends it at its first
failure.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from tests.support.run_all import PYTEST
from watermark import Clock, SystemClock

SLICE: Final = 40
"""The most tests of a slice."""
STRIDE: Final = 7
"""How many slices further each day begins: fewer than 45 minutes run as a rule."""
_INTERRUPTED: Final = 2
_LAST_SECONDS: Final = 120
_US_PER_DAY: Final = 86_400_000_000


def all_slices() -> list[list[str]]:
    """Return the slices: lists of pytest's names of tests.

    Raises:
        RuntimeError: the tests cannot be collected.
    """
    collecting = [*PYTEST, "-p", "no:randomly", "--collect-only", "-m", "full"]  # the same slices in each run
    asked = subprocess.run(collecting, capture_output=True, text=True, check=False)
    names = [line for line in asked.stdout.splitlines() if "::" in line]
    if asked.returncode or not names:
        raise RuntimeError(asked.stdout + asked.stderr)
    of_files = [list(group) for _, group in groupby(names, key=lambda name: name.partition("::")[0])]
    return [group[at : at + SLICE] for group in of_files for at in range(0, len(group), SLICE)]


def in_order_of(day: int, slices: Sequence[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield all slices with their number (from 1), beginning with that of the day (since the epoch)."""
    first = day * STRIDE % len(slices)
    for step in range(len(slices)):
        number = (first + step) % len(slices)
        yield number + 1, slices[number]


def run_slice(names: Sequence[str], seconds: float) -> str:
    """Run tests for at most `seconds`; return "passed", "failed" or "interrupted"."""
    process = subprocess.Popen([*PYTEST, "-x", *names], start_new_session=True)
    try:
        return "failed" if process.wait(seconds) else "passed"
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # pytest stops what the tests started
        with contextlib.suppress(subprocess.TimeoutExpired):
            return "interrupted" if process.wait(_LAST_SECONDS) in (0, _INTERRUPTED) else "failed"
        return "interrupted"
    finally:
        with contextlib.suppress(ProcessLookupError):  # then nothing is left
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run_slices(minutes: float, clock: Clock) -> int:
    """Run slices until the time is over or a test fails; return the status."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where it is ignored, pytest would ignore it too
    slices = all_slices()
    end_ns, results = clock.monotonic_ns() + int(minutes * 60e9), dict[int, str]()
    for number, names in in_order_of(clock.now_us() // _US_PER_DAY, slices):
        remaining_ns = end_ns - clock.monotonic_ns()
        if remaining_ns <= 0 or "failed" in results.values():
            break
        print(f"\nslice {number} of {len(slices)}: {len(names)} tests, {names[0]}", flush=True)
        results[number] = run_slice(names, remaining_ns / 1e9)
    print("\n".join(["", *(f"slice {number} of {len(slices)}: {result}" for number, result in results.items())]))
    return int("failed" in results.values())


if __name__ == "__main__":
    sys.exit(run_slices(float(sys.argv[1]), SystemClock()))
