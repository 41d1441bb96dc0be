"""Joins with tables as of a time: what the operator is asked for, what becomes of the text, what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from datasources.errors import QueryError, SqlError
from datasources.grammar.source_text import SqlText
from datasources.sql.query import rewrite_query
from datasources.sql.query.block.relation import QueryPlan
from datasources.sql.query.block.temporal_request import TemporalBuild, TemporalRequest
from tests.golden.sql.query.golden_query import TABLES, VIEWS
from tests.support.sql.sql_relations import FakeRelations

RATES = "rates FOR SYSTEM_TIME AS OF b.ts AS r"
JOIN = f"bid b JOIN {RATES} ON b.k = r.k"
RATES_NAMES = {"k": "__tidemark_r_k_1", "rate": "rate", "since": "since"}


def planned(text: str, *, is_exact: bool = False, is_streaming: bool = True) -> tuple[QueryPlan, FakeRelations]:
    relations = FakeRelations(tables=TABLES, views=VIEWS, is_exact=is_exact, is_streaming=is_streaming)
    return rewrite_query(SqlText(text), relations), relations


def request_of(text: str, *, is_streaming: bool = True) -> TemporalRequest:
    _plan, relations = planned(text, is_streaming=is_streaming)
    (request,) = relations.temporals
    return request


def builds_of(text: str) -> list[TemporalBuild]:
    return [replace(build, use=build.use, shown="") for build in request_of(text).builds]


def test_the_operator_is_asked_for_keys_time_names_and_what_else_must_hold():
    text = f"SELECT b.item, r.rate FROM bid AS b LEFT JOIN {RATES} ON (b.k = r.k AND r.rate > price) AND item <> 'x'"
    request = request_of(text)
    (build,) = request.builds
    assert (request.probe.name, build.use.name, request.read_once) == ("bid", "rates", {"bid", "rates"})
    assert (build.keys, build.columns) == ((("k", "k"),), RATES_NAMES)
    assert (build.as_of, build.is_left) == ("ts", True)
    assert build.condition == "(`rate` > `price`) AND (`item` <> 'x')"
    assert build.shown == text.partition("AS b ")[2]


@pytest.mark.parametrize("time", ["t.pt", "PT", "PROCTIME()"])
def test_processing_time_is_a_proctime_attribute_or_its_function(time):
    (build,) = builds_of(f"SELECT v, rate FROM tick t JOIN rates FOR SYSTEM_TIME AS OF {time} r ON t.v = r.k")
    assert (build.as_of, build.load_time, build.idle_timeout_ms) == (None, None, None)


def test_a_nested_time_attribute_is_the_column_that_carries_it():
    (build,) = builds_of("SELECT n.k FROM nested n JOIN rates FOR SYSTEM_TIME AS OF n.e.time AS r ON n.k = r.k")
    assert build.as_of == "e_time"


def test_the_key_is_the_primary_key_and_further_equalities_are_conditions():
    (build,) = builds_of(
        "SELECT label FROM bid b JOIN items FOR SYSTEM_TIME AS OF PROCTIME() i "
        "ON i.item = b.item AND b.k = i.shop AND i.label = b.item"
    )
    assert build.keys == (("item", "item"), ("k", "shop"))
    assert build.condition == "`label` = `item`"


def test_several_tables_are_joined_in_order_and_a_later_one_by_columns_of_an_earlier_one():
    first, second = builds_of(
        f"SELECT b.k FROM {JOIN} LEFT JOIN items FOR SYSTEM_TIME AS OF PROCTIME() i ON i.shop = r.k AND i.item = b.item"
    )
    assert (first.as_of, second.as_of, second.is_left) == ("ts", None, True)
    assert second.keys == (("item", "item"), ("__tidemark_r_k_1", "shop"))
    assert second.columns == {"item": "__tidemark_i_item_2", "shop": "shop", "label": "label"}


SNAPSHOT = "SELECT v, rate FROM tick t JOIN LATERAL {} AS r ON t.v = r.k"
LOADINGS = [
    ("SNAPSHOT(input => TABLE rates)", None, None),
    ("TABLE(SNAPSHOT(TABLE rates))", None, None),
    ("SNAPSHOT(TABLE rates, load_completed_condition => 'compile_time')", None, None),
    ("SNAPSHOT(TABLE rates, load_completed_idle_timeout => INTERVAL '10' SECOND)", None, 10_000),
    ("SNAPSHOT(TABLE rates, 'user_time', 1700000000000)", "1700000000000", None),
    (
        (
            "TABLE(SNAPSHOT(input => TABLE rates, load_completed_condition => 'user_time', "
            "load_completed_time => CAST(TIMESTAMP '2026-01-01 00:00:10' AS TIMESTAMP_LTZ(3))))"
        ),
        "CAST(TIMESTAMP '2026-01-01 00:00:10' AS TIMESTAMP_LTZ)",
        None,
    ),
    (
        "SNAPSHOT(TABLE rates, 'USER_TIME', TO_TIMESTAMP_LTZ(5, 3), INTERVAL '1' MINUTE)",
        "timestamp_millis(5)",
        60_000,
    ),
]


@pytest.mark.parametrize(("call", "load_time", "idle_timeout_ms"), LOADINGS, ids=[each[0] for each in LOADINGS])
def test_a_lateral_snapshot_joins_in_processing_time_and_defines_loaded(call, load_time, idle_timeout_ms):
    (build,) = builds_of(SNAPSHOT.format(call))
    assert (build.as_of, build.load_time, build.idle_timeout_ms) == (None, load_time, idle_timeout_ms)
    assert build.keys == (("v", "k"),)


TEXTS = [
    (f"SELECT b.item, r.rate FROM {JOIN}", "SELECT b.item, b.rate FROM t_join_1 b"),
    (
        f"SELECT r.k, R.k + 1 AS n, rate FROM {JOIN} WHERE r.k > 1 GROUP BY r.k, rate HAVING MAX(r.since) IS NULL",
        (
            "SELECT b.`__tidemark_r_k_1` AS `k`, b.`__tidemark_r_k_1` + 1 AS n, rate FROM t_join_1 b "
            "WHERE b.`__tidemark_r_k_1` > 1 GROUP BY b.`__tidemark_r_k_1`, rate HAVING MAX(b.since) IS NULL"
        ),
    ),
    (
        "SELECT * FROM bid JOIN rates FOR SYSTEM_TIME AS OF bid.ts ON bid.k = rates.k",
        (
            "SELECT bid.`ts`, bid.`k`, bid.`item`, bid.`price`, bid.`__tidemark_rates_k_1` AS `k`, bid.`rate`, "
            "bid.`since` FROM t_join_1 AS bid"
        ),
    ),
    (
        f"SELECT b.item, r.* FROM {JOIN}",
        "SELECT b.item, b.`__tidemark_r_k_1` AS `k`, b.`rate`, b.`since` FROM t_join_1 b",
    ),
    (
        f"SELECT b.k FROM {JOIN} JOIN names n ON n.k = r.k WHERE n.name <> 'r.k' ORDER BY k",
        "SELECT b.k FROM t_join_1 b JOIN names n ON n.k = b.`__tidemark_r_k_1` WHERE n.name <> 'r.k' ORDER BY k",
    ),
    (
        f"SELECT q.* FROM (SELECT r.rate AS x FROM {JOIN}) AS q",
        "SELECT q.* FROM (SELECT b.rate AS x FROM t_join_1 b) AS q",
    ),
    (
        f"SELECT b.ts + INTERVAL '1' SECOND AS ts, EXTRACT(SECOND FROM b.ts) AS k FROM {JOIN}",
        "SELECT b.ts + INTERVAL '1' SECOND AS ts, EXTRACT(SECOND FROM b.ts) AS k FROM t_join_1 b",
    ),
    (
        "SELECT t.v, rate FROM tick t JOIN LATERAL TABLE(SNAPSHOT(input => TABLE rates)) AS r ON t.v = r.k WHERE rate > 1",
        "SELECT t.v, rate FROM t_join_1 t WHERE rate > 1",
    ),
]


@pytest.mark.parametrize(("text", "rewritten"), TEXTS, ids=[text for text, _ in TEXTS])
def test_the_joins_become_one_relation_whose_columns_the_text_names(text, rewritten):
    plan, _relations = planned(text)
    assert plan.text == rewritten


FILTERS = [
    ("WHERE b.price > 1 AND item = 'x' AND r.rate > 2 AND since IS NULL", "(price > 1) AND (item = 'x')"),
    ("WHERE b.price > r.rate", None),
    ("WHERE upper(item) = 'X' OR price > 1", None),
    ("WHERE price > 1 OR rate > 1", None),
    ("JOIN names n ON n.k = b.k WHERE price > 1", None),
    ("", None),
]


@pytest.mark.parametrize(("rest", "pushed"), FILTERS, ids=[rest for rest, _ in FILTERS])
def test_conditions_on_the_left_table_are_pushed_to_its_source_and_stay(rest, pushed):
    plan, relations = planned(f"SELECT b.item FROM {JOIN} {rest}")
    assert relations.temporals[0].probe.filter == pushed
    assert plan.text.count("WHERE") == rest.count("WHERE")


def test_a_batch_is_joined_in_the_same_way():
    assert request_of(f"SELECT b.k FROM {JOIN}", is_streaming=False).builds[0].as_of == "ts"


def test_a_window_over_it_gets_time_attribute_and_row_watermark():
    text = (
        f"SELECT window_end, SUM(x) AS s FROM TABLE(TUMBLE((SELECT ts, r.rate AS x FROM {JOIN}), DESCRIPTOR(ts), "
        "INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
    )
    plan, relations = planned(text, is_exact=True)
    assert relations.temporals[0].probe.needs_row_watermark
    assert plan.steps[0].text == "SELECT ts, b.rate AS x, __tidemark_stamp FROM t_join_1 b"


def test_the_builds_time_is_no_time_attribute_of_the_result():
    text = f"SELECT * FROM TABLE(TUMBLE((SELECT r.since FROM {JOIN}), DESCRIPTOR(since), INTERVAL '10' SECOND))"
    with pytest.raises(SqlError, match="'since' is no time attribute"):
        planned(text)


def test_versions_of_sparks_tables_are_sparks():
    plan, relations = planned("SELECT b.k FROM bid b JOIN names VERSION AS OF 1 AS n ON n.k = b.k")
    assert plan.text == "SELECT b.k FROM t_bid b JOIN names VERSION AS OF 1 AS n ON n.k = b.k"
    assert relations.temporals == []


def test_a_table_that_is_read_elsewhere_too_is_no_table_of_the_join_alone():
    text = f"SELECT b.k FROM {JOIN} UNION ALL SELECT k FROM rates"
    assert request_of(text).read_once == {"bid"}


def refused(from_: str, reason: str, select: str = "b.k") -> tuple[str, str]:
    return f"SELECT {select} FROM {from_}", reason


REFUSED = [
    refused(f"bid b RIGHT JOIN {RATES} ON b.k = r.k", "cannot be joined by RIGHT JOIN. Use JOIN or LEFT JOIN"),
    refused(f"bid b FULL OUTER JOIN {RATES} ON b.k = r.k", "cannot be joined by FULL OUTER JOIN"),
    refused(f"bid b LEFT SEMI JOIN {RATES} ON b.k = r.k", "cannot be joined by LEFT SEMI JOIN"),
    refused(f"bid b CROSS JOIN {RATES}", "cannot be joined by CROSS JOIN"),
    refused(f"bid b, {RATES} WHERE b.k = r.k", "is the right side of a JOIN. Write FROM orders AS o JOIN rates FOR"),
    refused(f"bid b JOIN {RATES} USING (k)", "has no ON. Write FROM"),
    refused(f"bid b JOIN {RATES}", "has no ON. Write FROM"),
    refused(f"bid b JOIN {RATES} ON b.k > r.k", "ON has no equality for r.k, the primary key of 'rates'"),
    refused(f"bid b JOIN {RATES} ON b.k = r.k OR b.k = 1", "ON has no equality for r.k"),
    refused(f"bid b JOIN {RATES} ON b.k = r.k + 1", "ON has no equality for r.k"),
    refused(f"bid b JOIN {RATES} ON r.k = r.k", "ON has no equality for r.k"),
    refused("bid b JOIN items FOR SYSTEM_TIME AS OF PROCTIME() r ON b.item = r.item", "no equality for r.shop"),
    refused(f"bid b JOIN {RATES} ON b.k = r.k AND EXISTS (SELECT 1)", "ON of a join as of a time holds no query"),
    refused("bid b JOIN keyless FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k", "table 'keyless' has no PRIMARY KEY"),
    refused(
        "bid b JOIN items FOR SYSTEM_TIME AS OF b.ts r ON b.item = r.item AND b.k = r.shop",
        "table 'items' has no time attribute, so it is unknown since when its rows were valid. Declare one",
    ),
    refused("changing b JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k", r"the rows of table 'changing' change"),
    refused(
        "bid b JOIN rates FOR SYSTEM_TIME AS OF b.price r ON b.k = r.k", "'b.price' is no time attribute of the left"
    ),
    refused(
        "bid b JOIN rates FOR SYSTEM_TIME AS OF r.since r ON b.k = r.k", "'r.since' is no time attribute of the left"
    ),
    refused("bid b JOIN rates FOR SYSTEM_TIME AS OF (b.ts + b.ts) r ON b.k = r.k", "Its time attributes: b.ts."),
    refused(
        "bid b JOIN rates FOR SYSTEM_TIME AS OF TIMESTAMP '2026-01-01 00:00:00' r ON b.k = r.k", "no time attribute"
    ),
    refused("items b JOIN rates FOR SYSTEM_TIME AS OF b.ts r ON b.shop = r.k", "Declare one in CREATE TABLE items"),
    refused("bid b JOIN rates VERSION AS OF 1 r ON b.k = r.k", "is joined FOR SYSTEM_TIME AS OF a time"),
    refused("bid b JOIN (SELECT * FROM rates) FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k", "and this is none. Join the"),
    refused("bid b JOIN big FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k", "and 'big' is none. Join the table itself"),
    refused("bid b JOIN names FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k", "and 'names' is none. Join the table itself"),
    refused("big b JOIN rates FOR SYSTEM_TIME AS OF PROCTIME() AS r ON b.k = r.k", "and a query takes no part in that"),
    refused(
        "(SELECT k FROM bid) b JOIN rates FOR SYSTEM_TIME AS OF b.ts AS r ON b.k = r.k", "Select one in that query"
    ),
    refused(
        "(SELECT k, FLOOR(ts TO DAY) AS d FROM bid GROUP BY k, FLOOR(ts TO DAY)) b JOIN rates FOR SYSTEM_TIME AS OF "
        "b.d AS r ON b.k = r.k",
        "Its rows are up to a DAY behind the watermark. Join as of the end: CEIL(... TO DAY).",
    ),
    refused(
        "LATERAL (SELECT * FROM bid) b JOIN rates FOR SYSTEM_TIME AS OF b.ts AS r ON b.k = r.k", "and this is none"
    ),
    refused(f"names b JOIN {RATES} ON b.k = r.k", "and 'names' is none"),
    refused(f"bid b JOIN names n ON n.k = b.k JOIN {RATES} ON b.k = r.k", "directly behind the first table of FROM"),
    refused(f"(bid b JOIN {RATES} ON b.k = r.k)", "is the right side of a JOIN"),
    refused("bid b JOIN rates FOR SYSTEM_TIME AS OF b.ts AS b ON b.k = k", "two tables of the join are called 'b'"),
    refused("bid FOR SYSTEM_TIME AS OF PROCTIME() AS b", "a table as of a time is the right side of a JOIN"),
    refused("bid b JOIN listed FOR SYSTEM_TIME AS OF b.ts r ON b.k = r.k", "this is no processing time"),
    refused(
        "listed b JOIN rates FOR SYSTEM_TIME AS OF PROCTIME() r ON b.k = r.k", "Spark's connector 'parquet' takes no"
    ),
    refused(JOIN, "'k' may be a column of each. Write b.k or r.k", "k"),
    refused(JOIN, "'k' may be a column of each", "SUM(k) AS s"),
    refused(JOIN, "a star of a temporal join takes no EXCEPT", "* EXCEPT (rate)"),
    refused(JOIN, "OVER of a stream reads one table", "SUM(r.rate) OVER (PARTITION BY b.k ORDER BY b.ts) AS s"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[text for text, _ in REFUSED])
def test_unsupported_joins_are_rejected_with_a_hint(text, reason):
    with pytest.raises(SqlError) as caught:
        planned(text)
    assert reason in str(caught.value)
    assert "line 1, column" in str(caught.value)


SNAPSHOTS_REFUSED = [
    ("SNAPSHOT(TABLE rates, state_ttl => INTERVAL '1' DAY)", "state_ttl is not known here"),
    ("SNAPSHOT(TABLE rates, 'on_time', 5)", "load_completed_condition is 'compile_time' or 'user_time'"),
    ("SNAPSHOT(TABLE rates, 'user_time')", "'user_time' needs load_completed_time"),
    ("SNAPSHOT(TABLE rates, load_completed_time => 5)", "load_completed_time needs load_completed_condition"),
    ("SNAPSHOT(TABLE rates, 'compile_time', 5)", "load_completed_time needs load_completed_condition"),
    ("SNAPSHOT(TABLE items, 'user_time', 5)", "is reached by a watermark, and table 'items' has none"),
    ("SNAPSHOT(TABLE rates, load_completed_idle_timeout => INTERVAL '0' SECOND)", "must be more than 0"),
    ("SNAPSHOT(TABLE rates, what => 5)", "SNAPSHOT has no argument WHAT"),
    ("SNAPSHOT(TABLE rates, 'compile_time', load_completed_condition => 'compile_time')", "is given twice"),
    ("SNAPSHOT(TABLE rates PARTITION BY k)", "SNAPSHOT takes no PARTITION BY"),
    ("SNAPSHOT(load_completed_condition => 'compile_time')", "SNAPSHOT does not name what it reads"),
    ("SNAPSHOT(TABLE (SELECT * FROM rates))", "a table of the catalog, and this is none"),
]


@pytest.mark.parametrize(("call", "reason"), SNAPSHOTS_REFUSED, ids=[call for call, _ in SNAPSHOTS_REFUSED])
def test_a_snapshot_that_cannot_be_is_refused(call, reason):
    with pytest.raises(SqlError, match=reason):
        planned(SNAPSHOT.format(call))


def test_a_batch_has_no_history_of_a_table_that_is_read_as_it_is():
    text = "SELECT b.k FROM bid b JOIN copied FOR SYSTEM_TIME AS OF {} r ON b.k = r.k"
    assert request_of(text.format("b.ts")).builds[0].as_of == "ts"
    with pytest.raises(
        SqlError, match=r"a batch reads table 'copied' .* without history. SET 'execution.runtime-mode'"
    ):
        planned(text.format("b.ts"), is_streaming=False)
    assert request_of(text.format("PROCTIME()"), is_streaming=False).builds[0].as_of is None


class Refusing(FakeRelations):
    def temporal_join(self, request: TemporalRequest):
        raise QueryError(f"{request.probe.name} is not joined today.")


def test_errors_of_the_operator_name_the_span():
    with pytest.raises(SqlError, match=r"line 1, column 23: bid is not joined today\.\n.*\n *\^{5}"):
        rewrite_query(SqlText(f"SELECT b.k FROM {JOIN}"), Refusing(tables=TABLES, views=VIEWS))
