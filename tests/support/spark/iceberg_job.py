"""Work on tables of Iceberg in a Spark that has it: python -m tests.support.spark.iceberg_job JOB WAREHOUSE OUT."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from datasources.changelog.net_actions import DELETE_COLUMN
from datasources.errors import TidemarkError
from datasources.sinks.change_sink import BatchNumber, SinkTable
from datasources.sinks.lake.iceberg_sink import IcebergSink
from datasources.sinks.lake.iceberg_table import IcebergTable, each_of
from tests.support.spark.iceberg_spark import iceberg_options, iceberg_settings
from tests.support.spark.recorded_query import SETTINGS

_COLUMNS: Final = "k INT, v STRING"
_LATER_MS: Final = 4_102_444_800_000
"""1 January 2100."""


@dataclass(slots=True)
class Lake:
    """Tables `k INT, v STRING` with the key k, and what other writers do to them."""

    spark: SparkSession
    warehouse: Path

    def sink(self, name: str, columns: str = _COLUMNS, **changes: str) -> IcebergSink:
        """Return a sink that was checked."""
        schema = StructType.fromDDL(columns)
        options = iceberg_options(self.warehouse, **changes)
        sink = IcebergSink(self.spark, SinkTable(name=name, schema=schema, key=["k"], options=options))
        sink.check()
        return sink

    def apply(self, sink: IcebergSink, number: int, rows: Sequence[tuple[int, str | None]], query: str = "q") -> None:
        """Apply a batch in a session of its own: None in place of a text is a delete."""
        values = [(value is None, key, value) for key, value in rows]
        actions = self.spark.newSession().createDataFrame(values, f"{DELETE_COLUMN} BOOLEAN, {_COLUMNS}").coalesce(1)
        sink.apply(actions, BatchNumber(query=query, number=number))

    def table(self, name: str) -> Any:
        """Return Iceberg's own object of a table in its newest state."""
        iceberg = self.spark._jvm.org.apache.iceberg
        properties = {"type": "hadoop", "warehouse": str(self.warehouse)}
        catalog = iceberg.CatalogUtil.buildIcebergCatalog("lake", properties, self.spark._jsc.hadoopConfiguration())
        return catalog.loadTable(iceberg.catalog.TableIdentifier.parse(f"default.{name}"))

    def rows(self, name: str) -> list[list[str | None]]:
        """Return the rows in order, values as texts."""
        relation = IcebergTable(self.spark, self.table(name))._relation({})
        dataset = self.spark._jvm.org.apache.spark.sql.classic.Dataset.ofRows(self.spark._jsparkSession, relation)
        frame = DataFrame(dataset, self.spark)
        texts = frame.selectExpr(*(f"CAST(`{column}` AS STRING)" for column in frame.columns))
        return sorted((list(row) for row in texts.collect()), key=str)

    def batches(self, name: str) -> list[list[str | None]]:
        """Return query and batch of each snapshot of the present state, the newest first; other writers have none."""
        ancestors = self.spark._jvm.org.apache.iceberg.util.SnapshotUtil.currentAncestors(self.table(name))
        return [[each.summary().get(f"tidemark.{key}") for key in ("query", "batch")] for each in each_of(ancestors)]

    def compact(self, name: str) -> None:
        """Replace a file of rows by a copy, as rewrite_data_files commits it; then all manifests."""
        table = self.table(name)
        old = next(each_of(table.currentSnapshot().addedDataFiles(table.io())))
        copy = old.location().removesuffix(".parquet") + "-copy.parquet"
        shutil.copyfile(old.location().removeprefix("file:"), copy.removeprefix("file:"))
        new = self.spark._jvm.org.apache.iceberg.DataFiles.builder(table.spec()).copy(old).withPath(copy).build()
        table.newRewrite().deleteFile(old).addFile(new).commit()
        table.rewriteManifests().commit()

    def expire(self, name: str) -> None:
        """Expire every snapshot but the newest."""
        self.table(name).expireSnapshots().expireOlderThan(_LATER_MS).retainLast(1).commit()


def _again(lake: Lake) -> Any:
    first = lake.sink("again")
    lake.apply(first, 0, [(1, "a"), (2, "b")])
    lake.apply(lake.sink("again"), 0, [(1, "other")])
    lake.apply(lake.sink("again"), 4, [(1, None), (3, "c")])
    lake.apply(first, 4, [(1, "other")])
    lake.apply(lake.sink("again"), 5, [])
    lake.apply(first, 0, [(9, "z")], query="another")
    return lake.rows("again"), lake.batches("again")


def _older(lake: Lake) -> Any:
    sink = lake.sink("older")
    lake.apply(sink, 3, [(1, "a")])
    return _refusal(lambda: lake.apply(sink, 2, [(1, "b")])), lake.rows("older")


def _others(lake: Lake) -> Any:
    """Others write, compact and expire between a batch and its repetition."""
    sink, found = lake.sink("others"), []
    lake.apply(sink, 0, [(1, "a"), (2, "b")])
    lake.compact("others")
    lake.apply(sink, 0, [(1, "other")])
    lake.apply(sink, 1, [(1, "A"), (3, "c")])
    lake.expire("others")
    lake.apply(sink, 1, [(1, "other")])
    lake.apply(lake.sink("others"), 0, [(7, "x")], query="another")
    lake.apply(sink, 1, [(1, "other")])
    found += [lake.rows("others"), lake.batches("others")]
    lake.expire("others")
    lake.apply(sink, 1, [(1, "A"), (3, "c")])
    return [*found, lake.rows("others"), lake.batches("others")]


