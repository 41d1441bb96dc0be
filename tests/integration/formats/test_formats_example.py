"""The example of formats, as a user runs it."""

from __future__ import annotations

import pytest

from examples import formats

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.slow, pytest.mark.usefixtures("tiny_queries")]


@pytest.mark.long
def test_the_orders_of_each_format_and_the_dead_letters(kafka, spark, capsys):
    assert formats.main(["--brokers", kafka.bootstrap_servers]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["orders.json: a, b, c", "orders.csv: a, b, c", "orders.json.gz: a, b, c"]
    assert [line.partition(": ")[2].partition(":")[0] for line in lines[3:]] == [
        "orders.json, offset 3",
        "orders.csv, offset 3",
        "orders.json.gz, offset 3",
    ]
