from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from datasources.errors import RecordError
from datasources.formats.api.decoder import Decoded, RecordStatus
from datasources.formats.api.error_policy import OnError, apply_policy

ROWS = pa.record_batch({"a": pa.array([1, None, None, 4], pa.int64())})
MIXED = Decoded(
    columns=ROWS,
    statuses=np.array([RecordStatus.OK, RecordStatus.NULL_VALUE, RecordStatus.BAD, RecordStatus.OK], dtype=np.uint8),
    reasons={2: "column 'a' of type BIGINT cannot hold 'x'"},
)


def describe_row(index: int) -> str:
    return f"topic orders, partition 3, offset {17 + index}"


@pytest.mark.parametrize("on_error", OnError)
def test_a_clean_batch_passes_untouched(on_error):
    outcome = apply_policy(Decoded(columns=ROWS), on_error, describe_row)
    assert outcome.columns is ROWS
    assert (outcome.has_rows, outcome.bad_rows, outcome.null_value_rows) == (None, 0, 0)


def test_fail_reports_position_reason_and_hints():
    with pytest.raises(RecordError) as caught:
        apply_policy(MIXED, OnError.FAIL, describe_row)
    assert str(caught.value) == (
        "[TIDEMARK_RECORD] the record at topic orders, partition 3, offset 19 cannot be decoded: column 'a' of type BIGINT cannot hold 'x'; "
        "correct the producer or the schema, or set 'format.on-error' to 'null' (keep such a record as a row of nulls), 'skip' (leave it out) or 'dead-letter' (leave it out and write it to a topic)"
    )


def test_null_keeps_a_bad_record_as_a_row_of_nulls():
    outcome = apply_policy(MIXED, OnError.NULL, describe_row)
    assert outcome.columns.to_pydict() == {"a": [1, None, 4]}
    assert outcome.has_rows is not None
    assert outcome.has_rows.tolist() == [True, False, True, True]
    assert (outcome.bad_rows, outcome.null_value_rows) == (1, 1)


@pytest.mark.parametrize("on_error", [OnError.SKIP, OnError.DEAD_LETTER])
def test_skip_leaves_a_bad_record_out(on_error):
    outcome = apply_policy(MIXED, on_error, describe_row)
    assert outcome.columns.to_pydict() == {"a": [1, 4]}
    assert outcome.has_rows is not None
    assert outcome.has_rows.tolist() == [True, False, False, True]
    assert (outcome.bad_rows, outcome.null_value_rows) == (1, 1)


def test_records_without_a_value_are_left_out_under_fail_too():
    statuses = np.array([0, RecordStatus.NULL_VALUE, 0, 0], dtype=np.uint8)
    outcome = apply_policy(Decoded(columns=ROWS, statuses=statuses), OnError.FAIL, describe_row)
    assert outcome.columns.num_rows == 3
    assert (outcome.bad_rows, outcome.null_value_rows) == (0, 1)


def test_bad_rows_that_are_all_kept_need_no_mask():
    statuses = np.array([0, 0, RecordStatus.BAD, 0], dtype=np.uint8)
    outcome = apply_policy(Decoded(columns=ROWS, statuses=statuses, reasons={2: "x"}), OnError.NULL, describe_row)
    assert outcome.columns is ROWS
    assert (outcome.has_rows, outcome.bad_rows) == (None, 1)
