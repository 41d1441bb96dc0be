"""Every statement of the documents that Tidemark implements, on a real broker: as written where it is SQL, else repaired."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from datasources.errors import SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql import StatementResult, TableEnvironment
from datasources.sql.parse import parse_statement
from datasources.sql.statements.statements import PassThrough
from tests.support.forms import full
from tests.support.project import ROOT
from tests.support.spark.scripted_stream import Scripts, running
from tests.support.sql.sql_functions import watermark_on_flag

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

SEEDS = ROOT / "tests" / "golden" / "seeds"
PART = re.compile(r"^-- (as written|as run|repaired|refused|rows|answer|error)(?:: (.*))?$")


@dataclass(frozen=True)
class Statement:
    """A block of a file: the parts under their headings."""

    name: str
    parts: dict[str, str]

    def filled(self, kafka, topic: str) -> str:
        return self.parts["as run"].replace("{broker}", kafka.bootstrap_servers).replace("{topic}", topic)


def statements(file: str) -> list[Statement]:
    found = []
    for block in re.split(r"^-- name: ", (SEEDS / file).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, body = block.partition("\n")
        parts: dict[str, list[str]] = {}
        current: list[str] = []
        for line in body.splitlines():
            heading = PART.match(line)
            if heading:
                current = parts.setdefault(heading[1], [heading[2]] if heading[2] else [])
            else:
                current.append(line)
        found.append(Statement(name, {key: "\n".join(lines).strip("\n") for key, lines in parts.items()}))
    return found


DDL = [*statements("flip_66.sql"), *statements("flip_296.sql")]
ANSWERED = [statement for statement in DDL if "answer" in statement.parts]


@pytest.mark.parametrize("statement", [*ANSWERED[:3], *full(*ANSWERED[3:])], ids=lambda s: s.name)
def test_a_table_of_the_documents_is_pushed_down_and_read(kafka, spark, statement):
    topic = kafka.create_topic()
    kafka.produce(topic, 0, [(None, statement.parts["rows"].replace("{{", "{").replace("}}", "}").encode(), 1_000)])
    t = TableEnvironment(spark)
    t.create_function("watermarkOnFlag", watermark_on_flag)
    t.sql(statement.filled(kafka, topic))
    question, _, answer = statement.parts["answer"].rpartition(" => ")
    plan = str(t.sql(f"EXPLAIN {question}"))
    assert "WatermarkAssigner" not in plan
    assert "watermark=[" in plan  # PROCTIME() alone makes the clock the watermark
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    assert [", ".join(map(str, row)) for row in t.sql(question).collect()] == [answer]


@pytest.mark.parametrize("statement", [s for s in DDL if "error" in s.parts], ids=lambda s: s.name)
def test_what_the_documents_show_and_nobody_can_mean_is_refused_at_its_place(kafka, spark, statement):
    with pytest.raises(SqlError) as refused:
        TableEnvironment(spark).sql(statement.filled(kafka, "unused"))
    lines = str(refused.value).splitlines()
    assert statement.parts["error"] in lines[-2][lines[-1].index("^") :]


def test_invalid_statements_are_rejected_as_their_notes_expect():
    """A repair is made only where it is needed: what is kept "as written" is refused, or is the same as what is run."""
    for statement in DDL:
        written = statement.parts["as written"]
        if "refused" in statement.parts or written == statement.parts["as run"]:
            continue
        assert not is_ours(written)


def is_ours(text: str) -> bool:
    try:
        return not isinstance(parse_statement(SqlText(text)), PassThrough)
    except SqlError:
        return False


def amounts_and_rates(spark, directory) -> TableEnvironment:
    """Amounts of four days, and a rate that changes within and between them."""
    amounts = Scripts(directory / "amounts", schema="currency STRING, amount INT, rowtime TIMESTAMP_NTZ")
    for day, amount in ((1, 5), (1, 7), (2, 11), (4, 1)):
        amounts.append("s-0", {"currency": "EUR", "amount": amount, "rowtime": f"2026-03-{day:02d} 10:00:00"})
    rates = Scripts(directory / "rates", schema="currency STRING, rate INT, rowtime TIMESTAMP_NTZ")
    for day, hour, rate in ((1, 8, 100), (1, 20, 101), (2, 12, 102), (3, 1, 103), (4, 1, 104)):
        rates.append("s-0", {"currency": "EUR", "rate": rate, "rowtime": f"2026-03-{day:02d} {hour:02d}:00:00"})
    t = TableEnvironment(spark)
    for name, columns in (
        ("amounts", "currency STRING, amount INT, proctime AS PROCTIME()"),
        ("rates", "currency STRING, rate INT, PRIMARY KEY (currency) NOT ENFORCED"),
    ):
        t.sql(
            f"CREATE TABLE {name} ({columns}, rowtime TIMESTAMP(3), WATERMARK FOR rowtime AS rowtime) WITH ('connector' = "
            f"'scripted', 'path' = '{directory / name}')"
        )
    return t


@pytest.mark.full
def test_amounts_meet_the_rate_that_is_valid_when_they_arrive(spark, tmp_path):
    first = statements("event_and_processing_time.sql")[0]
    t = amounts_and_rates(spark, tmp_path)
    with pytest.raises(Exception, match=re.escape("</pre>")):
        t.sql(first.parts["as written"])
    frame = t.sql(first.parts["as run"])
    assert not isinstance(frame, StatementResult)
    with running(frame) as query:
        query.wait_for(lambda running_: len(running_.rows()) == 4)
        assert sorted(query.rows()) == [(1, 104), (5, 104), (7, 104), (11, 104)]


@pytest.mark.long
def test_amounts_per_day_meet_the_closing_rate_of_the_day(spark, tmp_path):
    """The last day is open: neither watermark has passed it."""
    second = statements("event_and_processing_time.sql")[1]
    t = amounts_and_rates(spark, tmp_path)
    frame = t.sql(second.parts["as run"])
    assert not isinstance(frame, StatementResult)
    with running(frame.selectExpr("amountSum", "rate", "date_format(day, 'dd HH')")) as query:
        query.wait_for(lambda running_: len(running_.rows()) == 2)
        assert sorted(query.rows()) == [(11, 102, "03 00"), (12, 101, "02 00")]
    t.sql("SET 'execution.runtime-mode' = 'batch'")
    closed = t.sql(second.parts["as run"]).selectExpr("amountSum", "rate", "date_format(day, 'dd HH')")
    assert sorted(map(tuple, closed.collect())) == [(1, 104, "05 00"), (11, 102, "03 00"), (12, 101, "02 00")]
