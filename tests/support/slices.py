"""The exhaustive tests in slices: `python -m tests.support.slices 45` runs as many as fit into 45 minutes.

A slice is a file's tests marked `full`, at most `SLICE` of them; with `--long`, its tests marked `long`, of two files at
the same time. The date decides which slice comes first, so runs on successive days cover all of them. A slice that the
end of the time interrupts has not failed: `-x` ends it at its first failure, so what fails after the interrupt fails
because of it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Final

from tests.support.run_all import PYTEST
from watermark import Clock, SystemClock

SLICE: Final = 40
"""The most tests of a slice."""
STRIDE: Final = 7
"""How many slices further each day begins: fewer than 45 minutes run as a rule."""
AT_ONCE: Final = {"full": 1, "long": 2}
"""How many slices run at the same time, by mark. A long test waits for servers and for processes that begin."""
_MARKS: Final = {"full": "full", "long": "long and not full"}
_LAST_SECONDS: Final = 120
_US_PER_DAY: Final = 86_400_000_000


def all_slices(mark: str) -> list[list[str]]:
    """Return the slices of a mark: lists of pytest's names of tests.

    Raises:
        RuntimeError: the tests cannot be collected.
    """
    collecting = [*PYTEST, "-p", "no:randomly", "--collect-only", "-m", _MARKS[mark]]  # the same slices in each run
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
            process.wait(_LAST_SECONDS)
        return "interrupted"
    finally:
        with contextlib.suppress(ProcessLookupError):  # then nothing is left
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run_slices(mark: str, minutes: float, clock: Clock) -> int:
    """Run slices until the time is over or a test fails; return the status."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where it is ignored, pytest would ignore it too
    slices = all_slices(mark)
    end_ns, results = clock.monotonic_ns() + int(minutes * 60e9), dict[int, str]()

    def run(numbered: tuple[int, list[str]]) -> None:
        number, names = numbered
        remaining_ns = end_ns - clock.monotonic_ns()
        if remaining_ns > 0 and "failed" not in results.values():
            print(f"\nslice {number} of {len(slices)}: {len(names)} tests, {names[0]}", flush=True)
            results[number] = run_slice(names, remaining_ns / 1e9)

    with ThreadPoolExecutor(AT_ONCE[mark]) as pool:
        list(pool.map(run, in_order_of(clock.now_us() // _US_PER_DAY, slices)))
    print("\n".join(["", *(f"slice {number} of {len(slices)}: {result}" for number, result in results.items())]))
    print(f"{len(results)} of {len(slices)} slices of tests marked {mark} in {minutes:g} minutes")
    return int("failed" in results.values())


def main(arguments: Sequence[str]) -> int:
    """Run slices: `[--long] MINUTES`."""
    return run_slices("long" if "--long" in arguments else "full", float(arguments[-1]), SystemClock())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
