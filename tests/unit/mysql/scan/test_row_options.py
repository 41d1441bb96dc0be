"""Sizes of batches, under our names and Spark's."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError
from datasources.mysql.scan.row_options import MySqlBatchOptions
from datasources.options import parse_group


@pytest.mark.parametrize(
    ("given", "size"), [({}, 64 << 20), ({"scan.max-bytes-per-batch": "7"}, 7), ({"maxbytespertrigger": "9"}, 9)]
)
def test_a_batch_is_bounded_by_bytes_under_either_name(given, size):
    assert parse_group(MySqlBatchOptions, given).max_bytes_per_batch == size


def test_both_names_at_once_are_refused():
    with pytest.raises(OptionError, match="'scan.max-bytes-per-batch' and 'maxBytesPerTrigger' mean the same"):
        parse_group(MySqlBatchOptions, {"scan.max-bytes-per-batch": "7", "maxbytespertrigger": "7"})
