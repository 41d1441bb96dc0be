"""Bundles of jars in the cache of directories."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from datasources.embedded.fetch.directory_cache import CachedDirectory, DirectoryCache, is_complete, report_on_stderr
from datasources.embedded.fetch.ivy import Artifact, Ivy, find_ivy
from datasources.embedded.fetch.settings import ivy_settings
from datasources.errors import EnvironmentProblem
from datasources.java import find_java

__all__ = ["JarBundle", "JarCache", "is_complete", "report_on_stderr", "retrieve_jars"]

_DIGESTS: Final = "digests.sha256"


@dataclass(frozen=True, slots=True, kw_only=True)
class JarBundle:
    """A server's class path.

    Attributes:
        title: What messages call it, such as ``Kafka 4.3.1``.
        directory_name: Its folder in the cache; two bundles of different content need different names.
        size_mb: About how much is fetched, for the line that announces it.
        artifacts: What to fetch, with all that it needs.
        excluded: Modules that are left out.
        instead: The alternative where they cannot be fetched.
        is_pinned: Whether each jar must be one of digests.sha256; else Ivy's own checks must do.
    """

    title: str
    directory_name: str
    size_mb: int
    artifacts: tuple[Artifact, ...]
    excluded: tuple[Artifact, ...] = ()
    instead: str
    is_pinned: bool = False


class JarCache:
    """Bundles on this machine, fetched on first use.

    The directory is that of the environment by default; ``report`` receives a line when something takes long.
    """

    def __init__(self, directory: Path | None = None, *, report: Callable[[str], None] = report_on_stderr) -> None:
        self._cache = DirectoryCache(directory, report=report)

    def provide(self, bundle: JarBundle) -> Path:
        """Return the directory that holds the bundle's jars, complete; fetch them if need be.

        Raises:
            EnvironmentProblem: They cannot be fetched or stored; the message gives the reason and the alternatives.
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
        EnvironmentProblem: There is no Java or no Ivy, the jars cannot be fetched, or are not those that we know.
    """
    ivy = Ivy(java=find_java().executable, jar=find_ivy(), settings=ivy_settings())
    jars = ivy.retrieve(bundle.artifacts, excluded=bundle.excluded, work=work, fetched=_Counter(bundle.title))
    if bundle.is_pinned:
        _require_known(jars)
    return jars


def _require_known(jars: Path) -> None:
    lines = files(__package__).joinpath(_DIGESTS).read_text(encoding="ascii").splitlines()
    known = {name: digest for digest, name in (line.split() for line in lines if not line.startswith("#"))}
    for jar in sorted(jars.iterdir()):
        with jar.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if known.get(jar.name) != digest:
            raise EnvironmentProblem(
                f"{jar.name} was fetched with the digest sha256:{digest}, and "
                f"{'it must be ' + known[jar.name] if jar.name in known else 'no such file is known'}: the repository "
                f"from which it comes does not have what Maven Central has"
            )


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
