"""How long a server keeps its binlog, by the variables of each kind of server."""

from __future__ import annotations

import pytest

from datasources.mysql.connection.log_retention import log_retention_s


@pytest.mark.parametrize(
    ("variables", "seconds"),
    [
        ({"binlog_expire_logs_seconds": "2592000", "expire_logs_days": "0"}, 2_592_000),  # MySQL 8.0
        ({"binlog_expire_logs_seconds": "2592000", "binlog_expire_logs_auto_purge": "ON"}, 2_592_000),  # 8.4
        ({"binlog_expire_logs_seconds": "2592000", "binlog_expire_logs_auto_purge": "OFF"}, None),
        ({"binlog_expire_logs_seconds": "0", "expire_logs_days": "3"}, 259_200),
        ({"binlog_expire_logs_seconds": "0", "binlog_expire_logs_auto_purge": "ON"}, None),
        ({"expire_logs_days": "0.500000", "binlog_expire_logs_seconds": "43200"}, 43_200),  # MariaDB 10.6
        ({"expire_logs_days": "10"}, 864_000),  # MariaDB 10.5
        ({}, None),
    ],
)
def test_a_retention_is_in_seconds_or_without_limit(variables, seconds):
    assert log_retention_s(variables) == seconds
