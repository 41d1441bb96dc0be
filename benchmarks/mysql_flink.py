"""Flink CDC's side of `make bench-mysql`: a bounded snapshot into Flink's own sink for nothing, in a JVM of its own.

Flink is driven through Py4J, which PySpark brings; its jars come from Maven Central like all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JError, Py4JJavaError

from benchmarks.mysql_sides import Ran
from benchmarks.mysql_tables import DATABASE
from datasources.embedded import MySqlAddress
from datasources.embedded.ivy import Artifact
from datasources.embedded.jars import JarBundle, JarCache
from datasources.java import find_java

__all__ = ["FLINK_SETTINGS", "FlinkCdc", "cause_of", "fetch_flink", "open_flink"]

FLINK_VERSION: Final = "1.20.3"
FLINK_CDC_VERSION: Final = "3.5.0"
FLINK_SETTINGS: Final = {
    "flink": FLINK_VERSION,
    "flink-cdc": FLINK_CDC_VERSION,
    "parallelism.default": "2",
    "scan.incremental.snapshot.chunk.size": "50000",
    "scan.snapshot.fetch.size": "10240",
    "pipeline.object-reuse": "true",
    "execution.checkpointing.interval": "10 s",
    "restart-strategy.type": "none",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "5 s",
    "table.exec.mini-batch.size": "100000",
}

_FLINK: Final = "org.apache.flink"
_MODULES: Final = (
    "flink-clients",
    "flink-connector-base",
    "flink-table-api-java-bridge",
    "flink-table-planner-loader",
    "flink-table-runtime",
)
_INSTEAD: Final = "Without it flink_cdc_rows_s is null."
_COLUMNS: Final = (
    "id INT, item STRING, price DECIMAL(12,2), `at` TIMESTAMP(6), weight DOUBLE, amount INT, "
    "PRIMARY KEY (id) NOT ENFORCED"
)
_MS: Final = 1_000


def fetch_flink(tell: Callable[[str], None]) -> tuple[Path, ...]:
    """Return the jars of Flink and of its MySQL connector.

    Raises:
        EnvironmentProblem: They cannot be fetched; the message says why.
    """
    cache = JarCache(tell=tell)
    places = [
        cache.provide(_bundle("flink-local", FLINK_VERSION, _MODULES, 120)),
        cache.provide(_bundle("flink-cdc-mysql", FLINK_CDC_VERSION, ("flink-sql-connector-mysql-cdc",), 25)),
    ]
    jars = {jar.name: jar for place in places for jar in sorted(place.glob("*.jar"))}
    return tuple(jars.values())


def _bundle(name: str, version: str, modules: tuple[str, ...], size_mb: int) -> JarBundle:
    return JarBundle(
        title=f"{name} {version}",
        directory_name=f"peer-{name}-{version}",
        size_mb=size_mb,
        artifacts=tuple(Artifact(organisation=_FLINK, name=module, revision=version) for module in modules),
        instead=_INSTEAD,
    )


class FlinkCdc:
    """A local Flink.

    Args:
        jvm: Py4J's view of its JVM.
        login: who reads.
    """

    def __init__(self, jvm: Any, login: MySqlAddress) -> None:
        self._jvm = jvm
        self._login = login

    def read(self, table: str, rows: int) -> Ran:
        """Read a table into a sink for nothing; return what the job took, Flink's start excluded.

        Args:
            table: the table.
            rows: how many rows it has: `count` says whether they all come.
        """
        tables = self._environment(table)
        tables.executeSql(f"CREATE TABLE nothing ({_COLUMNS}) WITH ('connector' = 'blackhole')")
        result = tables.executeSql("INSERT INTO nothing SELECT * FROM source_rows")
        job = result.getJobClient().get()
        return Ran(rows=rows, seconds=float(job.getJobExecutionResult().get().getNetRuntime()) / _MS)

    def count(self, table: str) -> int:
        """Return how many rows of a table come."""
        rows = self._environment(table).executeSql("SELECT COUNT(*) FROM source_rows").collect()
        last = 0
        while rows.hasNext():
            last = int(rows.next().getField(0))
        return last

    def _environment(self, table: str) -> Any:
        api = self._jvm.org.apache.flink.table.api
        tables = api.TableEnvironment.create(api.EnvironmentSettings.newInstance().inStreamingMode().build())
        configuration = tables.getConfig()
        for key, value in FLINK_SETTINGS.items():
            if key.startswith(("parallelism.", "pipeline.", "execution.", "table.", "restart-strategy.")):
                configuration.set(key, value)
        configuration.set("taskmanager.numberOfTaskSlots", FLINK_SETTINGS["parallelism.default"])
        login = self._login
        options = {
            "connector": "mysql-cdc",
            "hostname": login.host,
            "port": str(login.port),
            "username": login.user,
            "password": login.password,
            "database-name": DATABASE,
            "table-name": table,
            "server-time-zone": "UTC",
            "server-id": "5601-5610",
            "scan.startup.mode": "snapshot",
            **{key: value for key, value in FLINK_SETTINGS.items() if key.startswith("scan.")},
            "jdbc.properties.useSSL": "false",
            "jdbc.properties.allowPublicKeyRetrieval": "true",
        }
        text = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
        tables.executeSql(f"CREATE TABLE source_rows ({_COLUMNS}) WITH ({text})")
        return tables


def cause_of(error: Py4JError) -> str:
    """Return the first line of what went wrong in the JVM."""
    raised = error.java_exception if isinstance(error, Py4JJavaError) else None
    while raised is not None and raised.getCause() is not None:
        raised = raised.getCause()
    return str(error if raised is None else raised.toString()).splitlines()[0]


@contextmanager
def open_flink(jars: Sequence[Path], login: MySqlAddress, log: Path) -> Iterator[FlinkCdc]:
    """Start a JVM with Flink, and end it after the block.

    Args:
        jars: its class path, Connector/J included.
        login: who reads.
        log: receives what the JVM says.
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
        try:
            yield FlinkCdc(gateway.jvm, login)
        finally:
            gateway.shutdown()
            process.stdin.close()
            process.wait()
