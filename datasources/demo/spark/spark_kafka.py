"""The jars of Spark's own Kafka source, fetched once into the cache of the embedded servers.

Not every release of it is complete in every repository. So the one that belongs to the installed PySpark is tried
first, then an older one, whose delegation-token part may come from another release: nothing here uses tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from datasources.embedded.fetch.ivy import Artifact
from datasources.embedded.fetch.jars import JarBundle, JarCache
from datasources.errors import EnvironmentProblem

_CONNECTOR: Final = "spark-sql-kafka-0-10_2.13"
_TOKENS: Final = "spark-token-provider-kafka-0-10_2.13"
_OLDER: Final = (("4.2.0", "4.2.0"), ("4.2.0", "4.0.0"))
_INSIDE_PYSPARK: Final = ("hadoop-client-runtime", "hadoop-client-api")
_INSTEAD: Final = "Without --spark-kafka nothing is fetched: Spark's side then reads with Tidemark's plain source."


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkKafka:
    """What was found."""

    version: str
    jars: tuple[Path, ...]


def fetch_spark_kafka(spark_version: str, report: Callable[[str], None]) -> SparkKafka:
    """Return the connector for a version of Spark, or the newest older one that is available.

    Raises:
        EnvironmentProblem: None can be fetched; the message gives the reason for each.
    """
    cache = JarCache(report=report)
    problems: list[str] = []
    for connector, tokens in ((spark_version, spark_version), *_OLDER):
        try:
            directories = [cache.provide(_bundle(_CONNECTOR, connector)), cache.provide(_bundle(_TOKENS, tokens))]
        except EnvironmentProblem as problem:
            problems.append(problem.message.splitlines()[0])
            report(f"{_CONNECTOR} {connector} cannot be had here; looking for an older release")
            continue
        jars = {jar.name: jar for directory in directories for jar in sorted(directory.glob("*.jar"))}
        return SparkKafka(version=connector, jars=tuple(jars.values()))
    raise EnvironmentProblem(f"no {_CONNECTOR} could be fetched: {'; '.join(dict.fromkeys(problems))}. {_INSTEAD}")


def _bundle(name: str, version: str) -> JarBundle:
    other = _TOKENS if name == _CONNECTOR else _CONNECTOR
    excluded = [("org.apache.spark", other), *(("org.apache.hadoop", module) for module in _INSIDE_PYSPARK)]
    return JarBundle(
        title=f"{name} {version}",
        directory_name=f"peer-{name}-{version}",
        size_mb=10,
        artifacts=(Artifact(organisation="org.apache.spark", name=name, revision=version),),
        excluded=tuple(Artifact(organisation=owner, name=module, revision="*") for owner, module in excluded),
        instead=_INSTEAD,
    )