def _races(lake: Lake) -> Any:
    """Other writers commit after a batch was looked for, and before it is committed."""
    sink, other, found = lake.sink("races"), lake.sink("races"), []
    lake.apply(sink, 0, [(1, "a"), (2, "b")])
    between: list[Callable[[], None]] = []
    merge = IcebergTable.merge

    def late(table: IcebergTable, *given: Any) -> None:
        if between:
            between.pop()()
        merge(table, *given)

    IcebergTable.merge = late
    between.append(lambda: lake.apply(other, 1, [(2, "B"), (3, "c")]))  # a process that was believed dead
    lake.apply(sink, 1, [(2, "B"), (3, "c")])
    between.append(lambda: lake.apply(other, 2, [(2, None)]))  # the same with a batch of deletes
    lake.apply(sink, 2, [(2, None)])
    between.append(lambda: lake.apply(other, 0, [(8, "x")], query="another"))
    lake.apply(sink, 3, [(1, "A")])
    found += [lake.rows("races"), lake.batches("races")]
    between.append(lambda: lake.compact("races"))
    lake.apply(sink, 4, [(1, "B")])
    found.append(lake.rows("races"))
    between.append(lambda: [lake.apply(other, each, [(1, f"{each}")]) for each in (5, 6)])
    found.append(_refusal(lambda: lake.apply(sink, 5, [(1, "5")])))
    IcebergTable.merge = merge
    return [*found, lake.rows("races")]


def _races_on_read(lake: Lake) -> Any:
    """The same with files of deleted positions."""
    lake.sink("races").check()
    lake.table("races").updateProperties().set("write.merge.mode", "merge-on-read").commit()
    return _races(lake)


def _layouts(lake: Lake) -> Any:
    """Partitions and orders by functions."""
    found = {}
    for name, column in {"plain": "v", "bucketed": "bucket[4](k)", "cut": "truncate[2](v)"}.items():
        lake.sink(name)
        table = lake.table(name)
        expressions = lake.spark._jvm.org.apache.iceberg.expressions.Expressions
        term = {
            "v": expressions.ref("v"),
            "bucket[4](k)": expressions.bucket("k", 4),
            "truncate[2](v)": expressions.truncate("v", 2),
        }
        table.updateSpec().addField(term[column]).commit()
        sink = lake.sink(name)
        lake.apply(sink, 0, [(key, f"{key}") for key in range(20)])
        lake.apply(sink, 1, [(1, None), (2, "20"), (30, "x")])
        found[name] = lake.rows(name)
    return found


def _refused(lake: Lake) -> Any:
    """Tables and options that are refused."""
    lake.sink("known")
    table = lake.table("known")
    found = {
        "no column": _refusal(lambda: lake.sink("known", "k INT, w STRING")),
        "another type": _refusal(lambda: lake.sink("known", "k INT, v INT")),
        "no such type": _refusal(lambda: lake.sink("new", "k INT, v INTERVAL YEAR")),
        "small": _refusal(lambda: lake.sink("small", "k INT, v SMALLINT")),
        "catalog": _refusal(lambda: lake.sink("known", catalog_type="hadop")),
    }
    table.updateProperties().set("write.merge.isolation-level", "snapshot").commit()
    return {**found, "isolation": _refusal(lambda: lake.sink("known"))}


def _wider(lake: Lake) -> Any:
    """A table with a further column, which stays NULL or as it is."""
    lake.sink("wider")
    integer = lake.spark._jvm.org.apache.iceberg.types.Types.IntegerType.get()
    lake.table("wider").updateSchema().addColumn("more", integer).commit()
    sink = lake.sink("wider", catalog_table="wider")
    lake.apply(sink, 0, [(1, "a")])
    lake.apply(sink, 1, [(1, "b"), (2, "c")])
    return lake.rows("wider")


def _refusal(call: Callable[[], object]) -> str:
    try:
        call()
    except TidemarkError as error:
        return str(error)
    return "nothing was raised"


_SCENES: Final = {
    "again": _again,
    "older": _older,
    "others": _others,
    "races": _races,
    "layouts": _layouts,
    "refused": _refused,
    "wider": _wider,
}


def _scenes(lake: Lake) -> Any:
    on_read = Lake(lake.spark, lake.warehouse / "on-read")
    return {**{name: scene(lake) for name, scene in _SCENES.items()}, "races on read": _races_on_read(on_read)}


def _lake_rows(lake: Lake) -> Any:
    return {"rows": lake.rows("lake"), "batches": lake.batches("lake")}


def main(job: str, warehouse: Path, out: Path) -> None:
    """Run a job: all scenes, or reading the table `lake`."""
    builder = SparkSession.builder.master("local[2]")
    scratch = {"spark.local.dir": str(out.parent), "spark.sql.warehouse.dir": str(out.parent / "warehouse")}
    for key, value in {**SETTINGS, **iceberg_settings(), **scratch}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    found = {"scenes": _scenes, "rows": _lake_rows}[job](Lake(spark, warehouse))
    out.write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
