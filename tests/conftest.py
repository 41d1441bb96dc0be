"""Servers and sessions that tests share, and the rules about who may start them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, NoReturn

import pytest
from hypothesis import HealthCheck, settings

from datasources.embedded import EmbeddedMySql, MySqlProcessOptions, MySqlVersion
from datasources.errors import EnvironmentProblem
from datasources.kafka.client import consumers
from datasources.native import NativeLibrary, native
from tests.support.browser import open_browser
from tests.support.forms import full
from tests.support.guard import FIXTURE_MARKERS, StartGuard
from tests.support.kafka.kafka_cluster import KafkaCluster, OpenCluster, open_cluster
from tests.support.kafka.kafka_server import KafkaServer, OwnKafka
from tests.support.mysql.mysql_server import MySqlServer, MySqlServers, OpenMySql, OwnMySql
from tests.support.prometheus import prometheus_program
from tests.support.servers import open_kafka, open_own_kafka
from tests.support.spark.connect_server import IS_CONNECT, ConnectServer
from tests.support.spark.spark_session import forget_connection, start_spark

# How fast examples are made and tried says something about the machine, not about what is tested. `fixed` tries the same
# examples everywhere, so that a change is judged by what it changes; `random` (make test-all) tries others each time.
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", settings.get_profile("random"), derandomize=True)
settings.load_profile("fixed")

REQUIRE_VARIABLE: Final = "TIDEMARK_TEST_REQUIRE"
NOT_RUN: Final = "not run: needs "
USED: Final = pytest.StashKey[dict[str, str]]()
GUARD: Final = StartGuard()


def _cannot_run(needs: str, problem: EnvironmentProblem) -> NoReturn:
    """Report a test that this machine cannot run; where everything is required (CI), that is a failure."""
    text = f"{NOT_RUN}{needs}: {problem.message.splitlines()[0]}"
    if os.environ.get(REQUIRE_VARIABLE):
        pytest.fail(f"{text}\n{problem.message}", pytrace=False)
    pytest.skip(text)


@pytest.fixture(scope="session")
def kafka(pytestconfig: pytest.Config) -> Iterator[KafkaServer]:
    """A broker that all tests of the session share; they must not stop it."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(open_kafka())
        except EnvironmentProblem as problem:
            _cannot_run("a Kafka broker", problem)
        pytestconfig.stash[USED]["kafka"] = f"{server.origin} at {server.bootstrap_servers}"
        yield server


@pytest.fixture
def own_kafka(pytestconfig: pytest.Config) -> Iterator[OwnKafka]:
    """A broker of the test's own, which it may stop, kill and start; always an embedded one."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(open_own_kafka())
        except EnvironmentProblem as problem:
            _cannot_run("an embedded broker", problem)
        pytestconfig.stash[USED]["kafka of single tests"] = "embedded"
        yield server


def _opened_cluster(stack: ExitStack, config: pytest.Config, users: str, **settings: Any) -> KafkaCluster:
    try:
        server = stack.enter_context(open_cluster(**settings))
    except EnvironmentProblem as problem:
        _cannot_run("a cluster of embedded brokers", problem)
    config.stash[USED][f"kafka clusters of single {users}"] = "embedded"
    return server


@pytest.fixture
def own_cluster(pytestconfig: pytest.Config) -> Iterator[OpenCluster]:
    """Starts clusters of three brokers of the test's own, which it may stop, kill, hang and start."""
    with ExitStack() as stack:

        def open_one(**settings: Any) -> KafkaCluster:
            return _opened_cluster(stack, pytestconfig, "tests", **settings)

        yield open_one


@pytest.fixture(scope="module")
def module_cluster(pytestconfig: pytest.Config) -> Iterator[KafkaCluster]:
    """A cluster of three brokers for a file."""
    with ExitStack() as stack:
        yield _opened_cluster(stack, pytestconfig, "files")


@pytest.fixture
def shared_cluster(module_cluster: KafkaCluster) -> Iterator[KafkaCluster]:
    """A cluster that a file's tests may kill, hang and start; after each of them all its brokers run."""
    yield module_cluster
    module_cluster.restore()


@pytest.fixture(scope="session")
def mysql_servers(pytestconfig: pytest.Config) -> Iterator[MySqlServers]:
    """The MySQL servers that all tests of the session share; they must not stop them."""
    servers = MySqlServers(pytestconfig.stash[USED].__setitem__)
    yield servers
    servers.close()


@pytest.fixture
def mysql(request: pytest.FixtureRequest, mysql_servers: MySqlServers) -> MySqlServer:
    """A shared MySQL: the newest one, or that of the mark `every_mysql` or `every_server`."""
    version = MySqlVersion(getattr(request, "param", MySqlVersion.NEWEST.value))
    try:
        return mysql_servers.get(version)
    except EnvironmentProblem as problem:
        _cannot_run(version.title, problem)


