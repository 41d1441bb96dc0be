"""The latest state of each key: equal to applying the changes one by one, wherever rows went in between."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from datasources import changelog
from datasources.changelog import latest_changes
from datasources.errors import QueryError
from tests.support.spark.changing_tables import TABLES, QueryRun, generated

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("tiny_queries")]

SCHEMA = (
    "database_name STRING, table_name STRING, id INT, part STRING, `the.value` STRING, row_kind STRING, "
    "_seq STRUCT<epoch: INT, file_no: INT, pos: BIGINT, row: INT, side: INT>"
)
State = dict[tuple[str, int, str], str | None]


def _batch(spark: Any, rows: list[tuple[Any, ...]], seed: int = 0) -> Any:
    shuffled = random.Random(seed).sample(rows, len(rows))
    return spark.createDataFrame(shuffled, SCHEMA).repartition(3)


def _latest(spark: Any, rows: list[tuple[Any, ...]], keys: tuple[str, ...] = ("id", "part")) -> list[tuple[Any, ...]]:
    frame = latest_changes(_batch(spark, rows), keys)
    assert frame.columns == _batch(spark, rows).columns
    return sorted((r.table_name, r.id, r.part, r["the.value"], r.row_kind, r._seq.row) for r in frame.collect())


def _row(table: str, key: tuple[int | None, str | None], value: str | None, kind: str, *seq: int) -> tuple[Any, ...]:
    return ("d", table, *key, value, kind, seq)


class History:
    """Random changes of two tables, in order, and what the tables hold after them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.tables: dict[str, dict[tuple[int, str], str]] = {"t": {}, "u": {}}
        self.rows: list[tuple[Any, ...]] = []

    def run(self, steps: int) -> None:
        for step in range(steps):
            table = self.chance.choice("tu")
            contents = self.tables[table]
            key = (self.chance.randrange(6), self.chance.choice("ab"))
            # Fields are compared one by one: positions decrease where a file or an epoch begins.
            epoch, file_no, pos = step // 45, step // 15 % 3, (step % 15) * 7 + 4
            self._change(table, contents, key, f"v{step}", (epoch, file_no, pos))

    def _change(self, table: str, contents: Any, key: tuple[int, str], value: str, position: tuple[int, ...]) -> None:
        if self.chance.random() < 0.03:
            contents.clear()
            self.rows.append(_row(table, (None, None), None, "T", *position, 0, 0))
        elif key not in contents:
            contents[key] = value
            self.rows.append(_row(table, key, value, "+I", *position, 2, 1))
        elif self.chance.random() < 0.4:
            self.rows.append(_row(table, key, contents.pop(key), "-D", *position, 0, 0))
        else:
            new = self.chance.choice([key, (self.chance.randrange(6), "c")])
            if new != key and new in contents:
                return
            self.rows.append(_row(table, key, contents.pop(key), "-U", *position, 1, 0))
            contents[new] = value
            self.rows.append(_row(table, new, value, "+U", *position, 1, 1))


def _apply(state: State, found: list[Any]) -> None:
    for row in found:
        if row.row_kind == "truncate":
            for key in [key for key in state if key[0] == row.table_name]:
                del state[key]
    for row in found:
        if row.row_kind != "truncate":
            state.pop((row.table_name, row.id, row.part), None)
        if row.row_kind == "upsert":
            state[row.table_name, row.id, row.part] = row["the.value"]


def test_batch_by_batch_the_merged_table_is_the_one_that_was_changed(spark):
    history, state = History(5), {}
    for seed in range(3):
        before = len(history.rows)
        steps = History(100 + seed)
        steps.tables, steps.rows = history.tables, history.rows
        steps.run(70)
        # Each batch's positions follow those of the batch before.
        rows = [(*row[:-1], (row[-1][0] + 10 * seed, *row[-1][1:])) for row in history.rows[before:]]
        found = latest_changes(_batch(spark, rows, seed), ["id", "part"]).collect()
        assert len(found) == len({(r.table_name, r.id, r.part) for r in found})
        _apply(state, found)
        _apply(state, found)  # again: the same
        contents = {(table, *key): value for table, values in history.tables.items() for key, value in values.items()}
        assert state == contents
    assert any(row[5] == "T" for row in history.rows)


def test_a_changed_key_is_one_deleted_and_one_upserted(spark):
    rows = [_row("t", (1, "a"), "old", "-U", 0, 1, 9, 0, 0), _row("t", (2, "a"), "new", "+U", 0, 1, 9, 0, 1)]
    assert _latest(spark, rows) == [("t", 1, "a", "old", "delete", 0), ("t", 2, "a", "new", "upsert", 0)]


def test_rows_move_once(spark):
    rows = [_row("t", (1, "a"), "old", "+I", 0, 1, 9, 0, 1)]
    frame = latest_changes(spark.createDataFrame(rows, SCHEMA), ["id", "part"])
    frame.collect()
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert plan.partition("Initial Plan")[0].count("Exchange hashpartitioning") == 1, plan


