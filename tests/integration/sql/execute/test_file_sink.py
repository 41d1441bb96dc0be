"""Tables of files on a real Spark: rows into files and back, directories, streams, look-ups, and what is refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from datasources.errors import OptionError, SqlError
from datasources.sql import StatementResult, TableEnvironment
from tests.support.spark.scripted_stream import settings
from tests.support.sql.sql_tables import scripted_table, write_records

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]

COLUMNS = (
    "k INT, s STRING, b BOOLEAN, d DOUBLE, de DECIMAL(20, 10), day DATE, ts TIMESTAMP(6), ltz TIMESTAMP_LTZ(3), bin BYTES, "
    "a ARRAY<INT>, r ROW<x INT, y STRING>"
)
FLINK_CSV = (
    '1,plain,true,1.5,2.7E-9,2020-01-02,"2020-01-02 03:04:05.5","2020-07-02 07:04:05.12Z",AP8Q,1;2;3,1;q\n'
    '2,"a,b ""c"" \'d\' #",false,1.0E10,12.5,1969-12-31,"2020-01-02 03:04:05","2020-07-02 07:04:05Z",,4,2;\n'
    '3,"line\nend",true,0.0,0,2020-01-02,"2020-01-02 00:00:00","2020-07-02 07:04:05.1Z",AQ==,5;6,3;z\n'
)
"""What Flink 2.2 writes, in the zone America/New_York."""
FLINK_JSON = (
    '{"k":1,"s":"plain","b":true,"d":1.5,"de":2.7E-9,"day":"2020-01-02","ts":"2020-01-02 03:04:05.5",'
    '"ltz":"2020-07-02 07:04:05.12Z","bin":"AP8Q","a":[1,2,3],"r":{"x":1,"y":"q"}}\n'
    '{"k":4,"s":null,"b":null,"d":null,"de":null,"day":null,"ts":null,"ltz":null,"bin":null,"a":null,"r":null}\n'
)
FIRST = (
    1, "plain", True, 1.5, Decimal("2.7E-9"), dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4, 5, 500_000),
    dt.datetime(2020, 7, 2, 7, 4, 5, 120_000), b"\x00\xff\x10", [1, 2, 3], (1, "q"),
)  # fmt: skip
NULLS = (4, *[None] * 10)


@pytest.fixture
def t(spark) -> TableEnvironment:
    return TableEnvironment(spark)


@pytest.fixture
def batch(spark) -> TableEnvironment:
    return TableEnvironment(spark, settings={"execution.runtime-mode": "batch"})


def file_table(name: str, columns: str, path: Path, *, keys: str = "", **options: str) -> str:
    """Return CREATE TABLE; `a__b` in an option's name stands for `a.b`, `a_b` for `a-b`."""
    given = {"connector": "filesystem", "path": f"file://{path}"}
    given |= {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    return f"CREATE TABLE {name} ({columns}){f' PARTITIONED BY ({keys})' if keys else ''} WITH ({listed})"


def wrote(directory: Path, name: str, text: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_text(text, encoding="utf-8")
    return directory


def rows(environment: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in environment.query(query).collect()), key=repr)


def run(result: Any) -> StatementResult:
    """Wait for the stream that a statement started."""
    assert isinstance(result, StatementResult)
    if isinstance(result.query, StreamingQuery):
        assert result.query.awaitTermination(60)
    return result


def paths(directory: Path) -> list[str]:
    return sorted(str(path.parent.relative_to(directory)) for path in directory.rglob("part-*"))


# -- files of Flink, and files for Flink --


def test_csv_of_flink_is_read_with_flinks_values(batch, tmp_path):
    batch.sql(file_table("t", COLUMNS, wrote(tmp_path / "t", "part-0", FLINK_CSV), format="csv"))
    found = rows(batch, "SELECT * FROM t")
    assert found[0] == FIRST
    assert [(row[1], row[8], row[9], row[10]) for row in found[1:]] == [
        ("a,b \"c\" 'd' #", b"", [4], (2, "")),
        ("line\nend", b"\x01", [5, 6], (3, "z")),
    ]


def test_json_of_flink_is_read_and_written_as_it_was(batch, tmp_path):
    batch.sql(file_table("t", COLUMNS, wrote(tmp_path / "t", "part-0", FLINK_JSON), format="json"))
    assert rows(batch, "SELECT * FROM t") == [FIRST, NULLS]
    batch.sql(file_table("u", COLUMNS, tmp_path / "u", format="json"))
    batch.sql("INSERT INTO u SELECT * FROM t")
    (part,) = (tmp_path / "u").glob("part-*")
    assert part.read_text(encoding="utf-8") == FLINK_JSON


@pytest.mark.parametrize(
    ("format_name", "options"),
    [
        ("csv", {"csv__null_literal": "N/A", "csv__field_delimiter": "|"}),
        ("json", {"json__encode__ignore_null_fields": "true"}),
        ("parquet", {"parquet__compression": "gzip"}),
        ("orc", {}),
    ],
)
def test_values_come_back_from_each_format(batch, spark, tmp_path, format_name, options):
    columns = COLUMNS if format_name != "csv" else COLUMNS.rpartition(", a ARRAY")[0]
    source = tmp_path / "source"
    batch.sql(file_table("source", columns, wrote(source, "part-0", FLINK_JSON), format="json"))
    batch.sql(file_table("t", columns, tmp_path / "t", format=format_name, **options))
    with settings(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        batch.sql("INSERT INTO t SELECT * FROM source")
    assert rows(batch, "SELECT * FROM t") == rows(batch, "SELECT * FROM source")


def test_lines_come_back_from_raw(batch, tmp_path):
    batch.sql(file_table("t", "line STRING", tmp_path / "t", format="raw"))
    batch.sql("INSERT INTO t VALUES ('a,b'), ('ü')")
    batch.sql(file_table("b", "line BYTES", tmp_path / "t", format="raw"))
    assert rows(batch, "SELECT * FROM t") == [("a,b",), ("ü",)]
    assert rows(batch, "SELECT * FROM b") == [("ü".encode(),), (b"a,b",)]


def test_the_only_column_may_be_null(batch, tmp_path):
    batch.sql(file_table("t", "s STRING", tmp_path / "t", format="csv"))
    batch.sql("INSERT INTO t VALUES (NULL), (''), ('x')")
    assert rows(batch, "SELECT * FROM t") == [("",), ("",), ("x",)]


# -- what does not fit --


@pytest.mark.parametrize(
    ("text", "ignoring"),
    [
        ("1,x\nabc,y\n", [(1, "x"), (None, "y")]),
        ("1,x\n,y\n", [(1, "x"), (None, "y")]),
        ("1,x\n2\n", [(1, "x"), (2, "")]),
        ("1,x\n2,y,z\n", [(1, "x")]),
    ],
)
def test_a_field_that_does_not_fit_stops_the_query_or_is_null(batch, tmp_path, text, ignoring):
    path = wrote(tmp_path / "t", "part-0", text)
    batch.sql(file_table("strict", "a INT, b STRING", path, format="csv"))
    batch.sql(file_table("lenient", "a INT, b STRING", path, format="csv", csv__ignore_parse_errors="true"))
    with pytest.raises((PySparkException, Py4JError)):
        rows(batch, "SELECT * FROM strict")
    assert rows(batch, "SELECT * FROM lenient") == sorted(ignoring, key=repr)
    assert rows(batch, "SELECT count(*) FROM lenient") == [(len(ignoring),)]


def test_the_error_names_table_column_and_field(batch, tmp_path):
    batch.sql(file_table("t", "a INT, b STRING", wrote(tmp_path / "t", "part-0", "1,x\nab,y\n"), format="csv"))
    with pytest.raises(PySparkException, match="table 't': column 'a' is INT, and a file has 'ab'"):
        rows(batch, "SELECT a FROM t")


def test_lines_that_are_no_documents_are_left_out_on_request(batch, tmp_path):
    text = '{"a":1,"b":"x"}\n{"a":"abc","b":"y"}\n{broken\n[{"a":5},{"a":6}]\n{"a":null}\n'
    path = wrote(tmp_path / "t", "part-0", text)
    batch.sql(file_table("t", "a INT, b STRING", path, format="json", json__ignore_parse_errors="true"))
    assert rows(batch, "SELECT * FROM t") == sorted(
        [(1, "x"), (None, "y"), (5, None), (6, None), (None, None)], key=repr
    )
    assert rows(batch, "SELECT count(*) FROM t") == [(5,)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "cvs"}, "table 't': option 'format' = 'cvs'"),
        ({"format": "csv", "header": "true"}, "table 't': unknown option 'header' for filesystem"),
        ({}, "table 't': option 'format' is required"),
    ],
)
def test_wrong_options_are_refused_when_the_table_is_read_or_written(batch, tmp_path, options, message):
    batch.sql(file_table("t", "a INT, b STRING", tmp_path, **options))
    with pytest.raises(OptionError, match=message):
        batch.query("SELECT * FROM t")
    with pytest.raises(OptionError, match=message):
        batch.sql("INSERT INTO t SELECT 1, 'x'")
    batch.sql("CREATE TABLE u (a INT) WITH ('connector' = 'filesystem', 'format' = 'csv')")
    with pytest.raises(OptionError, match="'path' is required"):
        batch.query("SELECT * FROM u")


