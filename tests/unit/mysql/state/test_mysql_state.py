"""The state of a MySQL source in the offset: its text, coverage, the chunks of each reader, the state after a batch."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest

from datasources.errors import DataLossError, OffsetError
from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.config.captured_tables import CapturedTables
from datasources.mysql.scan.reader_ids import reader_id
from datasources.mysql.scan.row_options import parse_positions, parse_tables
from datasources.mysql.scan.scan_settings import BINLOG, snapshot_reader_number
from datasources.mysql.server.log_files import LogFiles
from datasources.mysql.server.reconciled_state import has_read, merged_gtids, reconciled
from datasources.mysql.state.mysql_state import MySqlState
from datasources.mysql.state.range_report import RangeReport
from datasources.mysql.state.snapshot_scan import Coverage, PlannedChunks, SnapshotScan, coverage
from datasources.mysql.tables.key_ranges import KeyRange
from datasources.source.api.connector_state import RangeInfo
from datasources.source.api.split import SplitId

SERVER = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
ORDERS, ITEMS, USERS = ("shop", "orders"), ("shop", "items"), ("shop", "users")


def position(pos, number=3):
    return BinlogPosition(f"binlog.{number:06}", pos)


def batch(**fields):
    whole = {
        "reader": "r",
        "server": SERVER,
        "epoch": 1,
        "at": 700,
        "position": position(157),
        "gtid": f"{SERVER}:1-5",
        "to": position(900),
        "to_gtid": f"{SERVER}:1-9",
        "max_bytes": 64,
        "max_rows": 7,
        "end_clock_us": 1_700_000_000_000_000,
        "prepared": {"X'67',X'62',1": position(44)},
        "snapshot": SnapshotScan(table=ORDERS, bound=("10", "6162")),
        "tables": (
            PlannedChunks(table=ORDERS, lower=("10", "6162"), bounds=(("20", "61"), ("30", "62")), is_open=True),
            PlannedChunks(table=USERS, lower=None, bounds=(), is_open=True, is_again=True),
        ),
        "chunks_per_reader": (2, 1, 1),
        "after": SnapshotScan(table=USERS, only=(USERS,)),
        "again": "shop.users # 2",
        "irrelevant_batches": 2,
        "reader_count": 3,
    }
    return MySqlState(**{**whole, **fields})


def test_a_state_equals_that_of_its_text_and_texts_are_canonical():
    state = batch()
    text = json.dumps(state.to_json())
    assert MySqlState.from_json(json.loads(text)) == state
    assert json.dumps(MySqlState.from_json(json.loads(text)).to_json()) == text
    assert list(state.to_json()) == sorted(state.to_json())
    bare = MySqlState(reader="r", server="s", position=None, prepared={})
    assert MySqlState.from_json(json.loads(json.dumps(bare.to_json()))) == bare


STATE_TEXT = (
    '{"after":{"t":["shop","users"],"b":null,"only":[["shop","users"]]},"again":"shop.users # 2","at":700,'
    f'"by_gtid":false,"epoch":1,"gtid":"{SERVER}:1-5","gtid_until":null,"lanes":[2,1,1],"mark_us":1700000000000000,'
    '"max_bytes":64,"max_rows":7,"place":["binlog.000003",157],"prepared":{"X\'67\',X\'62\',1":["binlog.000003",44]},'
    '"quiet":2,"reader":"r","reread":[["shop","items"]],'
    f'"server":"{SERVER}","sweep":{{"t":["shop","orders"],"b":["10","6162"]}},'
    '"tables":[{"t":["shop","orders"],"l":["10","6162"],"b":[["20","61"],["30","62"]],"open":true},'
    '{"t":["shop","users"],"l":null,"b":[],"open":true,"again":true}],'
    f'"to":["binlog.000003",900],"to_gtid":"{SERVER}:1-9","v":1,"width":3}}'
)
REPORT_TEXT = (
    f'{{"again":[["b","a"]],"gtids":"{SERVER}:6-7","place":["binlog.000003",400],"prepared":{{"y":["binlog.000003",390]}},'
    f'"server":"{SERVER}"}}'
)


def test_the_texts_of_states_and_reports_are_those_of_version_1():
    assert json.dumps(batch(reread=(ITEMS,)).to_json(), separators=(",", ":")) == STATE_TEXT
    report = RangeReport(
        position=position(400),
        gtids=f"{SERVER}:6-7",
        prepared={"y": position(390)},
        again=(("b", "a"),),
        server=SERVER,
    )
    assert report.to_text() == REPORT_TEXT


@pytest.mark.parametrize("damage", [{"place": [1]}, {"lanes": "x"}, {"sweep": {"t": ["a"]}}, {"prepared": None}])
def test_a_damaged_state_is_rejected(damage):
    with pytest.raises(OffsetError, match="damaged"):
        MySqlState.from_json({**batch().to_json(), **damage})


def test_a_state_of_a_newer_version_is_refused_by_its_number():
    with pytest.raises(OffsetError, match="version 9"):
        MySqlState.from_json({**batch().to_json(), "v": 9})


def test_snapshot_readers_share_the_chunks_in_order():
    state = batch()
    first, second, third = (state.chunks_of_reader(number) for number in range(3))
    assert [each.keys for each in first] == [
        KeyRange(lower=("10", "6162"), upper=("20", "61")),
        KeyRange(lower=("20", "61"), upper=("30", "62")),
    ]
    assert [(each.table, each.keys) for each in second] == [(ORDERS, KeyRange(lower=("30", "62")))]
    assert [(each.table, each.keys) for each in third] == [(USERS, KeyRange())]


def test_the_snapshot_position_is_the_end_of_the_batch_or_its_begin():
    assert batch().snapshot_position == position(900)
    assert batch(to=None).snapshot_position == position(157)


def test_a_snapshot_scan_covers_what_it_has_read():
    snapshot = SnapshotScan(table=ORDERS, bound=("5",))
    assert coverage(snapshot, ITEMS) is Coverage.EVERYTHING
    assert coverage(snapshot, ORDERS) is Coverage.SOME_KEYS
    assert coverage(snapshot, USERS) is Coverage.NOTHING
    assert coverage(SnapshotScan(table=ORDERS), ORDERS) is Coverage.NOTHING
    assert coverage(None, USERS) is Coverage.EVERYTHING


def test_a_scan_of_named_tables_covers_all_others():
    snapshot = SnapshotScan(table=ORDERS, only=(ORDERS, USERS))
    assert (
        coverage(snapshot, ITEMS)
        is coverage(snapshot, ("a", "b"))
        is coverage(snapshot, ("z", "z"))
        is Coverage.EVERYTHING
    )
    assert coverage(snapshot, ORDERS) is coverage(snapshot, USERS) is Coverage.NOTHING


def test_after_a_batch_the_state_is_at_the_end_of_its_range():
    report = RangeReport(position=position(400), gtids=f"{SERVER}:6-7", prepared={"y": position(390)}, server=SERVER)
    assert RangeReport.from_text(report.to_text()) == report
    after = reconciled(batch(), {BINLOG: RangeInfo(position=943, rows=0, note=report.to_text())})
    assert (after.at, after.position, after.gtid) == (943, position(400), f"{SERVER}:1-7")
    assert after.prepared == {"y": position(390)}
    assert (after.to, after.to_gtid, after.tables, after.chunks_per_reader, after.max_bytes, after.max_rows) == (
        None,
        None,
        (),
        (),
        None,
        None,
    )
    assert after.snapshot == after.after == batch().after
    assert after.irrelevant_batches == 3
    assert reconciled(batch(), {BINLOG: RangeInfo(position=943, rows=1, note=report.to_text())}).irrelevant_batches == 0


def test_a_batch_of_chunks_alone_keeps_the_position():
    after = reconciled(batch(), {SplitId("snapshot-0"): RangeInfo(position=2, rows=100, note=None)})
    assert (after.at, after.position, after.gtid, after.irrelevant_batches) == (700, position(157), f"{SERVER}:1-5", 2)


def test_reading_by_gtid_ends_where_the_planned_end_was_reached():
    for reached, by_gtid in ((position(900), False), (position(899), True)):
        report = RangeReport(position=reached, gtids="", prepared={}, server=SERVER)
        found = {BINLOG: RangeInfo(position=1_000, rows=3, note=report.to_text())}
        assert reconciled(batch(by_gtid=True, position=None), found).by_gtid is by_gtid


def test_reading_by_gtid_ends_after_the_log_end_of_the_failover():
    for reached, by_gtid in ((position(899), True), (position(900), False), (position(901), False)):
        report = RangeReport(position=reached, gtids="", prepared={}, server=SERVER)
        found = {BINLOG: RangeInfo(position=1_000, rows=3, note=report.to_text())}
        after = reconciled(batch(by_gtid=True, position=None, gtid_until=position(900), to=position(2_000)), found)
        assert (after.by_gtid, after.gtid_until) == (by_gtid, position(900) if by_gtid else None)


def test_gtid_sets_are_merged_and_one_that_is_too_long_is_dropped():
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
    assert files.bytes_between(position(157), position(157)) == 0
    assert files.bytes_between(position(157), position(900)) == 743
    assert asked == []
    assert files.bytes_between(position(400, 2), position(300, 4)) == 100 + 996 + 296
    assert files.bytes_between(position(900, 3), position(104, 4)) == 100 + 100
    assert asked == ["SHOW BINARY LOGS"]


def test_a_purged_file_is_data_loss_that_names_the_files():
    files = LogFiles(lambda _: [("binlog.000004", 300, "No"), ("binlog.000005", 300, "No")])
    with pytest.raises(DataLossError, match=r"binlog.000003:157 .* binlog.000004, binlog.000005"):
        files.bytes_between(position(157, 3), position(200, 5))


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
def test_an_invalid_table_name_is_rejected(text):
    with pytest.raises(ValueError, match="no table"):
        parse_tables(text)


def test_positions_of_transactions():
    assert parse_positions("binlog.000007:1234, mysql-bin.000001:4") == {
        BinlogPosition("binlog.000007", 1234),
        BinlogPosition("mysql-bin.000001", 4),
    }
    for text in ("binlog.000007", "binlog.7:4", "binlog.000007:3", "binlog.000007:x"):
        with pytest.raises(ValueError, match="no binlog position"):
            parse_positions(text)


def test_names_of_snapshot_readers_have_numbers():
    assert snapshot_reader_number(SplitId("snapshot-12")) == 12
    assert snapshot_reader_number(BINLOG) is None
    assert replace(batch(), to=None).without_data().to is None


def test_a_batch_has_data_until_it_is_reconciled():
    assert batch().has_data
    assert batch(to=None, to_gtid=None).has_data  # chunks alone
    assert not batch().without_data().has_data
