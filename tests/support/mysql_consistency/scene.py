"""A database with the twenty tables, and the check of what a query made of it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import Self

from datasources.mysql.binlog import BinlogPosition
from tests.support.mysql.mysql_binlog import position
from tests.support.mysql.mysql_server import MySqlServer
from tests.support.mysql_consistency.check import Checked, check_batches, selected
from tests.support.mysql_consistency.recording import Recording, equal_attempts
from tests.support.mysql_consistency.tables import PATTERN, SCHEMA, TABLES, Row, create_tables
from tests.support.mysql_consistency.truth import read_history

__all__ = ["Scene"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The database of one test.

    Attributes:
        server: where it is.
        database: its name.
        start: the binlog's position before its first table.
        options: of the source: small chunks, so that a snapshot takes many batches.
    """

    server: MySqlServer
    database: str
    start: BinlogPosition
    options: dict[str, str]

    @classmethod
    def open(cls, server: MySqlServer, *, seed: int, rows: int = 100, **options: str) -> Self:
        """Create the database and its tables."""
        database = server.create_database("consistency")
        start = position(server)
        create_tables(server, database, random.Random(seed), rows=rows)
        login = server.create_login("SELECT, REPLICATION SLAVE, REPLICATION CLIENT, LOCK TABLES ON *.*")
        own = {
            "hostname": login.host,
            "port": str(login.port),
            "username": login.user,
            "password": login.password,
            "database-name": database,
            "table-name": PATTERN,
            "schema": SCHEMA,
            "scan.incremental.snapshot.chunk.size": "16",
            "scan.max-rows-per-batch": "160",
            "scan.snapshot.parallelism": "2",
            "scan.snapshot.no-key": "lock",
            "on-rewrite-ddl": "ignore",  # tables are swapped for copies that hold the same rows
        }
        return cls(server=server, database=database, start=start, options={**own, **options})

    def check(self, recording: Recording) -> Checked:
        """Hold all batches of a query that read everything against the truth, and the truth against the tables."""
        history = read_history(self.server, self.database, self.start)
        states = {batch: recording.state(batch) for batch in range(recording.planned())}
        rows = equal_attempts(recording.attempts())
        checked = check_batches(self.server, self.database, history, states, rows, position(self.server))
        for table in TABLES:
            truth: Counter[Row] = Counter()
            for (_, row), count in history.state[table.name].items():
                truth[row] += count
            if truth != selected(self.server, self.database, table):
                checked.faults.append(f"{table.name}: the binlog and SELECT differ")
        return checked
