"""What a query costs: CPU of the driver's JVM and everything that it started, and the memory of the largest worker.

CPU is user + system time from the kernel's accounting, children that ended included. The broker, the producer and the
benchmark's own process are not descendants of that JVM and do not count. Python workers outlive the daemon that started
them for a moment; the kernel then gives them to this process, so that their time is not lost.
"""

from __future__ import annotations

import ctypes
import os
import platform
import threading
from dataclasses import dataclass, field
from typing import Final, Self

import psutil

__all__ = ["UsageSampler", "cpu_seconds", "jvm_of_this_process", "load_average", "load_before", "machine_facts"]

_IDLE: Final = 1.0
"""The largest load of an idle machine."""
_SET_CHILD_SUBREAPER: Final = 36
_descendants: Final[set[psutil.Process]] = set()
"""Of measured JVMs, also those that this process has adopted."""


def jvm_of_this_process() -> psutil.Process:
    """Return the JVM that was started below this process."""
    for child in psutil.Process().children(recursive=True):
        if child.name() == "java":
            return child
    raise LookupError("this process started no JVM")


def cpu_seconds(root: psutil.Process) -> float:
    """Return CPU seconds of a process and all its descendants, those that ended included."""
    _adopt_orphans()
    now = root.children(recursive=True)
    _descendants.update(now)
    total = 0.0
    for process in {root, *now, *_descendants.intersection(psutil.Process().children())}:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue  # it ended: from now on its parent's children_* hold its time
        total += times.user + times.system + times.children_user + times.children_system
    return total


def _adopt_orphans() -> None:
    """Become the parent of descendants whose parent ends; only Linux can."""
    if platform.system() == "Linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def load_average() -> float:
    """Return the 1-minute load average."""
    return round(os.getloadavg()[0], 2)


def load_before(*, is_saved: bool) -> float:
    """Return the load average before a run.

    Raises:
        SystemExit: the figures are to be saved, and the machine is busy.
    """
    load = load_average()
    if is_saved and load > _IDLE:
        raise SystemExit(f"the load is {load}: figures of a busy machine are not written down")
    return load


def machine_facts() -> dict[str, str]:
    """Return a result file's description of the machine."""
    return {"machine": f"{platform.machine()}, {os.cpu_count()} cores", "python": platform.python_version()}


@dataclass
class UsageSampler:
    """Watches resident memory in the background, every 0.2 s. Units: MB."""

    root: psutil.Process
    peak_worker_mb: float = 0.0
    peak_jvm_mb: float = 0.0
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        assert self._thread is not None
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(0.2):
            self.peak_jvm_mb = max(self.peak_jvm_mb, self.root.memory_info().rss / 1e6)
            children = self.root.children(recursive=True)
            _descendants.update(children)
            for child in children:
                try:
                    if "python" in child.name():
                        self.peak_worker_mb = max(self.peak_worker_mb, child.memory_info().rss / 1e6)
                except psutil.NoSuchProcess:
                    continue
