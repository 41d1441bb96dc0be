"""The cache of fetched and prepared directories: complete or not there.

Theory of operation. A directory is made under a temporary name beside its own, gets a manifest of file names and sizes
there, and is renamed into place: other processes see all of it or nothing. One process at a time makes one, behind
a file lock that the kernel drops with the process. The holder of the lock owns every temporary directory, so leftovers
of a killed fetch are removed by the next one. A directory that does not match its manifest (a full disk, a hand that
tidied up) is made anew.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from datasources.embedded.fetch.settings import cache_directory
from datasources.errors import EnvironmentProblem

_MANIFEST: Final = "manifest.json"
_TEMPORARY: Final = ".fetching-"


def report_on_stderr(line: str) -> None:
    """Show one line of progress."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedDirectory:
    """One entry of the cache.

    Attributes:
        title: What messages call it, such as ``Kafka 4.3.1``.
        directory_name: Its folder in the cache; two directories of different content need different names.
        size_mb: About how large it is, for the line that announces it.
        instead: The alternative where it cannot be made.
        doing: What is done to get it, and what was done then, for messages.
    """

    title: str
    directory_name: str
    size_mb: int
    instead: str
    doing: tuple[str, str] = ("fetching", "fetched")


class DirectoryCache:
    """Directories on this machine, made on first use.

    The directory is that of the environment by default; ``report`` receives a line when something takes long.
    """

    def __init__(self, directory: Path | None = None, *, report: Callable[[str], None] = report_on_stderr) -> None:
        self._directory = cache_directory() if directory is None else directory
        self._report = report

    def provide(self, item: CachedDirectory, make: Callable[[Path], Path]) -> Path:
        """Return the item's directory, complete; make it if need be.

        ``make`` is given an empty directory for its work and returns the directory in there that is to be kept.

        Raises:
            EnvironmentProblem: It cannot be made or stored; the message gives the reason and the alternatives.
        """
        target = self._directory / item.directory_name
        if is_complete(target):
            return target
        try:
            with self._locked(item):
                if not is_complete(target):  # another process may have made it while we waited for the lock
                    self._make(item, make, target)
        except EnvironmentProblem as problem:
            raise EnvironmentProblem(
                f"{item.title} could not be {item.doing[1]}: {problem.message}\n{item.instead}"
            ) from problem
        except OSError as error:
            raise EnvironmentProblem(
                f"{item.title} could not be stored in {self._directory}: {error}; "
                "make room or set TIDEMARK_CACHE to a directory that can be written"
            ) from error
        return target

    def _make(self, item: CachedDirectory, make: Callable[[Path], Path], target: Path) -> None:
        for leftover in self._directory.glob(f"{_TEMPORARY}*"):
            shutil.rmtree(leftover)
        with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=self._directory) as name:
            work = Path(name)
            self._report(f"{item.doing[0]} {item.title} ({item.size_mb} MB), once, into {self._directory}")
            made = make(work)
            _write_manifest(made)
            if target.exists():
                target.rename(work / "incomplete")
            made.rename(target)
        self._report(f"{item.doing[1]} {item.title}")

    @contextmanager
    def _locked(self, item: CachedDirectory) -> Iterator[None]:
        self._directory.mkdir(parents=True, exist_ok=True)
        with (self._directory / ".lock").open("w") as lock:
            self._lock(lock, item)
            yield

    def _lock(self, lock: TextIO, item: CachedDirectory) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._report(
                f"waiting for another process that is fetching into {self._directory} ({item.title} is needed)"
            )
            fcntl.flock(lock, fcntl.LOCK_EX)


def is_complete(directory: Path) -> bool:
    """Return whether a directory holds every file of its manifest, each with its size."""
    manifest = directory / _MANIFEST
    if not manifest.is_file():
        return False
    try:
        sizes = json.loads(manifest.read_text(encoding="utf-8"))["files"]
    except (ValueError, KeyError):
        return False
    files = {name: directory / name for name in sizes}
    return all(path.is_file() and path.stat().st_size == sizes[name] for name, path in files.items())


def _write_manifest(directory: Path) -> None:
    files = (path for path in sorted(directory.rglob("*")) if path.is_file() and not path.is_symlink())
    sizes = {path.relative_to(directory).as_posix(): path.stat().st_size for path in files}
    (directory / _MANIFEST).write_text(json.dumps({"files": sizes}, indent=1), encoding="utf-8")
