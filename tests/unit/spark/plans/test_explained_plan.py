"""What is read in the text of Spark's analysed plans. The texts are Spark 4.3's, with the middle of the trees left out."""

from __future__ import annotations

import pytest

from datasources.spark.plans.explained_plan import (
    analyzed_text,
    endless_grouping,
    gives_windows,
    lossy_join,
    parse_plan,
    physical_text,
)

WINDOWS = """~SubqueryAlias {name}
{indent}+- ~Aggregate [window_start#1, window_end#2-T0ms, user#3L], [window_start#1, window_end#2-T0ms, user#3L]
{indent}   +- ~SubqueryAlias __tidemark_1
{indent}      +- View (`__tidemark_1`, [user#3L, window_start#1, window_end#2-T0ms])
{indent}         +- ~StreamingRelationV2 tidemark-scripted, [watermark.as=ts - INTERVAL '5' SECOND], [user#3L]"""
ORDERS = """~SubqueryAlias a
{indent}+- ~StreamingRelationV2 tidemark-scripted, [schema=`user` BIGINT], [user#5L, ts#6-T5000ms]"""
LEFT, RIGHT = "   :  ", "      "


def join(line: str, left: str, right: str) -> str:
    return f"~Project [user#3L]\n+- {line}\n   :- {left.format(name='a', indent=LEFT)}\n   +- {right.format(name='b', indent=RIGHT)}"


def expand(*projections: str, output: str = "user#3L, window_end#9-T0ms, spark_grouping_id#8L") -> str:
    listed = ", ".join(f"[{each}]" for each in projections)
    return f"~Aggregate [user#3L], [user#3L]\n+- ~Expand [{listed}], [{output}]\n   +- ~StreamingRelationV2 source, [user#3L]"


@pytest.mark.parametrize(
    ("line", "left", "right", "is_lossy"),
    [
        ("~Join LeftSemi, (user#5L = user#3L)", ORDERS, WINDOWS, True),
        ("~Join LeftSemi, (user#5L = user#3L)", ORDERS, ORDERS, False),
        ("Join LeftSemi, (user#5L = user#3L)", ORDERS.replace("~", ""), ORDERS, False),
        ("~Join Inner, (window_end#2-T0ms = window_start#1)", WINDOWS, WINDOWS, True),
        ("~Join Inner, (window_start#1 <=> window_end#2-T0ms)", WINDOWS, WINDOWS, True),
        (
            "~Join Inner, ((user#5L = user#3L) AND (window_end#2-T0ms = cast(day#1 as timestamp)))",
            WINDOWS,
            WINDOWS,
            True,
        ),
        ("~Join Inner, (window_end#2-T0ms = window_end#7-T0ms)", WINDOWS, WINDOWS, False),
        ("~Join Inner, ((user#5L = user#3L) AND (window_end#2-T0ms = window_end#7-T0ms))", WINDOWS, WINDOWS, False),
        ("~Join Inner, (window_end#2-T0ms + INTERVAL '00' SECOND = window_start#1)", WINDOWS, WINDOWS, False),
        ("~Join Inner, (ts#6-T5000ms >= window_start#1)", ORDERS, WINDOWS, False),
        ("~Join Inner, ((user#5L = user#3L) AND (ts#6-T5000ms = 2026-01-01 00:00:00))", ORDERS, WINDOWS, False),
        ("~Join Inner", WINDOWS, WINDOWS, False),
    ],
)
def test_joins_in_which_spark_would_lose_rows_are_seen(line: str, left: str, right: str, *, is_lossy: bool):
    assert (lossy_join(parse_plan(join(line, left, right))) is not None) == is_lossy


def test_the_reason_names_both_times_without_their_numbers():
    plan = parse_plan(join("~Join Inner, (window_end#2-T0ms = cast(day#1 as timestamp))", WINDOWS, WINDOWS))
    assert str(lossy_join(plan)).startswith("two streams are joined by window_end = cast(day as timestamp), and only")


@pytest.mark.parametrize(
    ("projections", "is_endless"),
    [
        (("user#3L, window_end#2-T0ms, 0", "null, window_end#2-T0ms, 1"), False),
        (("user#3L, window_end#2-T0ms, 0", "user#3L, null, 2"), True),
        (("named_struct(a, [1, 2], b, {3, 4}), window_end#2-T0ms, 0", "null, null, 3"), True),
    ],
)
def test_a_grouping_set_without_event_time_is_seen(projections: tuple[str, ...], *, is_endless: bool):
    reason = endless_grouping(parse_plan(expand(*projections)))
    assert (reason is not None) == is_endless
    assert reason is None or reason.startswith("a grouping set leaves out window_end,")


def test_a_grouping_of_a_batch_is_none_of_a_stream():
    assert endless_grouping(parse_plan(expand("user#3L, null, 2").replace("~", ""))) is None


def test_windows_are_known_through_what_only_chooses_rows():
    windows = WINDOWS.format(name="a", indent="")
    assert gives_windows(parse_plan(windows))
    assert gives_windows(parse_plan("~Filter (n#1L > 3)\n+- " + WINDOWS.format(name="a", indent="   ")))
    assert not gives_windows(parse_plan(windows.replace("~", "")))
    assert not gives_windows(parse_plan(ORDERS.format(indent="")))


def test_the_plan_of_a_subquery_in_an_expression_is_no_child():
    shown = "~Filter exists#4 [user#3L]\n:  +- ~Aggregate [user#5L], [user#5L]\n:     +- Range (0, 1)\n+- ~StreamingRelationV2 source"
    plan = parse_plan(shown)
    assert [child.kind for child in plan.children] == ["StreamingRelationV2"]
    assert [node.kind for node in plan.nodes()] == ["Filter", "StreamingRelationV2"]


def test_a_text_in_a_plan_may_have_lines():
    plan = parse_plan("~Filter (note#1 = a\n note\n)\n+- ~StreamingRelationV2 source")
    assert [node.kind for node in plan.nodes()] == ["Filter", "StreamingRelationV2"]
    lines = "~Join Inner, ((note#1 = a\n b) AND (window_end#2-T0ms = window_start#1))"
    assert lossy_join(parse_plan(join(lines, WINDOWS, WINDOWS))) is not None


def test_the_parts_of_what_explain_shows_are_found():
    shown = (
        "== Parsed Logical Plan ==\nX\n\n== Analyzed Logical Plan ==\nuser: bigint\n~Project [user#3L]\n+- ~Range\n\n"
        "== Optimized Logical Plan ==\nY\n\n== Physical Plan ==\nZ\n+- W\n"
    )
    assert analyzed_text(shown) == "~Project [user#3L]\n+- ~Range"
    assert physical_text(shown) == "Z\n+- W\n"
