"""Statements over tables of MySQL that change, killed three times: their changes lead to what the server's SELECT gives."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support.mysql.mysql_changing_tables import ChangingShop
from tests.support.mysql.mysql_killed_copies import recorded_rows, run_with_kills
from tests.support.mysql.mysql_server import MySqlServer
from tests.support.mysql.mysql_statements import ANSWERED_BY, STATEMENTS
from tests.support.spark.recording import QueryDirectory

pytestmark = [pytest.mark.full, pytest.mark.spark, pytest.mark.mysql, pytest.mark.slow, pytest.mark.timeout(1_500)]

AT_ONCE = 6
TRANSACTIONS = {1: 3, 7: 8, 1_000: 12}
GROUPS = [list(STATEMENTS)[at : at + AT_ONCE] for at in range(0, len(STATEMENTS), AT_ONCE)]


@pytest.mark.parametrize("rows_per_batch", TRANSACTIONS)
@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
def test_changes_lead_to_what_the_server_answers(
    mysql: MySqlServer, tmp_path: Path, names: list[str], rows_per_batch: int
):
    shop = ChangingShop(mysql, random.Random(f"{names[0]} {rows_per_batch}"))
    shop.create()
    recording = QueryDirectory(tmp_path / "queries").create()
    size = str(rows_per_batch)
    script = [shop.declaration(table, scan__max_rows_per_batch=size) for table in ("orders", "customers")]
    queries = {f"query_{number}": STATEMENTS[name] for number, name in enumerate(names)}
    run_with_kills(
        shop,
        recording,
        script,
        kills=3,
        queries=queries,
        transactions=TRANSACTIONS[rows_per_batch],
        settings={"spark.sql.shuffle.partitions": "2"},  # equal keys of a result must meet
    )
    found = {
        name: recorded_rows(QueryDirectory(recording.directory / directory))
        for name, directory in zip(names, queries, strict=True)
    }
    answers = {name: shop.answer(ANSWERED_BY.get(name, STATEMENTS[name])) for name in names}
    assert [name for name in names if found[name] != answers[name]] == []
