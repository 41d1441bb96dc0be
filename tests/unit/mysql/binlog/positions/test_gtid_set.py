from __future__ import annotations

import pytest

from datasources.errors import OptionError
from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.binlog.positions.gtid_set import DomainPositions, GtidSet

A, B = "00000000-0000-0000-0000-0000000000aa", "0f000000-0000-0000-0000-0000000000bb"


def test_the_text_is_the_one_that_servers_print():
    text = f"{B}:4:tag:1-3:7, {A}:9:1-3:2-5:6"
    assert str(GtidSet.parse(text)) == f"{A}:1-6:9,{B}:4:tag:1-3:7"
    assert str(GtidSet.parse("")) == ""


@pytest.mark.parametrize("text", ["nonsense:1", f"{A}:1-", f"{A}:0", f"{A}:5-2", f"{A}:1.5", f"{A}:9x"])
def test_an_invalid_set_is_refused_with_its_text(text):
    with pytest.raises(OptionError, match="GTID set"):
        GtidSet.parse(text)


@pytest.mark.parametrize("text", ["0-1", "0-1-5,0-2-6", "0-1-x", A])
def test_an_invalid_domain_position_is_refused(text):
    with pytest.raises(OptionError, match="domain-server-number"):
        DomainPositions.parse(text)


def test_a_binlog_position_parses_from_its_text():
    position = BinlogPosition("my.log.000012", 345)
    assert BinlogPosition.parse(f" {position} ") == position
    for text in ("binlog.000012", "binlog:12", "binlog.000012:x"):
        with pytest.raises(OptionError, match="binlog.000012:345"):
            BinlogPosition.parse(text)
