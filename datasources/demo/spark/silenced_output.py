"""Keeps a terminal clean: output of Spark, Kafka's client and Python workers goes to a file.

They write to the file descriptors of standard output and error, from several processes, so the descriptors themselves
are redirected. Our own output goes to the stream that the context returns.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

_STDOUT: Final = 1
_STDERR: Final = 2


@contextmanager
def silenced_output(log: Path) -> Iterator[TextIO]:
    """Give the real standard output; everything else that this process and its children print goes to ``log``."""
    _flush()
    saved = {descriptor: os.dup(descriptor) for descriptor in (_STDOUT, _STDERR)}
    try:
        with log.open("ab") as sink:
            for descriptor in saved:
                os.dup2(sink.fileno(), descriptor)
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        with os.fdopen(os.dup(saved[_STDOUT]), "w", encoding=encoding, errors="replace") as terminal:
            yield terminal
    finally:
        _flush()
        for descriptor, original in saved.items():
            os.dup2(original, descriptor)
            os.close(original)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
