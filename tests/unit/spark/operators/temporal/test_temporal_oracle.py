"""Flink's own answers for event-time temporal joins, by the operator without Spark, however rows fall into batches."""

from __future__ import annotations

import pytest

from tests.support.oracles.oracle_joins import JOIN_CASES, load_join_case
from tests.support.oracles.temporal_join_model import Batch, Change, Probe
from tests.support.spark.temporal_join_bucket import pairs_of, rule, run_bucket

DELAY_MS = 3_600_000
BOUNDED_END_MS = 253_402_300_799_999


def batches_of(name: str, rows_per_batch: int) -> list[Batch]:
    """Both streams in batches of so many rows each; the shorter one has ended when the longer one goes on."""
    case = load_join_case(name)
    assert case.watermark == "ts - INTERVAL '1' HOUR"
    changes, build_after = [], None
    for _, key, rate, ts in case.rates:
        changes.append(Change(kind="+U", key=str(key), ts=ts, value=rate, watermark=build_after))
        build_after = max(build_after or 0, ts - DELAY_MS)
    probes, probe_after = [], None
    for number, key, _, ts in case.ev:
        probes.append(Probe(id=number, key=str(key), ts=ts, watermark=probe_after))
        probe_after = max(probe_after or 0, ts - DELAY_MS)
    batches = []
    for at in range(0, len(probes), rows_per_batch):
        behind = at + rows_per_batch
        batches.append(
            Batch(
                changes=changes[at:behind],
                probes=probes[at:behind],
                build_watermark=changes[behind].watermark if behind < len(changes) else BOUNDED_END_MS,
                probe_watermark=probes[behind].watermark if behind < len(probes) else BOUNDED_END_MS,
            )
        )
    return batches


@pytest.mark.parametrize("rows_per_batch", [1, 7, 1_000])
@pytest.mark.parametrize("how", ["left", "inner"])
@pytest.mark.parametrize("name", JOIN_CASES)
def test_an_event_time_join_is_flinks_however_rows_fall_into_batches(name, how, rows_per_batch):
    results = run_bucket(batches_of(name, rows_per_batch), rule(left=how == "left"))
    rows = sorted((pair for result in results for pair in pairs_of(result)), key=repr)
    assert rows == load_join_case(name).answers[f"temporal_{how}"]
    assert sum(result.late_probe_rows + result.late_build_rows for result in results) == 0
