"""``python -m watermark FILE.json``: replay a timeline and print what the reader would emit.

Exit status: 0; 1 if the replay ended with an error line; 2 if the file is malformed or cannot be read.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from watermark.errors import InvalidTimeline
from watermark.reference.replay import replay
from watermark.reference.timeline import Timeline, parse_timeline

_USAGE: Final = "usage: python -m watermark FILE.json"


def main(arguments: Sequence[str]) -> int:
    """Replay the file that the arguments name, and return the exit status."""
    if len(arguments) != 1:
        return _refuse(_USAGE)
    if arguments[0] in {"-h", "--help"}:
        print(f"{_USAGE}\n\nReplays a timeline of splits and prints what their reader would emit.")
        return 0
    try:
        timeline = _load(Path(arguments[0]))
    except OSError as error:
        return _refuse(f"{arguments[0]}: {error.strerror}")
    except (UnicodeDecodeError, InvalidTimeline) as error:
        return _refuse(f"{arguments[0]}: {error}")
    return _print_replay(timeline)


def _load(path: Path) -> Timeline:
    return parse_timeline(path.read_text(encoding="utf-8-sig"))


def _print_replay(timeline: Timeline) -> int:
    has_failed = False
    for line in replay(timeline):
        print(json.dumps(line, separators=(",", ":")))
        has_failed = "error" in line
    return 1 if has_failed else 0


def _refuse(message: str) -> int:
    print(" ".join(message.split()), file=sys.stderr)
    return 2


if __name__ == "__main__":
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the pipe closed it; the interpreter must not complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    sys.exit(status)
