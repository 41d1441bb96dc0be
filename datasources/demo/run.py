"""The demo from its start to its outcome.

Theory of operation. Kafka, MySQL and Spark start side by side; the parts with MySQL come last, both at once. Both
queries that count orders are running before the first one is written, so Spark's watermark moves batch by batch while
the lagging partition's orders arrive, as it does in production. The story ends with all partitions but the silent one
at the same event time, so both watermarks end at the same value: rows that are missing then were lost. Each
query is over when a batch has run with that watermark, because that batch emits the last windows that are complete.
Windows that were still open then are left out on both sides.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Final, Protocol

from datasources.demo.queries.mysql_part import copy_table, open_mysql
from datasources.demo.results.accuracy import accuracy_of
from datasources.demo.results.join_outcome import JoinOutcome
from datasources.demo.results.mysql_outcome import TableOutcome, TableProgress
from datasources.demo.results.outcome import DemoSnapshot, Outcome, SideOutcome, Surroundings
from datasources.demo.results.timeline import Moment
from datasources.demo.spark.local_spark import local_spark
from datasources.demo.spark.spark_kafka import SparkKafka, fetch_spark_kafka
from datasources.demo.story.broker import OrdersTopic, open_broker, open_topic
from datasources.demo.story.mysql_shop import create_tables
from datasources.demo.story.orders import Story
from datasources.demo.story.producer import Produced, StoryProducer
from datasources.distribution import WITH_SPARK, installed_version
from datasources.embedded import KAFKA_VERSION, EmbeddedMySql
from datasources.errors import EnvironmentProblem, QueryError
from datasources.java import find_java
from watermark import Clock, SystemClock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from datasources.demo.queries.window_queries import CountQuery

_LOOK_S: Final = 0.25
_CLOSE_DEADLINE_NS: Final = 40_000_000_000
_SPARK: Final = "spark"
_TIDEMARK: Final = "tidemark"


class Display(Protocol):
    """Shows the progress of the demo."""

    def phase(self, text: str) -> None:
        """Show that something else begins."""
        ...

    def note(self, text: str) -> None:
        """Show one line of news, such as a fetch."""
        ...

    def snapshot(self, snapshot: DemoSnapshot) -> None:
        """Show how far the queries are. Called a few times a second."""
        ...

    def copying(self, progress: TableProgress) -> None:
        """Show how far the copy of the MySQL table is. Called a few times a second."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSettings:
    """What the user chose.

    Attributes:
        bootstrap_servers: ``host:port`` of a running Kafka; None starts one.
        with_spark_kafka: Whether Spark's side reads with Spark's own Kafka source, which is fetched.
    """

    bootstrap_servers: str | None = None
    with_spark_kafka: bool = False


def run_demo(story: Story, settings: DemoSettings, directory: Path, display: Display) -> Outcome:
    """Run both queries over the story and return what they answered.

    All files of the run go into ``directory``, which is empty; the caller removes it.

    Raises:
        EnvironmentProblem: Java, PySpark or Kafka is missing.
        SourceUnavailable: The named broker does not answer.
        QueryError: A query that counts orders failed; a failure of the parts with MySQL is in the outcome.
    """
    find_java()  # else Kafka and Spark would both fail, and the one with the longer message would be heard
    peer = _peer(settings, display)
    with ExitStack() as stack:
        wait_for_mysql = stack.enter_context(open_mysql(display.note))
        spark, servers = stack.enter_context(_servers(settings, peer, directory, display))
        topic = stack.enter_context(open_topic(servers))
        run = _Run(spark, story, display)
        display.phase("starting the two queries")
        stack.callback(run.stop_queries)
        run.start_queries(topic, settings, directory)
        producer = StoryProducer(topic, story)
        stack.callback(producer.close)
        display.phase("orders arrive, both queries count")
        started_ms = run.watch(producer)
        display.phase("waiting for the last windows")
        run.wait_for_last_windows(producer.so_far)
        spark_side, tidemark_side = run.sides()
        run.stop_queries()
        tables = _tables_or_failure(spark, wait_for_mysql, story, topic, directory, display)
        display.phase("stopping")
        surroundings = _surroundings(settings, peer, spark.version)
    return Outcome(
        story=story,
        started_ms=started_ms,
        spark=spark_side,
        tidemark=tidemark_side,
        surroundings=surroundings,
        table=tables.table,
        join=tables.join,
        mysql_failure=tables.failure,
    )


@contextmanager
def _servers(
    settings: DemoSettings, peer: SparkKafka | None, directory: Path, display: Display
) -> Iterator[tuple[SparkSession, str]]:
    """Start Kafka and Spark side by side."""
    own = settings.bootstrap_servers is None
    display.phase("starting Spark" + (f", Kafka {KAFKA_VERSION} and a MySQL" if own else " and a MySQL"))
    with (
        open_broker(settings.bootstrap_servers, display.note) as wait_for_broker,
        local_spark(directory, jars=peer.jars if peer else ()) as spark,
    ):
        yield spark, wait_for_broker()


