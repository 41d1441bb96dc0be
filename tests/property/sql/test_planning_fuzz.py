"""Whatever a CREATE TABLE says: a plan of its scan, or an error of ours. Never another exception."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from datasources.errors import InternalError, TidemarkError
from datasources.sql.planner.explain import explain_tree
from datasources.sql.planner.rules import RULES
from tests.support.project import ROOT
from tests.support.sql.sql_mutants import mutants
from tests.support.sql.sql_planning import NotATable, PlannerCase, cases_of, plan_case

GOLDEN = ROOT / "tests" / "golden" / "sql" / "planner"
CASES = [case for file in sorted(GOLDEN.glob("*.sql")) for case in cases_of(file)]
LAST = RULES[-1].__name__


def outcome_of(case: PlannerCase) -> str:
    try:
        return "plan" if explain_tree(plan_case(case, until=LAST)) else "nothing"
    except InternalError:
        raise
    except TidemarkError:
        return "error"
    except NotATable:
        return "another statement"


@pytest.mark.parametrize("count", [1_500, pytest.param(50_000, marks=pytest.mark.full)])
def test_mutants_of_tables_are_planned_or_refused(count):
    found: Counter[str] = Counter()
    texts = mutants([case.statement for case in CASES], seed=11, count=count)
    for number, text in enumerate(texts):
        found[outcome_of(replace(CASES[number % len(CASES)], statement=text))] += 1
    assert found["error"] > count // 4
    assert found["plan"] > count // 20
    assert not found["nothing"]