@pytest.fixture
def own_mysql(pytestconfig: pytest.Config) -> Iterator[OpenMySql]:
    """Starts servers of the test's own, with other settings, which it may stop, kill and start."""
    of_the_test = MySqlProcessOptions()  # one password, as a primary and its replicas have
    with ExitStack() as stack:

        def open_mysql(version: MySqlVersion = MySqlVersion.NEWEST, **config: str) -> OwnMySql:
            try:
                embedded = stack.enter_context(EmbeddedMySql(version, config, options=of_the_test))
            except EnvironmentProblem as problem:
                _cannot_run(version.title, problem)
            pytestconfig.stash[USED]["mysql of single tests"] = "embedded"
            return OwnMySql(embedded)

        yield open_mysql


@pytest.fixture(scope="session")
def spark_session(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The Spark session of the process: a classic one, or a client of a Spark Connect server of its own."""
    with ExitStack() as stack:
        try:
            if IS_CONNECT:
                server = stack.enter_context(ConnectServer(tmp_path_factory.mktemp("connect")))
                session, where = server.session(), "Spark Connect"
            else:
                session = start_spark(tmp_path_factory.mktemp("spark"))
                where = session.sparkContext.master
        except EnvironmentProblem as problem:
            _cannot_run("Spark", problem)
        stack.callback(session.stop)
        pytestconfig.stash[USED]["spark"] = f"{session.version}, {where}"
        yield session


@pytest.fixture(scope="module")
def spark(spark_session: Any) -> Iterator[Any]:
    """The Spark session that all tests share; the temporary views of a file, its memory sinks too, end with it."""
    yield spark_session
    for table in spark_session.catalog.listTables():
        if table.isTemporary:
            spark_session.catalog.dropTempView(table.name)


def pytest_configure(config: pytest.Config) -> None:
    """Make room for the names of the servers that get used."""
    config.stash[USED] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files of slow tests, so that none of them runs alone at the end while the other cores wait."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a fixture that starts something to a test that is not marked for it, before it is started."""
    for fixture, marker in FIXTURE_MARKERS.items():
        if fixture in getattr(item, "fixturenames", ()) and item.get_closest_marker(marker) is None:
            pytest.fail(f"fixture {fixture!r} is for tests marked with @pytest.mark.{marker}", pytrace=False)
    if IS_CONNECT and item.get_closest_marker("connect") is None:
        pytest.fail("TIDEMARK_TEST_CONNECT is for tests marked with @pytest.mark.connect", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Watch that a test starts only what it is marked for."""
    markers = frozenset(marker for marker in FIXTURE_MARKERS.values() if item.get_closest_marker(marker) is None)
    with GUARD.forbid(markers):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep a test that ran out of time from failing all later ones that use Spark."""
    if call.excinfo is not None and "from pytest-timeout" in str(call.excinfo.value):
        forget_connection()
    return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say which servers were used, and what this machine lacked."""
    used = ", ".join(f"{name}: {origin}" for name, origin in config.stash[USED].items())
    terminalreporter.write_line(f"servers: {used or 'none were started'}")
    reasons = (report.longrepr[2] for report in terminalreporter.stats.get("skipped", ()))
    missing = Counter(reason.removeprefix("Skipped: ") for reason in reasons if NOT_RUN in reason)
    for reason, count in sorted(missing.items()):
        terminalreporter.write_line(f"{reason} ({count} test{'s' if count > 1 else ''})", yellow=True)


@contextmanager
def _in_way(way: str) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        consumers._partition_pool._close_all()  # what was opened in the other way
        if way == "python":
            patch.setenv("TIDEMARK_NATIVE", "off")
        yield way
        consumers._partition_pool._close_all()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One browser for all tests of a file."""
    with ExitStack() as stack:
        try:
            running = stack.enter_context(open_browser(tmp_path_factory.mktemp("chromium")))
        except EnvironmentProblem as problem:
            _cannot_run("chromium", problem)
        yield running


@pytest.fixture(scope="session")
def prometheus() -> None:
    """Prometheus and promtool are on this machine."""
    try:
        prometheus_program("prometheus")
    except EnvironmentProblem as problem:
        _cannot_run("prometheus", problem)


@pytest.fixture(params=["native", "python"], scope="module")
def both_ways(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a module's tests with the C library and without; where it was not built, the first is one without it too."""
    with _in_way(request.param) as way:
        yield way


@pytest.fixture(params=["native", *full("python")], scope="module")
def native_first(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a module's tests as `both_ways` does; those without the C library belong to the exhaustive run."""
    with _in_way(request.param) as way:
        yield way


@pytest.fixture(scope="module")
def library() -> NativeLibrary:
    """The C library; a machine without a compiler has none."""
    found = native()
    if found is None and not os.environ.get(REQUIRE_VARIABLE):
        pytest.skip("not run: needs a C compiler when the package is installed")
    assert found is not None
    return found


@pytest.fixture
def ways(library: NativeLibrary) -> Iterator[None]:
    """Let a test choose how Kafka is fetched (`tests.support.kafka.kafka_ways.use`); no consumer of it is left."""
    yield
    consumers._partition_pool._close_all()
