"""`make test`: all tests but the exhaustive ones, as fast as two cores allow; `make test AREA=kafka`: those of one area.

What needs no server runs on all cores. What needs servers mostly waits for them, so it runs in three processes, each with
its own; Spark's run two files at a time. They leave cores idle, and what takes minutes of all cores (`beside`) runs with
these, at the lowest priority, from the begin.

The tests of an area run without those that need Spark or more than ten seconds, so that a change has an answer in about
two minutes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.areas import areas, files_of_area
from tests.support.project import ROOT

PYTEST: Final = (sys.executable, "-m", "pytest", "-q")
BESIDE: Final = ("-m", "beside and not full")
IN_ORDER: Final = (
    ("-n", "auto", "-m", "not beside and not full and not spark and not kafka and not mysql"),
    ("-n", "3", "--dist", "worksteal", "-m", "not full and (kafka or mysql) and not spark"),
    ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "--durations=20", "-m", "not full and spark"),
)


WITHOUT_SPARK: Final = ("-n", "auto", "-m", "not beside and not full and not slow and not spark")


def run_areas(wanted: list[str]) -> int:
    """Run the tests of areas and the rules of the architecture; return the status."""
    if unknown := [area for area in wanted if not files_of_area(area)]:
        sys.stderr.write(
            f"no such area: {', '.join(unknown)}; there are {', '.join(areas())}, and folders within them\n"
        )
        return 2
    files = {str(file.relative_to(ROOT)) for area in wanted for file in files_of_area(area)}
    return subprocess.run([*PYTEST, *WITHOUT_SPARK, "tests/architecture", *sorted(files)], check=False).returncode


def main() -> int:
    """Run everything up to the first part that fails, or one area; return the status."""
    if wanted := sys.argv[1:]:
        return run_areas(wanted)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing is left behind
    with tempfile.TemporaryDirectory() as directory, beside(Path(directory) / "log") as other:
        for part in IN_ORDER:
            if status := subprocess.run([*PYTEST, *part], check=False).returncode:
                return status
        status = other.wait()
        print((Path(directory) / "log").read_text())
        return status


@contextmanager
def beside(log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run what runs beside the rest; nothing of it is left after the block."""
    with log.open("wb") as output:
        command = ["nice", "-n", "19", *PYTEST, *BESIDE]
        # A group and no session of its own: Linux weighs sessions against each other first, whatever is nice in them.
        process = subprocess.Popen(command, stdout=output, stderr=output, process_group=0)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):  # then all has ended
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
