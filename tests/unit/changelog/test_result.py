"""The row kinds of a result: one net change per key, removals before additions."""

from __future__ import annotations

import tracemalloc

import pyarrow as pa
import pytest

from datasources.changelog.result import NetChanges, UnpackNetChanges
from datasources.source.reading.row_blobs import to_blob
from datasources.spark.operators.changelog.changes import WEIGHT_COLUMN


def net(rows, key):
    """Return the changes of a partition; each row is (columns..., weight)."""
    columns = list(zip(*rows, strict=True))
    names = [*(f"c{at}" for at in range(len(columns) - 1)), WEIGHT_COLUMN]
    table = pa.table({name: list(column) for name, column in zip(names, columns, strict=True)})
    found = NetChanges(key=key)(iter(table.to_batches(max_chunksize=2)))
    return [tuple(row.values()) for batch in found for row in batch.to_pylist()]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(1, "a", 1)], [("+I", 1, "a")]),
        ([(1, "a", -1)], [("-D", 1, "a")]),
        ([(1, "b", 1), (1, "a", -1)], [("-U", 1, "a"), ("+U", 1, "b")]),
        ([(1, "a", 1), (1, "a", -1)], []),
        ([(1, "a", -1), (1, "b", 1), (1, "b", -1), (1, "c", 1)], [("-U", 1, "a"), ("+U", 1, "c")]),
        ([(1, "a", -1), (1, "b", 1), (1, "b", -1), (1, "a", 1)], []),
        ([(2, "x", 1), (1, "a", -1)], [("-D", 1, "a"), ("+I", 2, "x")]),
    ],
)
def test_a_key_has_one_net_change(rows, expected):
    assert net(rows, key=("c0",)) == expected


def test_without_a_key_an_update_is_a_deletion_and_an_insertion():
    assert net([(1, "b", 1), (1, "a", -1)], key=None) == [("-D", 1, "a"), ("+I", 1, "b")]


def test_a_result_of_one_row_has_no_columns_in_its_key():
    assert net([(3, 1), (2, -1)], key=()) == [("-U", 2), ("+U", 3)]


def test_a_row_that_is_there_twice_comes_twice():
    assert net([("a", 2), ("b", -2)], key=None) == [("-D", "b"), ("-D", "b"), ("+I", "a"), ("+I", "a")]


def test_keys_that_are_equal_by_the_rule_of_group_by_are_one_key():
    rows = [(float("nan"), "a", -1), (float("nan"), "b", 1), (0.0, "a", 1), (-0.0, "b", -1), (None, "a", -1)]
    kinds = sorted(row[0] for row in net(rows, key=("c0",)))
    assert kinds == ["+U", "+U", "-D", "-U", "-U"]


@pytest.mark.parametrize("is_net", [False, True])
def test_cells_become_changes_of_chosen_columns(is_net):
    rows = [pa.table({"k": [1, 2], "v": ["a", "x"], WEIGHT_COLUMN: [-1, 1]})]
    rows.append(pa.table({"k": [1, 3], "v": ["b", "y"], WEIGHT_COLUMN: [1, -1]}))
    cells = pa.record_batch({"rows": pa.array([to_blob(rows[0]), None, to_blob(rows[1])], type=pa.binary())})
    unpack = UnpackNetChanges(
        changes=NetChanges(key=("c1",), is_net=is_net),
        columns=("v", "k"),
        schema=pa.schema([("c0", pa.string()), ("c1", pa.int32())]),
    )
    found = [tuple(row.values()) for batch in unpack(iter([cells])) for row in batch.to_pylist()]
    assert found[:2] == [("-U", "a", 1), ("-D", "y", 3)]
    assert sorted(found[2:]) == [("+I", "x", 2), ("+U", "b", 1)]
    assert list(unpack(iter([cells.slice(1, 1)]))) == []


def test_a_partition_without_rows_gives_nothing():
    assert list(NetChanges(key=None)(iter([]))) == []


def test_a_key_of_two_columns_takes_memory_by_rows_not_by_possible_keys():
    rows = [(at, 3_000 - at, "x", 1) for at in range(3_000)]
    tracemalloc.start()
    try:
        found = net(rows, key=("c0", "c1"))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert len(found) == len(rows)
