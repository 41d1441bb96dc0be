"""`make test`: one form of every rule, as fast as two cores allow; `make test-long`: the long ones; or one area.

What needs no server runs on all cores. What needs servers or Spark also waits for them, so it runs in one process more,
the slow files first; a file stays in one of them, where it starts its servers once. Each part ends with its twenty
longest tests. Runs of many seconds are marked `long`, exhaustive forms `full`; the latter are left to `make test-all` and
`slices.py`.

The tests of an area run without those that need Spark or more than ten seconds, so that a change has an answer in about
two minutes.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Final

from tests.support.areas import areas, files_of_area
from tests.support.project import ROOT

PYTEST: Final = (sys.executable, "-m", "pytest", "-q")
BY_FILE: Final = ("-n", "3", "--dist", "loadfile", "--no-loadscope-reorder")
WITH_SERVERS: Final = ("tests/integration", "tests/chaos", "tests/contract", "tests/property")
"""Where the tests that need servers or Spark are; collecting the others takes as long as a part of them."""
IN_ORDER: Final = (
    ("-n", "auto", "-m", "not full and not long and not spark and not kafka and not mysql"),
    (*BY_FILE, "-m", "not full and not long and (spark or kafka or mysql)", *WITH_SERVERS),
)
LONG: Final = ((*BY_FILE, "-m", "long and not full", *WITH_SERVERS),)
LONGEST: Final = "--durations=20"
WITHOUT_SPARK: Final = (*BY_FILE, "-n", "6", "-m", "not full and not long and not slow and not spark")
"""Tests of an area wait for its servers most of the time."""


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
    """Run everything up to the first part that fails, the long ones (`--long`), or areas; return the status."""
    wanted = sys.argv[1:]
    if wanted and wanted != ["--long"]:
        return run_areas(wanted)
    for part in LONG if wanted else IN_ORDER:
        if status := subprocess.run([*PYTEST, LONGEST, *part], check=False).returncode:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
