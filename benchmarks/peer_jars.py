"""The peer's jars: the newest spark-sql-kafka-0-10 that resolves, through the cache of the embedded servers.

Not every release of the connector has all of its parts in every repository. So the newest complete one is tried first,
then the newest connector with the newest delegation-token part, which this benchmark never calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from datasources.embedded.ivy import Artifact
from datasources.embedded.jars import JarBundle, JarCache
from datasources.errors import EnvironmentProblem

__all__ = ["PeerJars", "peer_jars"]

_CONNECTOR = "spark-sql-kafka-0-10_2.13"
_TOKENS = "spark-token-provider-kafka-0-10_2.13"
_CANDIDATES = (("4.3.0", "4.3.0"), ("4.2.0", "4.2.0"), ("4.2.0", "4.0.0"))


@dataclass(frozen=True, slots=True)
class PeerJars:
    """What was found: the connector's version and its class path for `spark.jars`."""

    version: str
    paths: tuple[Path, ...]


def peer_jars() -> PeerJars:
    """Return the newest connector that resolves.

    Raises:
        EnvironmentProblem: none does.
    """
    cache = JarCache()
    problems = []
    for connector, tokens in _CANDIDATES:
        try:
            places = [cache.provide(_bundle(_CONNECTOR, connector)), cache.provide(_bundle(_TOKENS, tokens))]
        except EnvironmentProblem as problem:
            problems.append(problem.message.splitlines()[0])
            continue
        jars = {jar.name: jar for place in places for jar in sorted(place.glob("*.jar"))}
        return PeerJars(connector, tuple(jars.values()))
    raise EnvironmentProblem("no spark-sql-kafka-0-10 resolves: " + "; ".join(problems))


def _bundle(name: str, version: str) -> JarBundle:
    def spark(module: str) -> Artifact:
        return Artifact(organisation="org.apache.spark", name=module, revision=version)

    return JarBundle(
        title=f"{name} {version}",
        directory_name=f"peer-{name}-{version}",
        size_mb=10,
        artifacts=(spark(name),),
        excluded=tuple(
            Artifact(organisation=organisation, name=module, revision="*")
            for organisation, module in (
                ("org.apache.spark", _TOKENS if name == _CONNECTOR else _CONNECTOR),
                ("org.apache.hadoop", "hadoop-client-runtime"),  # inside PySpark
                ("org.apache.hadoop", "hadoop-client-api"),
            )
        ),
        instead="The benchmark needs the peer.",
    )
