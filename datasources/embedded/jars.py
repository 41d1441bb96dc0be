"""The cache of fetched jars: complete or not there.

Theory of operation. A bundle is fetched into a temporary directory beside its place, gets a manifest of file names and
sizes there, and is renamed into place: other processes see all of it or nothing. One process at a time fetches, behind
a file lock that the kernel drops with the process. Whoever holds the lock owns every temporary directory, so leftovers
of a killed fetch are removed by the next one. A bundle that does not match its manifest (a full disk, a hand that
tidied up) is fetched anew.
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

from datasources.embedded.ivy import Artifact, Ivy, find_ivy
from datasources.embedded.settings import cache_directory, ivy_settings
from datasources.errors import EnvironmentProblem
from datasources.java import find_java

__all__ = ["JarBundle", "JarCache", "tell_on_stderr"]

_MANIFEST: Final = "manifest.json"
_TEMPORARY: Final = ".fetching-"


def tell_on_stderr(line: str) -> None:
    """Show one line of progress to the person who waits."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


@dataclass(frozen=True, slots=True, kw_only=True)
class JarBundle:
    """A server's class path.

    Attributes:
        title: What messages call it, such as ``Kafka 4.3.1``.
        directory_name: Its folder in the cache; two bundles of different content need different names.
        size_mb: About how much is fetched, for the line that announces it.
        artifacts: What to fetch, with all that it needs.
        excluded: Modules that are left out.
        instead: What a user can do who cannot fetch.
    """

    title: str
    directory_name: str
    size_mb: int
    artifacts: tuple[Artifact, ...]
    excluded: tuple[Artifact, ...] = ()
    instead: str


class JarCache:
    """Bundles on this machine, fetched on first use.

    Args:
        directory: Where they are kept; by default what the environment says.
        tell: Receives a line when something takes long.
    """

    def __init__(self, directory: Path | None = None, *, tell: Callable[[str], None] = tell_on_stderr) -> None:
        self._directory = cache_directory() if directory is None else directory
        self._tell = tell

    def provide(self, bundle: JarBundle) -> Path:
        """Return the directory that holds the bundle's jars, complete; fetch them if need be.

        Raises:
            EnvironmentProblem: They cannot be fetched or stored; the message says why and what else can be done.
        """
        place = self._directory / bundle.directory_name
        if is_complete(place):
            return place
        try:
            with self._locked(bundle):
                if not is_complete(place):  # another process may have fetched it while we waited for the lock
                    self._fetch(bundle, place)
        except EnvironmentProblem as problem:
            raise EnvironmentProblem(
                f"{bundle.title} could not be fetched: {problem.message}\n{bundle.instead}"
            ) from problem
        except OSError as error:
            raise EnvironmentProblem(
                f"{bundle.title} could not be stored in {self._directory}: {error}; "
                "make room or set TIDEMARK_CACHE to a directory that can be written"
            ) from error
        return place

    def _fetch(self, bundle: JarBundle, place: Path) -> None:
        ivy = Ivy(java=find_java().executable, jar=find_ivy(), settings=ivy_settings())
        for leftover in self._directory.glob(f"{_TEMPORARY}*"):
            shutil.rmtree(leftover)
        self._tell(f"fetching {bundle.title} ({bundle.size_mb} MB), once, into {self._directory}")
        with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=self._directory) as name:
            work = Path(name)
            jars = ivy.retrieve(bundle.artifacts, excluded=bundle.excluded, work=work, fetched=_Counter(bundle.title))
            _write_manifest(jars)
            if place.exists():
                place.rename(work / "incomplete")
            jars.rename(place)
        self._tell(f"fetched {bundle.title}")

    @contextmanager
    def _locked(self, bundle: JarBundle) -> Iterator[None]:
        self._directory.mkdir(parents=True, exist_ok=True)
        with (self._directory / ".lock").open("w") as lock:
            self._lock(lock, bundle)
            yield

    def _lock(self, lock: TextIO, bundle: JarBundle) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._tell(
                f"waiting for another process that is fetching into {self._directory} ({bundle.title} is needed)"
            )
            fcntl.flock(lock, fcntl.LOCK_EX)


class _Counter:
    """Shows on a terminal how many files have arrived; elsewhere the two lines around the fetch are enough."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._count = 0

    def __call__(self, _name: str) -> None:
        self._count += 1
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{self._title}: {self._count} files\r")
            sys.stderr.flush()


def is_complete(directory: Path) -> bool:
    """Return whether a bundle holds every file of its manifest, each with its size."""
    manifest = directory / _MANIFEST
    if not manifest.is_file():
        return False
    try:
        sizes = json.loads(manifest.read_text(encoding="utf-8"))["files"]
    except (ValueError, KeyError):
        return False
    files = {name: directory / name for name in sizes}
    return all(path.is_file() and path.stat().st_size == sizes[name] for name, path in files.items())


def _write_manifest(jars: Path) -> None:
    sizes = {path.name: path.stat().st_size for path in sorted(jars.glob("*.jar"))}
    (jars / _MANIFEST).write_text(json.dumps({"files": sizes}, indent=1), encoding="utf-8")