def test_a_format_without_its_package_names_it(batch, tmp_path):
    batch.sql(file_table("t", "a INT", wrote(tmp_path / "t", "x", ""), format="avro"))
    with pytest.raises(OptionError, match="does not know the format 'avro': add its package"):
        batch.query("SELECT * FROM t")


def test_a_file_is_known_by_its_metadata(batch, tmp_path):
    columns = (
        "a INT, name STRING METADATA FROM 'file.name' VIRTUAL, path STRING METADATA FROM 'file.path' VIRTUAL, "
        "size BIGINT METADATA FROM 'file.size' VIRTUAL, at TIMESTAMP_LTZ(3) METADATA FROM 'file.modification-time' VIRTUAL"
    )
    path = wrote(tmp_path / "a b+c", "part-0", "7\n")
    batch.sql(file_table("t", columns, path, format="csv"))
    (row,) = batch.query("SELECT * FROM t").collect()
    assert (row.a, row.name, row.path, row["size"]) == (7, "part-0", str(path / "part-0"), 2)
    assert row["at"].timestamp() == pytest.approx((path / "part-0").stat().st_mtime, abs=0.01)
    assert rows(batch, "SELECT path FROM t") == [(str(path / "part-0"),)]
    with pytest.raises(SqlError, match="has no metadata 'file.nam'"):
        batch.sql(file_table("u", "a INT, n STRING METADATA FROM 'file.nam'", path, format="csv"))


