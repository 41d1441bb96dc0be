"""Bundles of jars in the cache of directories."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from datasources.embedded.directory_cache import CachedDirectory, DirectoryCache, is_complete, tell_on_stderr
from datasources.embedded.ivy import Artifact, Ivy, find_ivy
from datasources.embedded.settings import ivy_settings
from datasources.java import find_java

__all__ = ["JarBundle", "JarCache", "is_complete", "retrieve_jars", "tell_on_stderr"]


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
        self._cache = DirectoryCache(directory, tell=tell)

    def provide(self, bundle: JarBundle) -> Path:
        """Return the directory that holds the bundle's jars, complete; fetch them if need be.

        Raises:
            EnvironmentProblem: They cannot be fetched or stored; the message says why and what else can be done.
        """
        item = CachedDirectory(
            title=bundle.title,
            directory_name=bundle.directory_name,
            size_mb=bundle.size_mb,
            instead=bundle.instead,
        )
        return self._cache.provide(item, lambda work: retrieve_jars(bundle, work))


def retrieve_jars(bundle: JarBundle, work: Path) -> Path:
    """Fetch a bundle's jars; return the directory inside ``work`` that holds them.

    Raises:
        EnvironmentProblem: There is no Java or no Ivy, or the jars cannot be fetched.
    """
    ivy = Ivy(java=find_java().executable, jar=find_ivy(), settings=ivy_settings())
    return ivy.retrieve(bundle.artifacts, excluded=bundle.excluded, work=work, fetched=_Counter(bundle.title))


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
