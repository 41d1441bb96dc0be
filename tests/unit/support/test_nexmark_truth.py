"""What Nexmark's check finds in a result that is not as expected: a row too few, too many, of other values, not taken back."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.nexmark.generator.generator_config import GeneratorConfig
from benchmarks.nexmark.generator.parquet_writer import write_parquet
from benchmarks.nexmark.query_list import QUERIES
from benchmarks.nexmark.truth.comparison import differences, found_in_debezium, found_in_parquet
from benchmarks.nexmark.truth.expected import CANDIDATES, EXPECTED, ExpectedResults


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    directory = tmp_path_factory.mktemp("events")
    write_parquet(directory, 0, 3_000, GeneratorConfig(rate=100))
    return ExpectedResults(directory)


@pytest.fixture
def found(results, tmp_path):
    """Compute a query, write a changed form of its rows as a side does, and give the differences."""

    def run(name, change, *, table=EXPECTED, keys=(), until=None):
        query = QUERIES[name]
        results.compute(query, until)
        rows = results.database.sql(f"FROM {table}").to_arrow_table()
        for column in query.columns()[rows.num_columns :]:  # of which nothing is expected
            rows = rows.append_column(column, pa.nulls(rows.num_rows, pa.string()))
        pq.write_table(change(rows), tmp_path / "rows.parquet")
        found_in_parquet(results, query, tmp_path, keys)
        return list(dict.fromkeys(each.partition(":")[0] for each in differences(results, query)))

    return run


def same(rows):
    return rows


def without_the_first(rows):
    return rows.slice(1)


def with_the_first_twice(rows):
    return pa.concat_tables([rows, rows.slice(0, 1)])


def with_other_prices(rows):
    at = rows.column_names.index("price")
    return rows.set_column(at, "price", pa.array([1] * rows.num_rows, rows.schema.field("price").type))


def with_a_row_taken_back(rows):
    kinds = ["+I"] * rows.num_rows + ["-D"]
    return with_the_first_twice(rows).append_column("row_kind", pa.array(kinds))


@pytest.mark.parametrize(
    ("change", "titles"),
    [
        (same, []),
        (without_the_first, ["missing, 1 in all"]),
        (with_the_first_twice, ["missing, 1 in all", "surplus, 1 in all"]),
        (with_other_prices, ["missing, 2,760 in all", "surplus, 2,760 in all"]),
        (with_a_row_taken_back, ["missing, 1 in all"]),
    ],
)
def test_rows_are_compared_with_how_often_they_are_there(found, change, titles):
    assert found("q0", change) == titles


def test_rows_of_a_key_that_a_later_batch_replaced_do_not_count(found):
    def in_batches(rows):
        old = rows.set_column(1, rows.column_names[1], pa.array([-1] * rows.num_rows, rows.schema.field(1).type))
        parts = [part.append_column("_batch", pa.array([at] * part.num_rows)) for at, part in enumerate((old, rows))]
        return pa.concat_tables(parts)

    assert found("q15", in_batches, keys=("day",)) == []
    assert found("q15", in_batches)


def test_any_of_tied_rows_is_right_and_no_other(found):
    assert found("q18", same) == []
    (problem,) = found("q18", with_other_prices)
    assert problem.startswith("not tied, ")


def test_candidates_have_all_tied_rows(found, results):
    found("q18", same)
    ((expected, candidates),) = results.rows(
        f"SELECT (SELECT count(*) FROM {EXPECTED}), (SELECT count(*) FROM {CANDIDATES})"
    )
    assert candidates >= expected > 0


def test_windows_of_the_clock_may_be_missing_but_have_no_more_than_there_are(found):
    assert found("q12", without_the_first) == []
    (problem,) = found("q12", with_the_first_twice)
    assert problem == "more than there are, 1 in all"


def test_windows_behind_the_last_watermark_are_left_out(found, results):
    moment = dt.datetime.fromtimestamp(GeneratorConfig().base_ms / 1_000 + 15, dt.UTC)
    assert found("q7", same, until=moment) == []
    few = results.rows(f"SELECT count(*) FROM {EXPECTED}")
    found("q7", same)
    assert results.rows(f"SELECT count(*) FROM {EXPECTED}") > few


def test_changes_of_a_topic_add_up(results, tmp_path):
    query, file = QUERIES["q2"], tmp_path / "changes.json"
    results.compute(query, None)
    rows = results.rows(f"SELECT to_json(e) FROM {EXPECTED} AS e")
    added = [f'{{"before": null, "after": {row}, "op": "c"}}' for (row,) in rows]
    removed = f'{{"before": {rows[0][0]}, "after": null, "op": "d"}}'
    file.write_text("\n".join([*added, added[0], removed]), encoding="utf-8")
    found_in_debezium(results, query, file)
    assert differences(results, query) == []
    file.write_text("\n".join([*added, removed]), encoding="utf-8")
    found_in_debezium(results, query, file)
    assert [each.partition(",")[0] for each in differences(results, query)] == ["missing"]