# -- directories --


def test_partition_keys_are_directories_as_flinks(batch, tmp_path):
    batch.sql(file_table("t", "a INT, p STRING, n INT", tmp_path / "t", keys="p, n", format="csv"))
    batch.sql(
        "INSERT INTO t SELECT * FROM VALUES (1, '00:05', 1), (2, '', 2), (3, NULL, NULL), (4, 'a/b=c', 7), (5, 'x y', 7) v"
    )
    assert paths(tmp_path / "t") == [
        "p=00%3A05/n=1",
        "p=__DEFAULT_PARTITION__/n=2",
        "p=__DEFAULT_PARTITION__/n=__DEFAULT_PARTITION__",
        "p=a%2Fb%3Dc/n=7",
        "p=x y/n=7",
    ]
    assert rows(batch, "SELECT * FROM t") == sorted(
        [(1, "00:05", 1), (2, None, 2), (3, None, None), (4, "a/b=c", 7), (5, "x y", 7)], key=repr
    )
    assert rows(batch, "SELECT a FROM t WHERE p = '00:05'") == [(1,)]
    assert "PartitionFilters: [if" in str(batch.sql("EXPLAIN SELECT a FROM t WHERE p = '00:05'"))


def test_the_default_directory_has_a_name_of_the_tables(batch, tmp_path):
    batch.sql(file_table("t", "a INT, p INT", tmp_path / "t", keys="p", format="json", partition__default_name="none"))
    batch.sql("INSERT INTO t VALUES (1, 7), (2, NULL)")
    assert paths(tmp_path / "t") == ["p=7", "p=none"]
    assert rows(batch, "SELECT * FROM t") == [(1, 7), (2, None)]


