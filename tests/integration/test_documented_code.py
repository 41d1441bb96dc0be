"""Every block of code of the README and the documentation is run as written, with the addresses of real servers.

`PAGES` has what becomes of each block, in order: a function that runs it, the test that types it, or why it cannot run.
"""

from __future__ import annotations

import datetime as dt
import importlib
import json
import os
import re
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

from datasources import read_stream, register
from datasources.errors import TidemarkError
from datasources.sql import TableEnvironment
from tests.support.documented_code import PASSWORD, Block, Hosts, blocks_of, read_to_the_end, streams_in
from tests.support.kafka.schema_registry_server import SchemaRegistryServer
from tests.support.project import ROOT
from tests.support.source.loopback import wait_until
from tests.support.spark.connect_server import ConnectServer
from tests.support.spark.observed_page import observed_page

pytestmark = [pytest.mark.long, pytest.mark.slow, pytest.mark.timeout(900)]

BEGIN: Final = dt.datetime(2026, 3, 1, 9, tzinfo=dt.UTC)
SECONDS: Final = 900
QUERY_STEPS: Final = 1_800
EMPTY_STEPS: Final = 50
"""Tenths of a second until a query's first batch, and until it gave rows after that."""
CURRENCIES: Final = ("EUR", "USD")
AVRO: Final = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}
SHOWN: Final = """
from tests.support.documented_code import read_to_the_end
print("rows of the client:", len(read_to_the_end(counts)))
"""
PROTO: Final = """syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Order { int64 id = 1; google.protobuf.Timestamp at = 2; }
"""


class Servers:
    """Brokers, a MySQL and what else the blocks of a page need, started when they are needed."""

    def __init__(self, request: pytest.FixtureRequest, directory: Path) -> None:
        self._request = request
        self.directory = directory
        self._mysql: Any = None
        self._kafka: Any = None
        self.registry = ""
        self.connect = ""

    @property
    def kafka(self) -> Any:
        """A broker with topics of orders, changes and rates."""
        if self._kafka is None:
            self._kafka = self._request.getfixturevalue("own_kafka")
            for topic in ("orders", "shop.shop.orders", "closed", "orders.dead"):
                self._kafka.create_topic(name=topic, partitions=2)
            for partition in (0, 1):
                self._kafka.produce(
                    "orders", partition, [(None, order(n), time_ms(n)) for n in range(partition, SECONDS, 2)]
                )
                self._kafka.produce("shop.shop.orders", partition, [(None, change(partition), time_ms(0))])
        return self._kafka

    @property
    def mysql(self) -> Any:
        """A server with the databases shop and reports, and the logins that the pages name."""
        if self._mysql is None:
            server = self._mysql = self._request.getfixturevalue("own_mysql")()
            columns = (
                "id INT PRIMARY KEY, customer VARCHAR(20), item VARCHAR(20), price DECIMAL(10,2), placed_at DATETIME"
            )
            server.execute(
                "CREATE DATABASE shop",
                "CREATE DATABASE reports",
                *(
                    statement.format(name, PASSWORD)
                    for name in ("tidemark", "reader", "writer")
                    for statement in (
                        "CREATE USER IF NOT EXISTS '{}'@'%' IDENTIFIED BY '{}'",
                        "ALTER USER '{}'@'%' IDENTIFIED BY '{}'",
                    )
                ),
                "GRANT SELECT, RELOAD, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO tidemark",
                "GRANT SELECT, RELOAD, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO reader",
                "GRANT ALL ON reports.* TO writer",
                f"CREATE TABLE shop.orders ({columns})",
                f"CREATE TABLE shop.orders_2026 ({columns})",
                "INSERT INTO shop.orders VALUES (1, 'ada', 'tea', 2.50, '2026-03-01'), (2, 'ada', 'tea', 1.50, NULL), "
                "(3, 'bob', 'milk', 1.00, '2026-03-02')",
                "CREATE TABLE shop.customers (id VARCHAR(20) PRIMARY KEY, name VARCHAR(20))",
                "INSERT INTO shop.customers VALUES ('ada', 'Ada'), ('bob', 'Bob')",
                "CREATE TABLE shop.rates (currency VARCHAR(3) PRIMARY KEY, rate DECIMAL(10,4))",
                *(f"INSERT INTO shop.rates VALUES ('{each}', 2)" for each in CURRENCIES),
                "CREATE TABLE reports.turnover (customer VARCHAR(20) COLLATE utf8mb4_0900_bin PRIMARY KEY, orders BIGINT, total DECIMAL(20,2))",
            )
        return self._mysql

    def hosts(self, text: str) -> Hosts:
        """Return what the names in a block stand for; only servers that it names are started."""
        needs_mysql = re.search(r"'db'|\"db\"|=db\b|//db/", text) is not None
        return Hosts(
            brokers=self.kafka.bootstrap_servers if "broker:9092" in text else "",
            mysql_port=self.mysql.administrator.port if needs_mysql else 0,
            registry=self.registry,
            directory=str(self.directory),
            connect=self.connect,
        )


