"""Later changes are undone, whichever of them the SELECT saw and however often they are compacted."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasources.errors import DataLossError
from datasources.mysql.binlog.reading.opening import ReaderId
from datasources.mysql.binlog.rows.row_batch import RowKind
from datasources.mysql.connection.connection import ConnectionSettings
from datasources.mysql.snapshot.requests import Selection, SnapshotSettings
from datasources.mysql.snapshot.undo import keyed_undo, multiset_undo
from datasources.mysql.snapshot.undo.image_keys import ImageKeys
from datasources.mysql.snapshot.undo.keyed_undo import KeyedUndo
from datasources.mysql.snapshot.undo.multiset_undo import MultisetUndo
from datasources.mysql.tables.chunk_key import KeyColumn, KeyKind, TableKey
from datasources.mysql.tables.key_ranges import KeyRange
from datasources.mysql.tables.table_schema import TableColumn, TableSchema, key_types
from datasources.mysql.types import ColumnType, Kind

INT = ColumnType(kind=Kind.INTEGER, width=4)
KEY = TableKey(
    kind=KeyKind.PRIMARY, name="PRIMARY", columns=(KeyColumn(name="id", data_type="int", column_type="int"),)
)
ARROW = pa.schema([("id", pa.int32()), ("v", pa.int32())])
Image = tuple[RowKind, int, int]


def batch(rows: list[tuple[int, int]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array(list(part), pa.int32()) for part in zip(*rows, strict=True)], schema=ARROW
    )


def history(chance: random.Random, steps: int) -> list[tuple[dict[int, int], list[Image]]]:
    """States of a table, each with the images of the change that made it."""
    state = dict.fromkeys(range(40), 0)
    found: list[tuple[dict[int, int], list[Image]]] = [(dict(state), [])]
    for step in range(1, steps):
        key, other = chance.randrange(60), chance.randrange(60)
        if key not in state:
            images = [(RowKind.INSERT, key, step)]
            state[key] = step
        elif chance.random() < 0.3:
            images = [(RowKind.DELETE, key, state.pop(key))]
        else:
            to = other if other not in state else key
            images = [(RowKind.UPDATE_BEFORE, key, state.pop(key)), (RowKind.UPDATE_AFTER, to, step)]
            state[to] = step
        found.append((dict(state), images))
    return found


def note(undo: KeyedUndo | MultisetUndo, images: list[Image], chance: random.Random) -> None:
    """Tell the images in batches of any size."""
    while images:
        size = chance.randint(1, 9)
        part, images = images[:size], images[size:]
        undo.note(batch([image[1:] for image in part]), np.array([image[0] for image in part], np.int8))


@pytest.mark.parametrize("compact_rows", [1, 20, 200_000])
@pytest.mark.parametrize("seed", range(5))
def test_a_range_is_as_of_the_snapshot_position(compact_rows: int, seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(keyed_undo, "_COMPACT_ROWS", compact_rows)
    chance = random.Random(seed)
    states = history(chance, 300)
    as_of, read = 50, chance.randint(50, 299)
    undo = KeyedUndo(ImageKeys(AssertionError, KEY, key_types(KEY)), KeyRange(lower=("9",), upper=("44",)))
    note(undo, [image for _, images in states[as_of + 1 :] for image in images], chance)
    seen = [(key, value) for key, value in states[read][0].items() if 9 < key <= 44]
    halves = [batch(part) for part in (seen[: len(seen) // 2], seen[len(seen) // 2 :]) if part]
    found = [(row["id"], row["v"]) for part in undo.apply(halves) for row in part.to_pylist()]
    assert sorted(found) == sorted((key, value) for key, value in states[as_of][0].items() if 9 < key <= 44)


def selection() -> Selection:
    schema = TableSchema(
        database="d", table="t", key=TableKey(kind=KeyKind.NONE), rows=0, row_bytes=0,
        columns=(TableColumn("id", INT), TableColumn("v", INT)),
    )  # fmt: skip
    server = ConnectionSettings(host="h", port=1, user="u", password="")
    name = ReaderId(server_id=1, replica_uuid="11111111-2222-3333-4444-555555555555")
    return Selection(schema, SnapshotSettings(connection=server, columns=("id", "v"), reader_id=name))


@pytest.mark.parametrize("compact_rows", [1, 20, 200_000])
@pytest.mark.parametrize("seed", range(5))
def test_a_multiset_is_as_of_the_snapshot_position(compact_rows: int, seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(multiset_undo, "_COMPACT_ROWS", compact_rows)
    chance = random.Random(seed)
    rows: Counter[tuple[int, int]] = Counter({(n % 3, n % 2): 5 for n in range(6)})
    before, images = Counter(rows), []
    for _ in range(100):
        row = chance.randrange(3), chance.randrange(3)
        is_new = rows[row] == 0 or chance.random() < 0.5
        rows[row] += 1 if is_new else -1
        images.append((RowKind.INSERT if is_new else RowKind.DELETE, *row))
    undo = MultisetUndo(selection())
    note(undo, images, chance)
    now = list(rows.elements())
    chance.shuffle(now)
    remaining: list[Any] = [undo.drop(batch(now[at : at + 7])) for at in range(0, len(now), 7)]
    found = [(row["id"], row["v"]) for part in (*remaining, *undo.removed("d.t")) for row in part.to_pylist()]
    assert Counter(found) == before


def test_added_rows_that_the_table_does_not_have_are_data_loss():
    undo = MultisetUndo(selection())
    note(undo, [(RowKind.INSERT, 1, 1), (RowKind.INSERT, 1, 1)], random.Random(1))
    undo.drop(batch([(1, 1), (2, 2)]))
    with pytest.raises(DataLossError, match="1 rows that the binlog adds to d.t are not in the table"):
        undo.removed("d.t")


def test_without_changes_all_rows_remain():
    undo = MultisetUndo(selection())
    rows = batch([(1, 1), (1, 1)])
    assert undo.drop(rows).equals(rows)
    assert sum(part.num_rows for part in undo.removed("d.t")) == 0
