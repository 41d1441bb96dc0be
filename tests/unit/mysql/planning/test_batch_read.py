"""Parts of a batch read run side by side, so no two of them may be the same reader to the server."""

from __future__ import annotations

from datasources.mysql.planning.batch_read import _part
from datasources.mysql.scan.reader_ids import reader_id
from datasources.mysql.scan.scan_settings import snapshot_reader_number
from datasources.mysql.state.mysql_state import MySqlState
from tests.unit.mysql.state.test_mysql_state import batch


def test_each_part_has_a_reader_of_its_own_and_reads_its_own_chunks():
    state = batch()
    (table, *_) = state.tables
    names, numbers = set(), set()
    for number in range(100):
        part = _part(state, number, table)
        own = MySqlState.from_json(part.state)
        assert own.chunks_of_reader(snapshot_reader_number(part.split)) == list(table.ranges)
        assert part.end == len(table.ranges)
        names.add(reader_id(own.reader, part.split, None).replica_uuid)
        numbers.add(reader_id(own.reader, part.split, "5400-5999").server_id)
    assert len(names) == 100
    assert len(numbers) == 64
