"""Rows that a reader packs: those of each input, in their order, by bucket, under the hash that Spark gives their key."""

from __future__ import annotations

import json
from collections import Counter

import pyarrow as pa
import pytest

from datasources.errors import ExpressionError, RecordError
from datasources.scripted.source import ScriptedSource
from datasources.source.api.split import SplitId
from datasources.source.reading import row_packer
from datasources.source.reading.key_hashes import spark_hashes
from datasources.source.reading.row_blobs import from_blob
from datasources.source.reading.task import TaskReader
from datasources.source.reading.task_plan import SplitTask, TaskPlan
from datasources.source.watermarks.row_watermark import OutputSchema
from datasources.spark.scan.scan import build_scan
from datasources.spark.scan.schema import arrow_output_schema, spark_schema
from watermark import MIN_WATERMARK

WEIGHT = {"name": "w", "type": "BIGINT", "value": "1L"}
LEFT = {
    "number": 0,
    "columns": [{"name": "a", "type": "STRING", "value": "k"}, {"name": "b", "type": "INT", "value": "n + 1"}],
    "keys": [0],
    "hash_name": "h",
    "weight": WEIGHT,
    "condition": "n < 5",
}
RIGHT = {
    "number": 1,
    "columns": [{"name": "k", "type": "STRING", "value": "k"}],
    "keys": [],
    "hash_name": "h",
    "weight": WEIGHT,
}
WATERMARK = {"watermark.for": "ts", "watermark.as": "ts - INTERVAL '1' SECOND"}


@pytest.fixture
def cells(tmp_path):
    """Read rows of (second, k, n) with a packing; give (bucket, input, rows) of each cell, and heartbeats."""

    def run(rows, *inputs, buckets=3, **options):
        lines = [
            json.dumps({"ts": f"1970-01-01T00:{at // 60:02d}:{at % 60:02d}Z", "k": k, "n": n}) + "\n"
            for at, k, n in rows
        ]
        (tmp_path / "s.jsonl").write_text("".join(lines))
        plain = {
            "path": str(tmp_path), "schema": "ts TIMESTAMP, k STRING, n INT", "scan.session.time-zone": "UTC",
            "scan.session.ansi": "true", "scan.packing": json.dumps({"buckets": buckets, "inputs": inputs}),
        }  # fmt: skip
        scan = build_scan(ScriptedSource, {**plain, **options}, {})
        task = SplitTask(
            split=SplitId("s"), known_at=0, start=0, end=len(lines), watermark_us=MIN_WATERMARK, others_us=None
        )
        reader = TaskReader(
            factory=scan.source.reader_factory(),
            strategy=scan.source.strategy,
            output=OutputSchema(arrow_output_schema(spark_schema(scan))),
            condition=scan.condition,
            replacement=scan.replacement,
        )
        plan = TaskPlan(sequence=1, splits=(task,), combined_us=MIN_WATERMARK, ceiling_us=None, is_processing=False)
        found = pa.Table.from_batches(list(reader.run(plan, lambda _: None))).to_pylist()
        packed = [
            (each["bucket"], each["input"], from_blob(each["rows"])) for each in found if each["rows"] is not None
        ]
        return packed, [each for each in found if each["rows"] is None]

    return run


@pytest.mark.parametrize("options", [{}, WATERMARK], ids=["without a watermark", "with a watermark"])
def test_each_input_has_its_rows_under_its_columns(cells, options):
    rows = [(at, f"k{at % 4}", at) for at in range(8)]
    packed, heartbeats = cells(rows, LEFT, RIGHT, **options)
    left = [row for _, number, table in packed if number == 0 for row in table.to_pylist()]
    assert Counter((row["a"], row["b"], row["w"]) for row in left) == Counter(
        (k, n + 1, 1) for _, k, n in rows if n < 5
    )
    hashes = spark_hashes([pa.array([row["a"] for row in left])], len(left)).tolist()
    assert [row["h"] for row in left] == hashes
    for bucket, number, table in packed:
        assert {each % 3 for each in table.column("h").to_pylist()} == {bucket}
        assert table.column_names == (["a", "b", "h", "w"] if number == 0 else ["k", "h", "w"])
    (everything,) = [table for _, number, table in packed if number == 1]
    assert everything.column("k").to_pylist() == [k for _, k, _ in rows]
    assert len(heartbeats) == bool(options)


def test_much_is_delivered_in_several_cells_in_its_order(cells, monkeypatch):
    monkeypatch.setattr(row_packer, "MAX_BATCH_ROWS", 100)
    rows = [(0, "a", at) for at in range(1_000)]
    packed, _ = cells(rows, {**RIGHT, "columns": [{"name": "n", "type": "INT", "value": "n"}]})
    assert [row["n"] for _, _, table in packed for row in table.to_pylist()] == list(range(1_000))


def test_the_watermark_of_cells_is_the_largest_of_their_rows(cells, monkeypatch):
    rows = [(10, "a", 1), (5, "b", 2), (20, "c", 3)]
    packed, (heartbeat,) = cells(rows, RIGHT, **WATERMARK)
    assert len(packed) == 1
    assert int(heartbeat["_watermark"].timestamp()) == 19


def test_a_row_without_a_value_is_named(cells):
    one = {**LEFT, "columns": [{"name": "a", "type": "BIGINT", "value": "10 div n"}], "condition": "k = 'b'"}
    with pytest.raises(RecordError, match="line 3"):
        cells([(0, "a", 1), (1, "b", 1), (2, "b", 0)], one)


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ({"name": "a", "type": "STRING", "value": "upper(k)"}, "only Spark computes"),
        ({"name": "a", "type": "BIGINT", "value": "n"}, "is int32 here"),
    ],
)
def test_what_is_not_certain_is_refused(cells, column, reason):
    with pytest.raises(ExpressionError, match=reason):
        cells([(0, "a", 1)], {**LEFT, "columns": [column]})