def test_a_truncation_hides_what_was_before_it_in_its_table_only(spark):
    nothing = (None, None)
    rows = [
        _row("t", (1, "a"), "gone", "+I", 0, 1, 10, 0, 1),
        _row("u", (1, "a"), "kept", "+I", 0, 1, 11, 0, 1),
        _row("t", nothing, None, "T", 0, 1, 12, 1, 0),
        _row("t", nothing, None, "T", 0, 1, 13, 2, 0),
        _row("t", (2, "b"), "new", "+I", 0, 1, 14, 3, 1),
        _row("t", (3, "b"), "late", "-D", 0, 1, 15, 4, 0),
    ]
    found = latest_changes(_batch(spark, rows), ["id", "part"]).collect()
    assert sorted((r.table_name, str(r.id), r.row_kind, r._seq.row) for r in found) == [
        ("t", "2", "upsert", 3), ("t", "3", "delete", 4), ("t", "None", "truncate", 2), ("u", "1", "upsert", 0),
    ]  # fmt: skip
    truncated = next(r for r in found if r.row_kind == "truncate")
    assert all(truncated._seq < r._seq for r in found if r.table_name == "t" and r is not truncated)


def test_positions_are_compared_field_by_field_and_not_as_text(spark):
    rows = [
        _row("t", (1, "a"), "second", "+U", 0, 10, 5, 0, 1),
        _row("t", (1, "a"), "first", "+I", 0, 9, 900, 0, 1),
        _row("t", (2, "a"), "second", "+U", 1, 1, 4, 0, 1),
        _row("t", (2, "a"), "first", "+I", 0, 99, 4, 0, 1),
    ]
    assert [row[3] for row in _latest(spark, rows)] == ["second", "second"]


def test_a_batch_without_order_or_key_is_refused(spark):
    batch = _batch(spark, [])
    with pytest.raises(QueryError, match="no column '_seq'.*METADATA"):
        latest_changes(batch.drop("_seq"), ["id"])
    with pytest.raises(QueryError, match="no column 'row_kind'"):
        latest_changes(batch.drop("row_kind"), ["id"])
    with pytest.raises(QueryError, match="'_seq' is string, not an integer or the source's struct"):
        latest_changes(batch.withColumn("_seq", batch["_seq"].cast("string")), ["id"])
    with pytest.raises(QueryError, match="is_result=True"):
        latest_changes(batch.drop("_seq"), ["id"])
    with pytest.raises(QueryError, match="table without a key"):
        latest_changes(batch, [], is_result=True)
    with pytest.raises(QueryError, match="table without a key"):
        latest_changes(batch, [])
    with pytest.raises(QueryError, match="no column 'name'"):
        latest_changes(batch, ["name"])


def test_rows_with_a_null_key_or_an_unknown_kind_fail_the_batch(spark):
    with pytest.raises(Exception, match="TIDEMARK_QUERY.*key column 'part' is null"):
        latest_changes(_batch(spark, [_row("t", (1, None), "x", "+I", 0, 1, 4, 0, 1)]), ["id", "part"]).collect()
    with pytest.raises(Exception, match="TIDEMARK_QUERY.*unknown row_kind: \\?"):
        latest_changes(_batch(spark, [_row("t", (1, "a"), "x", "?", 0, 1, 4, 0, 1)]), ["id"]).collect()


def test_a_log_may_be_numbered_by_one_integer(spark):
    rows = [(1, "+I", "a", 7), (1, "-U", "a", 8), (1, "+U", "b", 9), (2, "+I", "a", 10), (2, "-D", "a", 11)]
    batch = spark.createDataFrame(rows, "id INT, row_kind STRING, v STRING, _seq BIGINT").repartition(3)
    found = sorted((r.id, r.row_kind, r.v) for r in latest_changes(batch, ["id"]).collect())
    assert found == [(1, "upsert", "b"), (2, "delete", "a")]


@pytest.mark.parametrize("seed", range(2))
def test_a_result_is_one_action_per_key_and_keeps_a_table_equal_to_it(spark, tmp_path, seed):
    tables = {name: generated(kind, seed * 10 + at, 6) for at, (name, kind) in enumerate(TABLES.items())}
    run = QueryRun(spark, tmp_path, tables, changelog.query)
    statement = "SELECT k, count(*) AS n, max(v) AS v FROM t WHERE k IS NOT NULL GROUP BY k"
    target, batches = dict[str, tuple[int, int | None]](), list[Any]()

    def merge(batch: Any, number: int) -> None:
        actions = changelog.latest_changes(batch, ["k"], is_result=True).collect()
        assert len({action.k for action in actions}) == len(actions)
        for action in actions:
            assert action.row_kind in {"upsert", "delete"}
            target.pop(action.k, None)
            if action.row_kind == "upsert":
                target[action.k] = (action.n, action.v)
        batches.append(Counter((key, *values) for key, values in target.items()))

    stream = run.query(statement, **run.streams()).writeStream.foreachBatch(merge)
    stream.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start().awaitTermination()
    assert batches == run.truths(statement)


def test_a_result_whose_rows_are_only_added_is_upserts_and_two_rows_of_a_key_are_refused(spark):
    batch = spark.createDataFrame([(1, "a"), (2, "b")], "id INT, v STRING")
    found = sorted(tuple(row) for row in changelog.latest_changes(batch, ["id"], is_result=True).collect())
    assert found == [("upsert", 1, "a"), ("upsert", 2, "b")]
    twice = batch.union(spark.createDataFrame([(1, "c")], "id INT, v STRING"))
    with pytest.raises(Exception, match="TIDEMARK_RECORD.*two different rows of table 'the result'"):
        changelog.latest_changes(twice, ["id"], is_result=True).collect()
    with pytest.raises(Exception, match="TIDEMARK_QUERY.*unknown row_kind: x"):
        changelog.latest_changes(batch.selectExpr("'x' AS row_kind", "*"), ["id"], is_result=True).collect()
