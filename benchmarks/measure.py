"""What a query costs: CPU of the driver's JVM and everything that it started, and the memory of the largest worker.

CPU is user + system time of the kernel's accounting, of processes that ended as well. The broker, the producer and the
benchmark's own process are not descendants of that JVM and do not count.
"""

from __future__ import annotations

import os
import platform
import threading
from dataclasses import dataclass, field
from typing import Any, Final, Self

import psutil

__all__ = ["UsageSampler", "cpu_seconds", "jvm_of_this_process", "load_average", "load_before", "machine_facts"]

_IDLE: Final = 1.0
"""The largest load of an idle machine."""
_LOOK_S: Final = 0.1
_meters: Final[dict[psutil.Process, _Meter]] = {}


def jvm_of_this_process() -> psutil.Process:
    """Return the JVM that was started below this process."""
    for child in psutil.Process().children(recursive=True):
        if child.name() == "java":
            return child
    raise LookupError("this process started no JVM")


def cpu_seconds(root: psutil.Process) -> float:
    """Return CPU seconds of a process and of all that it has started since the first call, also of those that ended."""
    if root not in _meters:
        _meters[root] = _Meter(root)
        threading.Thread(target=_meters[root].run, daemon=True).start()
    return _meters[root].seconds()


class _Meter:
    """Adds up CPU seconds of a process and its descendants; looks at them every 0.1 s, so as to know of each its last.

    The kernel adds the time of an ended process to its parent's, unless the parent ignores SIGCHLD, as PySpark's daemon
    does: the time of its workers would be lost. So each process counts by its own figures, and what a parent got from
    ended children does not count. What a process uses between the last look and its end is missed.
    """

    def __init__(self, root: psutil.Process) -> None:
        self._root = root
        self._own_s: dict[psutil.Process, float] = {}
        self._ended_s = 0.0
        self._lock = threading.Lock()

    def run(self) -> None:
        """Look at the processes again and again, until the root ends."""
        pause = threading.Event()
        while self._root.is_running():
            try:
                self.seconds()
            except psutil.NoSuchProcess:
                return
            pause.wait(_LOOK_S)

    def seconds(self) -> float:
        """Return the sum by now."""
        with self._lock:
            ended = [each for each in {*self._own_s, *self._root.children(recursive=True)} if not self._is_seen(each)]
            self._ended_s += sum(self._own_s.pop(each, 0.0) for each in ended)
            return _own_s(self._root.cpu_times()) + sum(self._own_s.values()) + self._ended_s

    def _is_seen(self, process: psutil.Process) -> bool:
        """Write a process's time down; return whether it is there."""
        try:
            self._own_s[process] = _own_s(process.cpu_times())
        except psutil.NoSuchProcess:
            return False
        return True


def _own_s(times: Any) -> float:
    return float(times.user + times.system)


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
            for child in children:
                try:
                    if "python" in child.name():
                        self.peak_worker_mb = max(self.peak_worker_mb, child.memory_info().rss / 1e6)
                except psutil.NoSuchProcess:
                    continue
