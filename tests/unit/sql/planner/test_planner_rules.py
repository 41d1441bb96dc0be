"""The planner's rules: pairs of a table and the tree that the rules up to one of them make of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from datasources.errors import OptionError
from datasources.sql.planner.explain import explain_tree
from datasources.sql.planner.rules import RULES
from tests.support.project import ROOT
from tests.support.sql.sql_planning import PlannerCase, cases_of, plan_case

GOLDEN = ROOT / "tests" / "golden" / "sql" / "planner"
CASES = [case for file in sorted(GOLDEN.glob("*.sql")) for case in cases_of(file)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file}-{case.number}")
def test_a_rule_makes_the_tree_that_is_written_down(case):
    assert explain_tree(plan_case(case, until=case.file)) == case.expected, case.reason


def test_every_rule_has_eight_pairs_and_two_where_it_does_not_fire():
    for rule in RULES:
        own = [case for case in CASES if case.file == rule.__name__]
        assert len(own) >= 8, rule.__name__
        assert sum(case.reason.startswith("does not") for case in own) >= 2, rule.__name__


@pytest.mark.parametrize("where", ["WITH", "hint"])
def test_headers_are_a_metadata_column_in_sql(where):
    """As an option they would be a column that the table does not declare."""
    own = ", 'includeHeaders' = 'true'" if where == "WITH" else ""
    statement = f"CREATE TABLE t (id INT) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json'{own})"
    hints = {} if where == "WITH" else {"includeHeaders": "TRUE"}
    case = PlannerCase(file="f", number=1, reason="", statement=statement, expected="", hints=hints)
    with pytest.raises(OptionError, match="'includeHeaders': in SQL that is a column METADATA FROM 'headers'"):
        plan_case(case, until="f")


@pytest.mark.parametrize("connector", ["kafka", "upsert-kafka"])
def test_options_of_the_sink_do_not_reach_the_reader(connector):
    """As in Flink, where a table is a source and a sink; a name that its sink does not have is refused."""
    own = "'SINK.parallelism' = '2', 'sink.partitioner' = 'round-robin', 'sink.transactional-id-prefix' = 'x'"
    format_name = (
        "'value.format' = 'json', 'key.format' = 'json'" if connector == "upsert-kafka" else "'format' = 'json'"
    )
    options = f"'connector' = '{connector}', 'topic' = 't', 'kafka.bootstrap.servers' = 'b:1', {format_name}, {own}"
    statement = f"CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ({options})"
    case = PlannerCase(file="f", number=1, reason="", statement=statement, expected="")
    assert plan_case(case, until=RULES[-1].__name__)
    with pytest.raises(OptionError, match="'sink.x'"):
        plan_case(replace(case, statement=statement.replace("sink.partitioner", "sink.x")), until="")
