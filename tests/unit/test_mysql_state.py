"""What a MySQL source keeps in the offset: text and back, what a sweep covers, who reads which chunk, what follows a batch."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest

from datasources.errors import DataLossError, OffsetError
from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.config.captured_tables import CapturedTables
from datasources.mysql.scan.reader_ids import reader_id
from datasources.mysql.scan.row_options import parse_places, parse_tables
from datasources.mysql.scan.scan_settings import BINLOG, lane_number
from datasources.mysql.server.log_files import LogFiles
from datasources.mysql.server.reconciled_state import has_read, merged_gtids, reconciled
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.range_note import RangeNote
from datasources.mysql.state.snapshot_scan import Coverage, PlannedTable, Sweep, coverage
from datasources.mysql.tables.key_ranges import KeyRange
from datasources.source.api.connector_state import RangeInfo
from datasources.source.api.split import SplitId

SERVER = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
ORDERS, ITEMS, USERS = ("shop", "orders"), ("shop", "items"), ("shop", "users")


def place(pos, number=3):
    return BinlogPosition(f"binlog.{number:06}", pos)


def batch(**parts):
    whole = {
        "reader": "r",
        "server": SERVER,
        "epoch": 1,
        "at": 700,
        "place": place(157),
        "gtid": f"{SERVER}:1-5",
        "to": place(900),
        "to_gtid": f"{SERVER}:1-9",
        "max_bytes": 64,
        "max_rows": 7,
        "mark_us": 1_700_000_000_000_000,
        "prepared": {"X'67',X'62',1": place(44)},
        "sweep": Sweep(table=ORDERS, bound=("10", "6162")),
        "tables": (
            PlannedTable(table=ORDERS, lower=("10", "6162"), bounds=(("20", "61"), ("30", "62")), is_open=True),
            PlannedTable(table=USERS, lower=None, bounds=(), is_open=True, is_again=True),
        ),
        "lanes": (2, 1, 1),
        "after": Sweep(table=USERS, only=(USERS,)),
        "again": "shop.users # 2",
        "quiet": 2,
        "width": 3,
    }
    return MySqlState(**{**whole, **parts})


def test_a_state_is_the_same_after_its_text_and_equal_states_have_equal_texts():
    state = batch()
    text = json.dumps(state.to_json())
    assert MySqlState.from_json(json.loads(text)) == state
    assert json.dumps(MySqlState.from_json(json.loads(text)).to_json()) == text
    assert list(state.to_json()) == sorted(state.to_json())
    bare = MySqlState(reader="r", server="s", place=None, prepared={})
    assert MySqlState.from_json(json.loads(json.dumps(bare.to_json()))) == bare


@pytest.mark.parametrize("damage", [{"place": [1]}, {"lanes": "x"}, {"sweep": {"t": ["a"]}}, {"prepared": None}])
def test_a_damaged_state_says_so(damage):
    with pytest.raises(OffsetError, match="damaged"):
        MySqlState.from_json({**batch().to_json(), **damage})


def test_a_state_of_a_newer_version_is_refused_by_its_number():
    with pytest.raises(OffsetError, match="version 9"):
        MySqlState.from_json({**batch().to_json(), "v": 9})


def test_lanes_read_the_chunks_one_after_the_other():
    state = batch()
    first, second, third = (state.ranges_of_lane(lane) for lane in range(3))
    assert [each.keys for each in first] == [
        KeyRange(lower=("10", "6162"), upper=("20", "61")),
        KeyRange(lower=("20", "61"), upper=("30", "62")),
    ]
    assert [(each.table, each.keys) for each in second] == [(ORDERS, KeyRange(lower=("30", "62")))]
    assert [(each.table, each.keys) for each in third] == [(USERS, KeyRange())]


def test_the_mark_is_the_end_of_the_batch_or_its_begin_where_nothing_is_read_of_the_binlog():
    assert batch().mark == place(900)
    assert batch(to=None).mark == place(157)


def test_a_sweep_covers_what_lies_behind_it():
    sweep = Sweep(table=ORDERS, bound=("5",))
    assert coverage(sweep, ITEMS) is Coverage.EVERYTHING
    assert coverage(sweep, ORDERS) is Coverage.SOME_KEYS
    assert coverage(sweep, USERS) is Coverage.NOTHING
    assert coverage(Sweep(table=ORDERS), ORDERS) is Coverage.NOTHING
    assert coverage(None, USERS) is Coverage.EVERYTHING


def test_a_sweep_of_named_tables_leaves_the_others_alone():
    sweep = Sweep(table=ORDERS, only=(ORDERS, USERS))
    assert coverage(sweep, ITEMS) is coverage(sweep, ("a", "b")) is coverage(sweep, ("z", "z")) is Coverage.EVERYTHING
    assert coverage(sweep, ORDERS) is coverage(sweep, USERS) is Coverage.NOTHING


def test_after_a_batch_the_state_stands_where_its_range_ended():
    note = RangeNote(place=place(400), gtids=f"{SERVER}:6-7", prepared={"y": place(390)}, server=SERVER)
    assert RangeNote.from_text(note.to_text()) == note
    after = reconciled(batch(), {BINLOG: RangeInfo(position=943, rows=0, note=note.to_text())})
    assert (after.at, after.place, after.gtid) == (943, place(400), f"{SERVER}:1-7")
    assert after.prepared == {"y": place(390)}
    assert (after.to, after.to_gtid, after.tables, after.lanes, after.max_bytes, after.max_rows) == (
        None,
        None,
        (),
        (),
        None,
        None,
    )
    assert after.sweep == after.after == batch().after
    assert after.quiet == 3
    assert reconciled(batch(), {BINLOG: RangeInfo(position=943, rows=1, note=note.to_text())}).quiet == 0


def test_a_batch_of_chunks_alone_leaves_the_place():
    after = reconciled(batch(), {SplitId("snapshot-0"): RangeInfo(position=2, rows=100, note=None)})
    assert (after.at, after.place, after.gtid, after.quiet) == (700, place(157), f"{SERVER}:1-5", 2)


def test_reading_by_gtid_ends_where_the_planned_end_was_reached():
    for reached, by_gtid in ((place(900), False), (place(899), True)):
        note = RangeNote(place=reached, gtids="", prepared={}, server=SERVER)
        found = {BINLOG: RangeInfo(position=1_000, rows=3, note=note.to_text())}
        assert reconciled(batch(by_gtid=True, place=None), found).by_gtid is by_gtid


def test_reading_by_gtid_ends_behind_all_that_was_there_at_the_switch():
    for reached, by_gtid in ((place(899), True), (place(900), False), (place(901), False)):
        note = RangeNote(place=reached, gtids="", prepared={}, server=SERVER)
        found = {BINLOG: RangeInfo(position=1_000, rows=3, note=note.to_text())}
        after = reconciled(batch(by_gtid=True, place=None, gtid_until=place(900), to=place(2_000)), found)
        assert (after.by_gtid, after.gtid_until) == (by_gtid, place(900) if by_gtid else None)


def test_transactions_are_merged_and_a_set_that_is_too_long_is_not_kept():
    assert merged_gtids(f"{SERVER}:1-5", f"{SERVER}:6") == f"{SERVER}:1-6"
    assert merged_gtids("0-1-5,1-2-7", "0-1-9") == "0-1-9,1-2-7"
    assert merged_gtids(None, f"{SERVER}:6") is None
    assert merged_gtids(f"{SERVER}:1", "") == f"{SERVER}:1"
    gaps = ":".join(str(2 * number) for number in range(1, 5_000))
    assert merged_gtids(f"{SERVER}:{gaps}", f"{SERVER}:1") is None
    assert has_read(f"{SERVER}:1-5", f"{SERVER}:1-5")
    assert not has_read(f"{SERVER}:1-5", f"{SERVER}:1-6")
    assert has_read("0-1-5", "0-1-5")
    assert not has_read(None, "0-1-5")


def test_bytes_are_counted_across_files_without_their_magic_numbers():
    asked = []

    def query(statement):
        asked.append(statement)
        return [("binlog.000002", 500, "No"), ("binlog.000003", 1_000, "No"), ("binlog.000004", 300, "No")]

    files = LogFiles(query)
    assert files.bytes_between(place(157), place(157)) == 0
    assert files.bytes_between(place(157), place(900)) == 743
    assert asked == []
    assert files.bytes_between(place(400, 2), place(300, 4)) == 100 + 996 + 296
    assert files.bytes_between(place(900, 3), place(104, 4)) == 100 + 100
    assert asked == ["SHOW BINARY LOGS"]


def test_a_file_that_is_gone_is_data_loss_that_names_what_there_is():
    files = LogFiles(lambda _: [("binlog.000004", 300, "No"), ("binlog.000005", 300, "No")])
    with pytest.raises(DataLossError, match=r"binlog.000003:157 .* binlog.000004, binlog.000005"):
        files.bytes_between(place(157, 3), place(200, 5))


def test_readers_keep_their_names_and_queries_have_different_ones():
    mine, again, other = (reader_id(query, "snapshot-1", None) for query in ("a", "a", "b"))
    assert mine == again
    assert mine.replica_uuid != other.replica_uuid
    assert mine.server_id >= 1 << 31
    roles = [f"snapshot-{n}" for n in range(4)]
    assert {reader_id("a", role, "5400-5407").server_id for role in roles} <= set(range(5400, 5408))
    assert len({reader_id("a", role, "5400-5407").server_id for role in roles}) == 4


def test_whole_names_match_and_the_servers_own_databases_never_do():
    tables = CapturedTables("shop_[0-9]+", "orders|items")
    assert tables("shop_7", "orders")
    assert not tables("shop_7", "orders_old")
    assert not tables("my_shop_7", "orders")
    assert not CapturedTables(".*", ".*")("mysql", "user")
    assert pickle.loads(pickle.dumps(tables)) == tables


@pytest.mark.parametrize(
    ("text", "tables"),
    [("", ()), ("shop.b, shop.a # again", (("shop", "a"), ("shop", "b"))), (" shop.a ", (("shop", "a"),))],
)
def test_tables_to_read_again(text, tables):
    assert parse_tables(text) == tables


@pytest.mark.parametrize("text", ["orders", "a.b.c", "a. b"])
def test_what_is_no_table_is_refused(text):
    with pytest.raises(ValueError, match="no table"):
        parse_tables(text)


def test_places_of_transactions():
    assert parse_places("binlog.000007:1234, mysql-bin.000001:4") == {
        BinlogPosition("binlog.000007", 1234),
        BinlogPosition("mysql-bin.000001", 4),
    }
    for text in ("binlog.000007", "binlog.7:4", "binlog.000007:3", "binlog.000007:x"):
        with pytest.raises(ValueError, match="no place"):
            parse_places(text)


def test_names_of_lanes_have_numbers():
    assert lane_number(SplitId("snapshot-12")) == 12
    assert lane_number(BINLOG) is None
    assert replace(batch(), to=None).without_data().to is None
