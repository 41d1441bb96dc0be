"""A local Flink for benchmarks: jars from Maven Central, a JVM that is driven through Py4J, which PySpark brings."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JError, Py4JJavaError

from datasources.embedded.fetch.ivy import Artifact
from datasources.embedded.fetch.jars import JarBundle, JarCache
from datasources.java import find_java

__all__ = ["FLINK_VERSION", "Flink", "cause_of", "fetch_jars", "open_flink"]

FLINK_VERSION: Final = "2.2.1"
_FLINK: Final = "org.apache.flink"
_MODULES: Final = (
    "flink-clients",
    "flink-connector-base",
    "flink-table-api-java-bridge",
    "flink-table-planner-loader",
    "flink-table-runtime",
)
_CONFIGURED: Final = (
    "parallelism.",
    "pipeline.",
    "execution.",
    "state.",
    "table.",
    "restart-strategy.",
    "taskmanager.",
)


def fetch_jars(
    report: Callable[[str], None],
    *,
    instead: str,
    connectors: Sequence[tuple[str, str, int]] = (),
    version: str = FLINK_VERSION,
) -> tuple[Path, ...]:
    """Return the jars of Flink, and of connectors beside it.

    Args:
        report: what to print about downloads.
        instead: what happens without them.
        connectors: artifact, version and size in MB of each.
        version: Flink's; an older one for connectors that need it.

    Raises:
        EnvironmentProblem: They cannot be fetched; the message gives the reason.
    """
    cache = JarCache(report=report)
    bundles = [_bundle("flink-local", version, _MODULES, 120, instead)]
    bundles += [_bundle(name, version, (name,), size, instead) for name, version, size in connectors]
    jars = {jar.name: jar for bundle in bundles for jar in sorted(cache.provide(bundle).glob("*.jar"))}
    return tuple(jars.values())


def _bundle(name: str, version: str, modules: tuple[str, ...], size_mb: int, instead: str) -> JarBundle:
    return JarBundle(
        title=f"{name} {version}",
        directory_name=f"peer-{name}-{version}",
        size_mb=size_mb,
        artifacts=tuple(Artifact(organisation=_FLINK, name=module, revision=version) for module in modules),
        instead=instead,
    )


class Flink:
    """A local Flink.

    Args:
        jvm: Py4J's view of its JVM.
        settings: Flink's own; keys of other things in it are left out.
    """

    def __init__(self, jvm: Any, settings: Mapping[str, str]) -> None:
        self._jvm = jvm
        self._settings = {key: value for key, value in settings.items() if key.startswith(_CONFIGURED)}

    def tables(self) -> Any:
        """Return a new environment of streaming tables."""
        gc.collect()
        api = self._jvm.org.apache.flink.table.api
        tables = api.TableEnvironment.create(api.EnvironmentSettings.newInstance().inStreamingMode().build())
        for key, value in self._settings.items():
            tables.getConfig().set(key, value)
        return tables

    @staticmethod
    def run(tables: Any, insert: str) -> float:
        """Run an INSERT to its end; return the job's seconds, without Flink's start."""
        job = tables.executeSql(insert).getJobClient().get()
        return float(job.getJobExecutionResult().get().getNetRuntime()) / 1_000

    @staticmethod
    def run_for(tables: Any, insert: str, seconds: float) -> None:
        """Run an INSERT for some time."""
        job = tables.executeSql(insert).getJobClient().get()
        threading.Event().wait(seconds)
        job.cancel().get()


@contextmanager
def open_flink(jars: Sequence[Path], settings: Mapping[str, str], log: Path) -> Iterator[Flink]:
    """Start a JVM with Flink, and end it after the block.

    Meanwhile Python collects garbage in `Flink.tables` only. A collection in another thread would let Py4J open another
    connection, which is another thread in the JVM, and Flink's planner keeps what it needs in variables of its thread.

    Args:
        jars: its class path.
        settings: see `Flink`.
        log: receives the JVM's output.
    """
    with log.open("w") as output:
        port, token, process = launch_gateway(
            classpath=":".join(map(str, jars)),
            javaopts=["-Xmx2g", "-XX:+UseParallelGC"],
            java_path=str(find_java().executable),
            die_on_exit=True,
            enable_auth=True,
            return_proc=True,
            redirect_stdout=output,
            redirect_stderr=output,
        )
        gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
        gc.disable()
        try:
            yield Flink(gateway.jvm, settings)
        finally:
            gc.enable()
            gateway.shutdown()
            process.stdin.close()
            process.wait()


def cause_of(error: Py4JError) -> str:
    """Return the first line of what went wrong in the JVM."""
    raised = error.java_exception if isinstance(error, Py4JJavaError) else None
    while raised is not None and raised.getCause() is not None:
        raised = raised.getCause()
    return str(error if raised is None else raised.toString()).splitlines()[0]