class Page:
    """The state between the blocks of a page: variables of Python, tables of SQL."""

    def __init__(self, servers: Servers, spark: Any) -> None:
        self.servers = servers
        self.spark = spark
        self.names: dict[str, Any] = {"spark": spark, "F": F, "SparkSession": SparkSession}
        if spark is not None:
            register(spark)
            self.names["t"] = TableEnvironment(spark)

    def text(self, block: Block) -> str:
        """Return a block with the addresses of the servers."""
        return self.servers.hosts(block.text).put_into(block.text)


Run = Callable[[Page, Block], None]


def order(number: int) -> bytes:
    at = (BEGIN + dt.timedelta(seconds=number)).strftime("%Y-%m-%d %H:%M:%S")
    return json.dumps(
        {
            "id": number,
            "user": number % 3,
            "item": ("tea", "milk")[number % 2],
            "shop": "north",
            "price": 1.5,
            "amount": 2.0,
            "currency": CURRENCIES[number % 2],
            "flag": True,
            "ts": at,
        }
    ).encode()


def time_ms(number: int) -> int:
    return int((BEGIN + dt.timedelta(seconds=number)).timestamp() * 1_000)


def change(number: int) -> bytes:
    after = {"id": number, "item": "tea", "price": "2.50"}
    return json.dumps({"op": "c", "ts_ms": time_ms(0), "before": None, "after": after}).encode()


def stop_after_a_batch(query: Any) -> None:
    """Stop a query that has read rows, or for a while none: one of MySQL finds a new position in each trigger."""
    a_moment, left = threading.Event(), QUERY_STEPS
    while left and query.exception() is None and not any(each.numInputRows for each in query.recentProgress):
        left = min(left - 1, EMPTY_STEPS if query.recentProgress else left)
        a_moment.wait(0.1)
    assert query.recentProgress or query.exception() is not None
    query.stop()
    assert query.exception() is None


def python(*, before: Callable[[Page], Mapping[str, Any]] = lambda _: {}, around: str = "{}", rows: int = 1) -> Run:
    """Run a block; every stream that it makes gives so many rows at least.

    Args:
        before: returns variables that the page calls so.
        around: what the fragment is a part of.
        rows: of each stream.
    """

    def run(page: Page, block: Block) -> None:
        given = dict(before(page))
        known = {**page.names, **given}
        page.names.update(given)
        exec(  # noqa: S102 - what the page has
            compile(around.replace("{}", page.text(block)), "block", "exec"), page.names
        )
        for query in page.spark.streams.active:
            stop_after_a_batch(query)
        for name, stream in streams_in(page.names).items():
            if known.get(name) is not stream and "_watermark" not in stream.columns:  # else it has to be attached
                assert len(read_to_the_end(stream)) >= rows, name

    return run