def test_a_key_in_a_directory_keeps_its_text(batch, tmp_path):
    for name in ("h=007", "h=08"):
        wrote(tmp_path / "t" / name, "part-0", "1\n")
    batch.sql(file_table("t", "h STRING, a INT", tmp_path / "t", keys="h", format="csv"))
    assert rows(batch, "SELECT * FROM t") == [("007", 1), ("08", 1)]


def test_rows_of_a_partition_are_written_by_one_task_on_request(batch, tmp_path):
    columns = "a BIGINT, p STRING"
    options = {"format": "csv", "sink__shuffle_by_partition__enable": "true", "sink__parallelism": "2"}
    batch.sql(file_table("t", columns, tmp_path / "t", keys="p", **options))
    batch.sql("INSERT INTO t SELECT id, CAST(id % 3 AS STRING) FROM range(0, 30, 1, 4)")
    assert paths(tmp_path / "t") == ["p=0", "p=1", "p=2"]
    batch.sql(file_table("u", columns, tmp_path / "u", format="csv", sink__parallelism="3"))
    batch.sql("INSERT INTO u SELECT id, 'x' FROM range(0, 30, 1, 4)")
    assert len(paths(tmp_path / "u")) == 3


def test_a_batch_replaces_the_partitions_that_it_has(batch, tmp_path):
    batch.sql(file_table("t", "a INT, p STRING, n INT", tmp_path / "t", keys="p, n", format="csv"))
    batch.sql("INSERT INTO t VALUES (1, 'x', 1), (2, 'x', 2), (3, 'y', 1)")
    batch.sql("INSERT OVERWRITE t VALUES (4, 'x', 1)")
    assert rows(batch, "SELECT * FROM t") == [(2, "x", 2), (3, "y", 1), (4, "x", 1)]
    batch.sql("INSERT OVERWRITE t PARTITION (p = 'x', n) SELECT 5, 2")
    batch.sql("INSERT INTO t PARTITION (p = 'it''s', n = 7) SELECT 6")
    batch.sql("INSERT INTO t PARTITION (n = 7) (p, a) SELECT 'z', 8")
    assert rows(batch, "SELECT * FROM t") == [
        (3, "y", 1),
        (4, "x", 1),
        (5, "x", 2),
        (6, "it's", 7),
        (8, "z", 7),
    ]
    batch.sql(file_table("u", "a INT", tmp_path / "u", format="json"))
    batch.sql("INSERT INTO u VALUES (1)")
    batch.sql("INSERT OVERWRITE u VALUES (2), (3)")
    assert rows(batch, "SELECT * FROM u") == [(2,), (3,)]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("INSERT INTO t PARTITION (a = 1) SELECT 'x'", "'a' is no partition key of table 't'. Its partition keys: p"),
        ("INSERT INTO t PARTITION (p = upper('x')) SELECT 1", "is a literal, not upper"),
        ("INSERT INTO t PARTITION (p = 'x') (a, p) SELECT 1, 'y'", "column 'p' is written twice"),
        ("INSERT INTO t PARTITION (p = 'x') SELECT 1, 'y'", "takes 1"),
        ("INSERT OVERWRITE u SELECT 1", "INSERT OVERWRITE is for 'filesystem'"),
        ("INSERT INTO u PARTITION (p = 'x') SELECT 1", "It has no partitions"),
    ],
)
def test_wrong_partitions_are_refused(batch, tmp_path, statement, message):
    batch.sql(file_table("t", "a INT, p STRING", tmp_path / "t", keys="p", format="csv"))
    batch.sql("CREATE TABLE u (a INT) WITH ('connector' = 'print')")
    with pytest.raises(SqlError, match=message):
        batch.sql(statement)


