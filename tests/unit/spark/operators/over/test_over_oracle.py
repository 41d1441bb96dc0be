"""Flink's own answers for OVER, by the operator without Spark, however the rows are cut into batches."""

from __future__ import annotations

import pyarrow as pa
import pytest

from datasources.spark.operators.over.frames.frame_spec import OverAggregate, OverFrame, OverRule, Unit
from tests.support.oracles.oracle import CASES, OracleCase, load_case
from tests.support.oracles.oracle_windows import candidate_of
from tests.support.oracles.over_model import OverRecord, over_model
from tests.support.spark.over_bucket_run import rows_of, run_over

BOUNDED_END_MS = 253_402_300_799_999
FRAMES = {
    "over_range": (OverFrame(unit=Unit.RANGE, preceding=10_000_000), "SUM"),
    "over_rows": (OverFrame(unit=Unit.ROWS, preceding=2), "COUNT"),
    "over_unbounded": (OverFrame(unit=Unit.RANGE), "SUM"),
}


def rule_of(query: str) -> OverRule:
    frame, function = FRAMES[query]
    aggregate = OverAggregate(
        function=function, argument="v", name="r", argument_type=pa.int32(), result_type=pa.int64()
    )
    return OverRule(keys=("k",), frame=frame, aggregates=(aggregate,))


def records_of(case: OracleCase) -> list[OverRecord]:
    records: list[OverRecord] = []
    watermark: int | None = None
    for row in case.rows:
        records.append(OverRecord(id=row.id, key=str(row.k), ts=row.ts, watermark=watermark, values={"v": row.v}))
        known = [value for value in (watermark, candidate_of(case, row)) if value is not None]
        watermark = max(known, default=None)
    assert [record.id for record in records] == list(range(len(records)))
    return records


@pytest.mark.parametrize("rows_per_batch", [1, 7, 1_000])
@pytest.mark.parametrize("query", FRAMES)
@pytest.mark.parametrize("name", CASES)
def test_over_windows_are_flinks_however_rows_fall_into_batches(name, query, rows_per_batch):
    case = load_case(name)
    rule, records = rule_of(query), records_of(case)
    results = run_over(rule, records, [rows_per_batch], final=BOUNDED_END_MS, types={"v": pa.int32()})
    assert sorted(rows_of(rule, results), key=repr) == case.answers[query].inserted
    assert sum(result.late_rows for result in results) == len(case.rows) - len(case.answers[query].rows)


@pytest.mark.parametrize("query", FRAMES)
@pytest.mark.parametrize("name", CASES)
def test_the_reference_model_itself_gives_flinks_answers(name, query):
    case = load_case(name)
    found = over_model(rule_of(query), records_of(case), BOUNDED_END_MS)
    assert sorted(found.rows, key=repr) == case.answers[query].inserted
