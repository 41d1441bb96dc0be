"""A local Flink for benchmarks: jars from Maven Central, a JVM that is driven through Py4J, which PySpark brings."""

from __future__ import annotations

import functools
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
from watermark import SystemClock

__all__ = ["FLINK_VERSION", "KAFKA_AND_JSON", "Flink", "cause_of", "fetch_jars", "listed_options", "open_flink"]

FLINK_VERSION: Final = "2.2.1"
KAFKA_AND_JSON: Final = (("flink-connector-kafka", "5.0.0-2.2", 12), ("flink-json", FLINK_VERSION, 1))
"""Connectors for `fetch_jars`."""
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

    def java(self, name: str) -> Any:
        """Return a Java class by its full name."""
        return functools.reduce(getattr, name.split("."), self._jvm)

    @staticmethod
    def run(tables: Any, insert: str) -> float:
        """Run an INSERT to its end; return the job's seconds, without Flink's start."""
        job = tables.executeSql(insert).getJobClient().get()
        return float(job.getJobExecutionResult().get().getNetRuntime()) / 1_000

    def run_for(self, statements: Sequence[str], seconds: float, *, savepoint: str | None = None) -> None:
        """Run an INSERT for some time, from a savepoint if there is one; before it come tables."""
        tables = self.tables()
        if savepoint is not None:
            tables.getConfig().set("execution.state-recovery.path", savepoint)
        job = _submitted(tables, statements)
        threading.Event().wait(seconds)
        job.cancel().get()

    def stop_and_restart(self, statements: Sequence[str], seconds: tuple[float, float], directory: str) -> int:
        """Run an INSERT, stop it with a savepoint, and run it from there; return when it was started again, in ms.

        Args:
            statements: tables, and the INSERT as the last.
            seconds: of the first and of the second run.
            directory: takes the savepoint.
        """
        kind = self._jvm.org.apache.flink.core.execution.SavepointFormatType.NATIVE
        job = _submitted(self.tables(), statements)
        threading.Event().wait(seconds[0])
        savepoint = job.stopWithSavepoint(False, directory, kind).get()
        restarted_ms = SystemClock().now_us() // 1_000
        self.run_for(statements, seconds[1], savepoint=savepoint)
        return restarted_ms


def listed_options(options: Mapping[str, str]) -> str:
    """Return options as they stand in WITH."""
    return ", ".join(f"'{key}' = '{value}'" for key, value in options.items())


def _submitted(tables: Any, statements: Sequence[str]) -> Any:
    *declared, insert = statements
    for statement in declared:
        tables.executeSql(statement)
    return tables.executeSql(insert).getJobClient().get()


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