class _Run:
    """The two queries while they run."""

    def __init__(self, spark: SparkSession, story: Story, display: Display) -> None:
        self._spark = spark
        self._story = story
        self._display = display
        self._clock: Clock = SystemClock()
        self._pause = Event()
        self._queries: dict[str, CountQuery] = {}

    def start_queries(self, topic: OrdersTopic, settings: DemoSettings, directory: Path) -> None:
        from datasources.demo.queries.window_queries import (  # imports PySpark, which was found by now
            CountQuery,
            QuerySide,
        )

        peer = QuerySide.SPARK_KAFKA if settings.with_spark_kafka else QuerySide.SPARK
        for key, side in ((_SPARK, peer), (_TIDEMARK, QuerySide.TIDEMARK)):
            self._queries[key] = CountQuery.start(self._spark, side, topic=topic, directory=directory)

    def stop_queries(self) -> None:
        for query in self._queries.values():
            query.stop()

    def watch(self, producer: StoryProducer) -> int:
        """Produce the story; return when it began, ms since the epoch."""
        started_ms = self._clock.now_us() // 1_000
        producer.start()
        while not producer.so_far.is_done:
            newest = self._look(producer.so_far)
            producer.follow(min((moment.read_rows if moment else 0) for moment in newest))
            self._pause.wait(_LOOK_S)
        return started_ms

    def wait_for_last_windows(self, produced: Produced) -> None:
        """Wait until both queries emitted all complete windows; the comparison reports one that misses the deadline."""
        deadline_ns = self._clock.monotonic_ns() + _CLOSE_DEADLINE_NS
        while self._clock.monotonic_ns() < deadline_ns:
            newest = self._look(produced)
            if all(moment and (moment.watermark_ms or 0) >= self._story.complete_until_ms for moment in newest):
                return
            self._pause.wait(_LOOK_S)

    def sides(self) -> tuple[SideOutcome, SideOutcome]:
        """Return what Spark's query answered, and Tidemark's."""
        return self._side(self._queries[_SPARK]), self._side(self._queries[_TIDEMARK])

    def _look(self, produced: Produced) -> tuple[Moment | None, Moment | None]:
        spark, tidemark = (self._queries[key].newest_moment() for key in (_SPARK, _TIDEMARK))
        self._display.snapshot(DemoSnapshot(produced=produced, spark=spark, tidemark=tidemark))
        return spark, tidemark

    def _side(self, query: CountQuery) -> SideOutcome:
        answer = query.answer(self._spark)
        return SideOutcome(
            title=query.side.value, answer=answer, accuracy=accuracy_of(self._story, answer), timeline=query.timeline()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    table: TableOutcome | str
    join: JoinOutcome | None
    failure: str | None = None


def _tables_or_failure(*arguments: Any) -> _Tables:
    """Run the parts with MySQL; a failure there is part of the outcome, so that the first part's result is not lost."""
    try:
        table, join = _tables(*arguments)
    except QueryError as error:
        return _Tables(table=error.message, join=None, failure=error.message)
    return _Tables(table=table, join=join)


def _tables(  # noqa: PLR0913, PLR0917 - one step of one function
    spark: SparkSession,
    wait_for_mysql: Callable[[], EmbeddedMySql],
    story: Story,
    topic: OrdersTopic,
    directory: Path,
    display: Display,
) -> tuple[TableOutcome | str, JoinOutcome | None]:
    """Run the parts with MySQL; return why they were not run where no server can run on this machine."""
    from datasources.demo.queries.join_query import JoinQuery  # imports PySpark, which was found by now

    try:
        server = wait_for_mysql()
    except EnvironmentProblem as problem:
        return problem.message, None
    display.phase(f"tables of {server.title} change all the time: one is copied, one is joined with the orders")
    create_tables(server.administrator, story.seed)
    with ExitStack() as stack:
        query = JoinQuery.start(spark, topic, server.reader, directory)
        stack.callback(query.stop)
        table = copy_table(spark, server, story.seed, directory, display)
        query.wait_for(story.complete_until_ms)
        joined = query.joined(spark)
    return table, JoinOutcome(joined=joined, accuracy=accuracy_of(story, joined.answer))


def _peer(settings: DemoSettings, display: Display) -> SparkKafka | None:
    if not settings.with_spark_kafka:
        return None
    display.phase("looking for Spark's own Kafka source")
    try:
        return fetch_spark_kafka(importlib.metadata.version("pyspark"), display.note)
    except importlib.metadata.PackageNotFoundError as error:
        raise EnvironmentProblem(f"PySpark is not installed: {WITH_SPARK}") from error


def _surroundings(settings: DemoSettings, peer: SparkKafka | None, spark_version: str) -> Surroundings:
    own = settings.bootstrap_servers is None
    return Surroundings(
        tidemark=installed_version(),
        spark=spark_version,
        broker=f"Kafka {KAFKA_VERSION}, embedded" if own else f"Kafka at {settings.bootstrap_servers}",
        source=(
            f"Spark's own Kafka source {peer.version}"
            if peer is not None
            else "Tidemark's Kafka source without its watermark options"
        ),
    )
