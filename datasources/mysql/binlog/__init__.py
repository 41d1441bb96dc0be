"""The MySQL binlog: dumps, events, and row changes as Arrow columns."""

from datasources.mysql.binlog.dump.dump import DumpRequest, open_dump
from datasources.mysql.binlog.positions.positions import FIRST_POSITION, BinlogPosition
from datasources.mysql.binlog.reading.binlog_reader import ChangeReader
from datasources.mysql.binlog.reading.log_scan import BinlogRangeInfo, scan_range
from datasources.mysql.binlog.rows.changes import Capture, CaptureRule, Change, Idle, StopRule, XaChange, XaOutcome
from datasources.mysql.binlog.rows.row_batch import BinlogRows, RowKind
from datasources.mysql.binlog.statements.statements import Statement, StatementKind

__all__ = [
    "FIRST_POSITION",
    "BinlogPosition",
    "BinlogRangeInfo",
    "BinlogRows",
    "Capture",
    "CaptureRule",
    "Change",
    "ChangeReader",
    "DumpRequest",
    "Idle",
    "RowKind",
    "Statement",
    "StatementKind",
    "StopRule",
    "XaChange",
    "XaOutcome",
    "open_dump",
    "scan_range",
]