def test_tables_of_sparks_are_replaced_by_spark(batch, spark, tmp_path):
    spark.sql(f"CREATE TABLE replaced (a INT, p STRING) USING parquet PARTITIONED BY (p) LOCATION '{tmp_path / 'r'}'")
    try:
        batch.sql("INSERT OVERWRITE replaced PARTITION (p = 'x') SELECT 1")
        assert [tuple(row) for row in spark.table("replaced").collect()] == [(1, "x")]
    finally:
        spark.sql("DROP TABLE replaced")


def test_formats_of_sparks_are_partitioned_as_well(batch, tmp_path):
    batch.sql(
        f"CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'parquet', 'path' = '{tmp_path / 't'}')"
    )
    batch.sql("INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    assert paths(tmp_path / "t") == ["p=x", "p=y"]
    assert rows(batch, "SELECT * FROM t") == [(1, "x"), (2, "y")]


def test_other_connectors_refuse_partitions(batch):
    for connector in ("kafka", "print", "delta"):
        with pytest.raises(SqlError, match="is not one of files, and only their directories are partitions"):
            batch.sql(f"CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p) WITH ('connector' = '{connector}')")
    batch.sql("CREATE TABLE t (a INT, p STRING) WITH ('connector' = 'print')")
    batch.sql("CREATE TABLE f (a INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'filesystem', 'path' = '/x')")
    with pytest.raises(SqlError, match="EXCLUDING PARTITIONS"):
        batch.sql("CREATE TABLE u WITH ('connector' = 'print') LIKE f")
    batch.sql("CREATE TABLE u WITH ('connector' = 'print') LIKE f (EXCLUDING PARTITIONS EXCLUDING OPTIONS)")
    with pytest.raises(SqlError, match="is not one of files"):
        batch.sql("ALTER TABLE f SET ('connector' = 'print')")


# -- streams --


def test_q10_of_nexmark_writes_its_partitions(t, spark, tmp_path):
    """The sink and the INSERT are those of the benchmark, without any change."""
    bids = [
        {"auction": n, "bidder": n, "price": 100, "dateTime": f"2020-01-01 00:0{n}:59.5", "extra": 'a,"b"'}
        for n in (1, 2)
    ]
    write_records(tmp_path / "bid", "s-0", bids)
    columns = "auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra VARCHAR"
    t.sql(scripted_table("bid", columns, tmp_path / "bid", scripted__bounded="true"))
    t.sql("SET 'execution.trigger' = 'available-now'")
    t.sql(f"SET 'execution.checkpointing.dir' = '{tmp_path / 'checkpoints'}'")
    t.sql("SET 'table.sql-dialect' = 'flink'")
    t.sql(f"""
        CREATE TABLE nexmark_q10 (
          auction  BIGINT,
          bidder  BIGINT,
          price  BIGINT,
          `dateTime`  TIMESTAMP(3),
          extra  VARCHAR,
          dt STRING,
          hm STRING
        ) PARTITIONED BY (dt, hm) WITH (
          'connector' = 'filesystem',
          'path' = 'file://{tmp_path}/data/output/bid/',
          'format' = 'csv',
          'sink.partition-commit.trigger' = 'partition-time',
          'sink.partition-commit.delay' = '1 min',
          'sink.partition-commit.policy.kind' = 'success-file',
          'partition.time-extractor.timestamp-pattern' = '$dt $hm:00',
          'sink.rolling-policy.rollover-interval' = '1min',
          'sink.rolling-policy.check-interval' = '1min'
        )""")
    result = run(
        t.sql(
            "INSERT INTO nexmark_q10\nSELECT auction, bidder, price, `dateTime`, extra, "
            "DATE_FORMAT(`dateTime`, 'yyyy-MM-dd'), DATE_FORMAT(`dateTime`, 'HH:mm')\nFROM bid"
        )
    )
    assert any("files are committed with their batch" in hint for hint in result.hints)
    output = tmp_path / "data" / "output" / "bid"
    assert paths(output) == ["dt=2020-01-01/hm=00%3A01", "dt=2020-01-01/hm=00%3A02"]
    (part,) = output.glob("dt=*/hm=00%3A01/part-*")
    assert part.read_text(encoding="utf-8") == '1,1,100,2020-01-01 00:01:59.5,"a,""b"""\n'
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    assert rows(t, "SELECT auction, extra, dt, hm FROM nexmark_q10") == [
        (1, 'a,"b"', "2020-01-01", "00:01"),
        (2, 'a,"b"', "2020-01-01", "00:02"),
    ]


def stream_setup(t: TableEnvironment, tmp_path: Path) -> None:
    write_records(tmp_path / "o", "s-0", [{"id": 1}, {"id": 2}])
    t.sql(scripted_table("orders", "id INT", tmp_path / "o"))
    t.sql(file_table("t", "id INT, p STRING", tmp_path / "t", keys="p", format="csv"))
    t.sql("SET 'execution.trigger' = 'available-now'")
    t.sql(f"SET 'execution.checkpointing.dir' = '{tmp_path / 'checkpoints'}'")


INSERT = "INSERT INTO t SELECT id, 'x' FROM orders"


def test_a_stream_goes_on_from_its_checkpoint(t, spark, tmp_path):
    stream_setup(t, tmp_path)
    run(t.sql(INSERT))
    write_records(tmp_path / "o", "s-0", [{"id": 3}])
    again = TableEnvironment(spark, t.catalog, settings=t.settings)
    run(again.sql(INSERT))
    batch = TableEnvironment(spark, t.catalog, settings={"execution.runtime-mode": "batch"})
    assert rows(batch, "SELECT id FROM t") == [(1,), (2,), (3,)]


def test_a_directory_belongs_to_one_stream(t, spark, tmp_path):
    """Spark would skip the batches of a second one, and would not show files beside the log."""
    stream_setup(t, tmp_path)
    run(t.sql(INSERT))
    with pytest.raises(OptionError, match="another stream wrote there, and Spark would skip the batches of this one"):
        t.sql(INSERT)
    batch = TableEnvironment(spark, t.catalog, settings={"execution.runtime-mode": "batch"})
    with pytest.raises(OptionError, match="only the files in its log"):
        batch.sql("INSERT INTO t VALUES (1, 'x')")


def test_two_streams_at_a_time_are_refused(t, tmp_path):
    stream_setup(t, tmp_path)
    t.sql("RESET 'execution.trigger'")
    first = t.sql(INSERT)
    try:
        with pytest.raises(OptionError, match="another stream of this process writes there"):
            t.sql(INSERT)
    finally:
        first.query.stop()


def test_a_stream_does_not_hide_files_that_are_there(t, spark, tmp_path):
    stream_setup(t, tmp_path)
    batch = TableEnvironment(spark, t.catalog, settings={"execution.runtime-mode": "batch"})
    batch.sql("INSERT INTO t VALUES (1, 'x')")
    with pytest.raises(OptionError, match="there are files that no stream wrote"):
        t.sql(INSERT)
    batch.sql("INSERT INTO t VALUES (2, 'x')")
    assert rows(batch, "SELECT id FROM t") == [(1,), (2,)]


def test_a_stream_replaces_nothing(t, tmp_path):
    stream_setup(t, tmp_path)
    with pytest.raises(SqlError, match="a stream does not replace rows"):
        t.sql(INSERT.replace("INTO", "OVERWRITE"))


def test_rows_that_change_are_refused(t, tmp_path):
    stream_setup(t, tmp_path)
    with pytest.raises(SqlError, match="takes rows that are only added"):
        t.sql("INSERT INTO t SELECT id, max(CAST(id AS STRING)) FROM orders GROUP BY id")


@pytest.mark.parametrize("is_file", [False, True])
def test_files_are_a_stream(t, tmp_path, is_file):
    """New files come with later batches; one file by itself, too, is a stream."""
    directory = wrote(tmp_path / "t", "a.csv", "1,2020-01-01 00:00:01\n")
    columns = "id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
    t.sql(file_table("t", columns, directory / "a.csv" if is_file else directory, format="csv"))
    t.sql("SET 'execution.trigger' = 'available-now'")
    t.sql(f"SET 'execution.checkpointing.dir' = '{tmp_path / 'checkpoints'}'")
    t.sql(file_table("u", "id INT, ts TIMESTAMP(3)", tmp_path / "u", format="parquet"))
    run(t.sql("INSERT INTO u SELECT id, ts FROM t"))
    wrote(directory, "b.csv", "2,2020-01-01 00:00:02\n")
    run(TableEnvironment(t.spark, t.catalog, settings=t.settings).sql("INSERT INTO u SELECT id, ts FROM t"))
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    assert rows(t, "SELECT id FROM u") == ([(1,)] if is_file else [(1,), (2,)])


def test_a_stream_looks_rows_up_in_a_file(t, tmp_path):
    """The side input of nexmark's q13: one file, and no key."""
    write_records(tmp_path / "bid", "s-0", [{"auction": 10_001}, {"auction": 10_002}, {"auction": 3}])
    t.sql(scripted_table("bid", "auction BIGINT", tmp_path / "bid", scripted__bounded="true"))
    side = wrote(tmp_path / "side", "side_input.txt", "1,one\n2,two\n")
    t.sql(file_table("side_input", "key BIGINT, `value` VARCHAR", side / "side_input.txt", format="csv"))
    t.sql("SET 'execution.trigger' = 'available-now'")
    t.sql("CREATE TABLE out (auction BIGINT, `value` STRING) WITH ('connector' = 'memory')")
    run(
        t.sql(
            "INSERT INTO out SELECT B.auction, S.`value` FROM (SELECT *, PROCTIME() AS p_time FROM bid) B "
            "JOIN side_input FOR SYSTEM_TIME AS OF B.p_time AS S ON mod(B.auction, 10000) = S.key"
        )
    )
    assert sorted(map(tuple, t.spark.table("out").collect())) == [(10_001, "one"), (10_002, "two")]


# -- what came before --


def test_a_table_of_old_flink_is_refused_with_todays_keys(t):
    with pytest.raises(SqlError, match="'connector.type' is 'connector' = 'filesystem'; 'connector.path' is 'path'"):
        t.sql(
            "CREATE TABLE side_input (key BIGINT) WITH ('connector.type' = 'filesystem', 'connector.path' = 'file:///x', "
            "'format.type' = 'csv')"
        )
    assert t.sql("SHOW TABLES").rows == ()


def test_a_path_that_does_not_exist_is_sparks_error(batch, tmp_path):
    batch.sql(file_table("t", "a INT", tmp_path / "nothing", format="csv"))
    with pytest.raises(AnalysisException, match="PATH_NOT_FOUND"):
        batch.query("SELECT * FROM t")