def sql(*, rows: int = 1, tables: str = "", sink: str = "") -> Run:
    """Run the statements of a block; every SELECT gives so many rows at least, and every INSERT fills its sink."""

    def run(page: Page, block: Block) -> None:
        hosts = page.servers.hosts(tables + block.text)
        if tables:
            list(page.names["t"].run_script(hosts.put_into(tables)))
        for statement, result in page.names["t"].run_script(hosts.put_into(block.text)):
            if getattr(result, "isStreaming", False):
                assert len(read_to_the_end(result)) >= rows, statement
            elif getattr(result, "query", None) is not None:
                stop_after_a_batch(result.query)
        if sink:
            assert page.servers.mysql.execute(f"SELECT COUNT(*) FROM {sink}")[0][0] > 0

    return run


def shell(*, gives: str) -> Run:
    """Run the commands of a block; their output has a text."""

    def run(page: Page, block: Block) -> None:
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", "-c", page.text(block)], env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert gives in done.stdout + done.stderr, done.stdout + done.stderr

    return run


def watched(page: Page, block: Block) -> None:
    """Each command shows the sources of the page once, as its output is no terminal."""
    with observed_page(page.spark) as url:
        text = block.text.replace("http://driver:4055", url)
        environment = {**os.environ, "TIDEMARK_UI": url, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        for command in text.strip().splitlines():
            done = subprocess.run(
                ["bash", "-c", command], env=environment, capture_output=True, check=False, timeout=60
            )
            assert done.returncode == 0, command


def with_connect_server(run: Run) -> Run:
    """Run a block with a server for its client."""

    def with_server(page: Page, block: Block) -> None:
        with ConnectServer(page.servers.directory / "server") as server:
            page.servers.connect = server.remote
            run(page, block)

    return with_server


def script(*, gives: str, reads: bool = False) -> Run:
    """Save a block as a file and run it with Python until its output has a text.

    Args:
        gives: the text.
        reads: read its counts to the end; else the block itself shows them.
    """

    def run(page: Page, block: Block) -> None:
        path = page.servers.directory / "orders.py"
        path.write_text(page.text(block) + (SHOWN if reads else ""), encoding="utf-8")
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
        process = subprocess.Popen(
            [sys.executable, str(path)],
            cwd=page.servers.directory,
            env={**environment, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        output, found = [], threading.Event()

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                output.append(line)
                if gives in line:
                    found.set()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            assert found.wait(180), "".join(output)
        finally:
            process.terminate()
            process.wait(60)
            reader.join(60)

    return run


def typed_in(path: str, what: str) -> Run:
    """Another test does what these commands do."""

    def run(_page: Page, block: Block) -> None:
        assert what in (ROOT / path).read_text(encoding="utf-8")
        assert block.language in ("sh", "sql", "")

    return run


def form(why: str) -> Run:
    """It cannot run: a grammar, a picture of batches, an output that another test compares."""

    def run(_page: Page, block: Block) -> None:
        assert why
        assert block.language in ("", "sql") or "..." in block.text

    return run


def valid_yaml(_page: Page, block: Block) -> None:
    assert yaml.safe_load(block.text)["scrape_configs"][0]["static_configs"]


def schema_of_formats(page: Page, block: Block) -> None:
    options = dict(line.split(" = ", 1) for line in page.text(block).strip().splitlines())
    stream = page.spark.readStream.format("tidemark-kafka").options(**options, subscribe="orders")
    loaded = stream.option("kafka.bootstrap.servers", page.servers.kafka.bootstrap_servers).load()
    assert loaded.columns[:6] == ["user", "item", "price", "ts", "tags", "odd name"]


def error_of_a_schema(page: Page, block: Block) -> None:
    options = {"kafka.bootstrap.servers": "h:1", "subscribe": "o", "format": "json"}
    with pytest.raises(TidemarkError) as caught:
        read_stream(page.spark, "tidemark-kafka", {**options, "schema": "user BIGINT, price DUBLE"})
    assert str(caught.value).split() == block.text.split()


def fill_topic(page: Page, records: list[bytes]) -> None:
    page.servers.kafka.recreate_topic("orders")
    page.servers.kafka.produce("orders", 0, [(None, record, time_ms(n)) for n, record in enumerate(records)])


def with_a_bad_record(run: Run) -> Run:
    """Run a block over a topic with a record that is no JSON."""

    def with_record(page: Page, block: Block) -> None:
        page.servers.kafka.produce("orders", 0, [(None, b"{broken", time_ms(0))])
        from_the_begin = block.text.replace('"subscribe"', '"startingOffsets": "earliest", "subscribe"')
        assert from_the_begin != block.text
        run(page, Block(block.language, from_the_begin))

    return with_record


def kept_dead_letters(page: Page, block: Block) -> None:
    """Run the block; the table has the bad record."""
    sql()(page, block)
    kept = page.spark.read.parquet(f"{page.servers.directory}/dead_letters").collect()
    assert [(row["kind"], bytes(row["record"])) for row in kept] == [("bad", b"{broken")]


def protobuf_orders(run: Run, *, registry: bool) -> Run:
    """Run a block over a topic of messages, compiled as the page has it."""

    def with_messages(page: Page, block: Block) -> None:
        from confluent_kafka.schema_registry import SchemaRegistryClient
        from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
        from confluent_kafka.serialization import MessageField, SerializationContext
        from grpc_tools import protoc

        directory = page.servers.directory
        (directory / "shop.proto").write_text(PROTO, encoding="utf-8")
        include = str(Path(protoc.__file__).parent / "_proto")
        command = ["protoc", f"-I{directory}", f"-I{include}", f"--descriptor_set_out={directory}/shop.desc"]
        assert protoc.main([*command, "--include_imports", f"--python_out={directory}", "shop.proto"]) == 0
        with pytest.MonkeyPatch.context() as patched, ExitStack() as servers:
            patched.chdir(directory)
            patched.syspath_prepend(str(directory))
            module = importlib.import_module("shop_pb2")
            messages = [module.Order(id=n) for n in range(60)]
            for number, message in enumerate(messages):
                message.at.FromDatetime(BEGIN + dt.timedelta(seconds=number))
            encode: Callable[[Any], Any] = lambda message: message.SerializeToString()  # noqa: E731 - one of two
            if registry:
                server = servers.enter_context(SchemaRegistryServer())
                page.servers.registry = server.url
                client = SchemaRegistryClient({"url": server.url})
                serializer = ProtobufSerializer(module.Order, client, {"use.deprecated.format": False})
                encode = partial(serializer, ctx=SerializationContext("orders", MessageField.VALUE))
            fill_topic(page, [encode(message) for message in messages])
            run(page, block)

    return with_messages


def avro_orders(run: Run) -> Run:
    """Run a block over a topic whose schema is in a registry."""

    def with_registry(page: Page, block: Block) -> None:
        from confluent_kafka.schema_registry import SchemaRegistryClient
        from confluent_kafka.schema_registry.avro import AvroSerializer
        from confluent_kafka.serialization import MessageField, SerializationContext

        with SchemaRegistryServer() as server:
            page.servers.registry = server.url
            serializer = AvroSerializer(SchemaRegistryClient({"url": server.url}), json.dumps(AVRO))
            where = SerializationContext("orders", MessageField.VALUE)
            fill_topic(page, [serializer({"id": n, "ts": BEGIN + dt.timedelta(seconds=n)}, where) for n in range(60)])
            run(page, block)

    return with_registry


def changes(page: Page) -> dict[str, Any]:
    """Return streams of the shop's tables, as the page's variables."""
    login = {"hostname": "127.0.0.1", "port": page.servers.mysql.administrator.port, "username": "reader"}
    options = {**login, "password": PASSWORD, "database-name": "shop", **COMMIT_TIME}
    orders, customers = (
        read_stream(page.spark, "tidemark-mysql", {**options, "table-name": table}) for table in ("orders", "customers")
    )
    return {"orders": orders, "customers": customers, "upserts": orders}


def after_the_change(page: Page, block: Block) -> None:
    """Run what follows `# after`: before is Spark's own source, whose jar this session has not."""
    python(before=kafka_options("", "kafka"))(page, Block("python", block.text.partition("# after\n")[2]))


def without_orders(page: Page) -> dict[str, Any]:
    """Drop the table: who reads the page takes one of its two ways."""
    page.names["t"].execute("DROP TABLE orders")
    return {}


def running(page: Page) -> dict[str, Any]:
    """Return a query of the page's orders that has read them, as its variable."""
    query = page.names["orders"].writeStream.format("noop").start()
    query.processAllAvailable()
    return {"query": query, "json": json}


def with_files(run: Run, files: Mapping[str, str]) -> Run:
    """Run a block in a directory with files."""

    def with_these(page: Page, block: Block) -> None:
        for name, text in files.items():
            path = page.servers.directory / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(page.servers.hosts(text).put_into(text), encoding="utf-8")
        with pytest.MonkeyPatch.context() as patched:
            patched.chdir(page.servers.directory)
            run(page, block)

    return with_these


def in_a_notebook(page: Page, block: Block) -> None:
    """Run a block where IPython shows what it is given; test_new_user.py executes a notebook."""
    shown: list[str] = []
    module = types.ModuleType("IPython.display")
    module.HTML = str  # type: ignore[attr-defined]
    module.display = lambda _html, **_: types.SimpleNamespace(update=shown.append)  # type: ignore[attr-defined]
    list(page.names["t"].run_script(page.servers.hosts(ORDERS).put_into(ORDERS)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
        patched.setitem(sys.modules, "IPython.display", module)
        python()(page, block)
    wait_until(lambda: shown and "ended · " in shown[-1])


COMMIT_TIME: Final = {"watermark.for": "op_ts", "watermark.as": "op_ts - INTERVAL '0.001' SECOND"}
KAFKA: Final = {"format": "json", "startingOffsets": "earliest", "watermark.for": "ts", "watermark.as": "ts"}


def kafka_options(schema: str, *names: str) -> Callable[[Page], dict[str, Any]]:
    """Return the options of the topic of orders, as the page's variables."""

    def make(page: Page) -> dict[str, Any]:
        where = {"kafka.bootstrap.servers": page.servers.kafka.bootstrap_servers, "subscribe": "orders"}
        if not schema:
            return {name: {**where, "startingOffsets": "earliest"} for name in names}
        return {name: {**where, **KAFKA, "schema": schema} for name in names}

    return make


def temporal(page: Page) -> dict[str, Any]:
    """Return the options of the two sides of a temporal join."""
    login = {"hostname": "127.0.0.1", "port": page.servers.mysql.administrator.port, "username": "reader"}
    rates = {**login, "password": PASSWORD, "database-name": "shop", "table-name": "rates", **COMMIT_TIME}
    schema = "ts TIMESTAMP, currency STRING, amount DOUBLE"
    return {"rate_options": rates, **kafka_options(schema, "order_options", "amount_options")(page)}


ORDERS: Final = """CREATE TABLE orders (id BIGINT, shop STRING, item STRING, currency STRING, price DOUBLE, ts TIMESTAMP_LTZ(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'topic' = 'orders', 'format' = 'json',
  'properties.bootstrap.servers' = 'broker:9092', 'scan.startup.mode' = 'earliest-offset');"""
ORDERS_OF_A_TIME: Final = """CREATE TABLE orders (id INT, customer STRING, price DECIMAL(10,2),
  op_ts TIMESTAMP_LTZ(6) METADATA, WATERMARK FOR op_ts AS op_ts, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'mysql-cdc', 'hostname' = 'db', 'username' = 'tidemark', 'password' = '${env:PW}',
        'database-name' = 'shop', 'table-name' = 'orders');"""
CUSTOMERS: Final = """CREATE TABLE customers (id STRING, name STRING, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'mysql-cdc', 'hostname' = 'db', 'username' = 'tidemark', 'password' = '${env:PW}',
        'database-name' = 'shop', 'table-name' = 'customers');"""
DELTA: Final = typed_in("tests/integration/sinks/lake/test_delta_sink.py", "INSERT INTO")
ICEBERG: Final = typed_in("tests/integration/sinks/lake/test_iceberg_sink.py", "INSERT INTO")
PROMQL: Final = typed_in("tests/integration/observe/test_prometheus_server.py", "docs/observe.md")
CLUSTER: Final = typed_in("tests/integration/test_local_cluster.py", "spark.archives")
CHECK: Final = shell(gives="orders_2026")
PAGES: Final[dict[str, list[Run]]] = {
    "README.md": [
        typed_in("tests/integration/demo/test_demo.py", '"demo"'),
        sql(rows=20),
        DELTA,
        python(rows=20),
    ],
    "docs/alignment.md": [python(around="options = {\n{}}", rows=0)],
    "docs/changing-tables.md": [
        sql(rows=2),
        sql(rows=3, tables=f"DROP TABLE orders; {ORDERS_OF_A_TIME} {CUSTOMERS}"),
        python(before=changes, rows=0),
        sql(sink="reports.turnover"),
        DELTA,
        ICEBERG,
        ICEBERG,
        typed_in("tests/support/mysql/mysql_sync.py", '"sync"'),
        sql(tables=f"DROP TABLE orders; {ORDERS}"),
        python(rows=0),
    ],
    "docs/chaos.md": [typed_in("tests/support/run_all.py", "tests/chaos")],
    "docs/design.md": [form("the way of a row"), form("the files of an offset")],
    "docs/formats.md": [
        schema_of_formats,
        error_of_a_schema,
        with_a_bad_record(python()),
        kept_dead_letters,
        avro_orders(python(rows=0)),
        protobuf_orders(python(rows=0), registry=False),
        protobuf_orders(python(rows=0), registry=True),
    ],
    "docs/index.md": [typed_in("tests/integration/demo/test_demo.py", '"demo"'), shell(gives="Python")],
    "docs/kafka.md": [
        python(before=lambda page: {"b": page.servers.kafka.bootstrap_servers}, rows=0),
        python(before=running),
    ],
    "docs/mysql.md": [CHECK, python(rows=3), sql(rows=3), python(rows=0), form("batches of a snapshot")],
    "docs/observe.md": [python(rows=0), valid_yaml, PROMQL, watched, in_a_notebook],
    "docs/operate/connect.md": [
        with_connect_server(script(gives="rows of the client: ", reads=True)),
        typed_in("tests/integration/test_pipeline_example.py", '"run"'),
    ],
    "docs/operate/deploy.md": [CLUSTER, form("the error of another version"), CLUSTER],
    "docs/spark-watermarks.md": [typed_in("tests/integration/spark/test_spark_watermarks_page.py", "examples")],
    "docs/sql.md": [
        python(rows=0),
        form("a grammar"),
        form("a grammar"),
        sql(rows=0),
        python(before=kafka_options("shop STRING, price DOUBLE, ts TIMESTAMP", "options")),
        sql(rows=0),
        sql(rows=0, tables=f"DROP TABLE orders; {ORDERS}"),
        python(rows=0),
    ],
    "docs/start/first-job.md": [script(gives="Batch: 1"), script(gives="Batch: 1")],
    "docs/start/from-debezium.md": [python(rows=0), CHECK, python(before=without_orders, rows=0)],
    "docs/start/from-flink-sql.md": [with_files(python(rows=0), {"job.sql": ORDERS + "SELECT id FROM orders"})],
    "docs/start/from-with-watermark.md": [after_the_change],
    "docs/temporal-joins.md": [python(before=temporal), python(rows=0)],
    "docs/write-a-source.md": [
        python(rows=0),
        with_files(python(), {"script/a.jsonl": '{"id": 1, "ts": "2026-03-01T09:00:00Z"}\n'}),
    ],
}


def test_every_block_of_every_page_has_a_way_to_run():
    written = {
        str(path.relative_to(ROOT)): len(blocks_of(str(path.relative_to(ROOT))))
        for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    }
    assert {page: len(runs) for page, runs in PAGES.items()} == {
        page: count for page, count in written.items() if count
    }


@pytest.fixture
def servers(request: pytest.FixtureRequest, tmp_path: Path) -> Servers:
    return Servers(request, tmp_path)


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.mysql
@pytest.mark.usefixtures("tiny_queries")
@pytest.mark.parametrize("path", PAGES)
def test_the_blocks_of_a_page_run_as_written(path: str, servers: Servers, spark: Any):
    page = Page(servers, spark)
    for block, run in zip(blocks_of(path), PAGES[path], strict=True):
        run(page, block)
