"""Columns and functions in the text of an expression, and columns replaced."""

from __future__ import annotations

import pytest

from datasources.errors import SqlError
from datasources.grammar.source_text import Span
from datasources.sql.text.expression_names import ExpressionSyntax, names_of
from datasources.sql.text.substitute import in_parentheses, references, splice, substitute


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("a + B", {"a", "b"}),
        ("a.b.c.d.e.f", {"a"}),
        ("`a b`.`c` || `d``e`", {"a b", "d`e"}),
        ("m[k].z", {"m", "k"}),
        ("f(x).y", {"x"}),
        ("transform(xs, x -> x.y + a)", {"xs", "a"}),
        ("aggregate(xs, 0, (acc, x) -> acc + x + b)", {"xs", "b"}),
        ("make_interval(days => d)", {"d"}),
        ("named_struct('a', b).a", {"b"}),
        ("struct(a AS x, b)", {"a", "b"}),
        ("CAST(a AS TIMESTAMP(3)) + INTERVAL '5' SECOND", {"a"}),
        ("a :: INT", {"a"}),
        ("EXTRACT(HOUR FROM ts)", {"ts"}),
        ("CEIL(ts TO HOUR)", {"ts"}),
        ("timestampadd(SECOND, n, ts)", {"n", "ts"}),
        ("date_add(d, 1)", {"d"}),
        ("trim(BOTH 'x' FROM a)", {"a"}),
        ("CASE WHEN flag THEN ts END", {"flag", "ts"}),
        ("a IN (1, b) AND c IS NOT NULL", {"a", "b", "c"}),
        ("timestamp - date", {"timestamp", "date"}),
        ("current_timestamp", {"current_timestamp"}),
        ("comment || show || set", {"comment", "show", "set"}),
        ("show + desc", {"show", "desc"}),
        ("count(*)", set()),
        ("DATE '2020-01-01'", set()),
        ("'a' || \"b\"", set()),
        ("a -- b\n + c /* d */", {"a", "c"}),
        ("'é😀' || a", {"a"}),
    ],
)
def test_columns_are_found_among_other_words(expression, names):
    assert references(expression) == names


@pytest.mark.parametrize(
    ("expression", "replaced"),
    [
        ("a + b", "(x + 1) + b"),
        ("A.f(a) + `a`.c", "A.f((x + 1)) + (x + 1).c"),
        ("a(a, 'a', s.a)", "a((x + 1), 'a', s.a)"),
        ("transform(xs, a -> a)", "transform(xs, a -> a)"),
        ("'😀' || a -- a\n + /* a */ a", "'😀' || (x + 1) -- a\n + /* a */ (x + 1)"),
        ("f(a => a)", "f(a => (x + 1))"),
        ("b", "b"),
    ],
)
def test_columns_are_replaced_and_all_else_stays(expression, replaced):
    assert substitute(expression, {"A": "x + 1"}) == replaced


def test_a_replacement_is_refused_where_a_lambda_variable_would_hide_its_column():
    assert substitute("transform(xs, v -> v + d)", {"d": "x * 2"}) == "transform(xs, v -> v + (x * 2))"
    with pytest.raises(SqlError) as caught:
        substitute("transform(xs, X -> X + d)", {"d": "x * 2"})
    assert caught.value.message.splitlines() == [
        "expression, line 1, column 24: this is computed from the column 'x', which a lambda variable of that name hides. Give the variable another name.",
        "  transform(xs, X -> X + d)",
        "                         ^",
    ]


def test_replacing_is_not_repeated():
    assert substitute("a + b", {"a": "b", "b": "a"}) == "(b) + (a)"


def test_a_remark_at_the_end_does_not_swallow_the_parenthesis():
    assert in_parentheses("a -- b") == "(a -- b\n)"
    assert in_parentheses("a -- b\n+ c") == "(a -- b\n+ c)"


def test_places_are_replaced_from_left_to_right():
    assert splice("abcdef", {Span(4, 5): "E", Span(0, 1): "", Span(2, 2): "-"}) == "b-cdEf"


def test_functions_are_found_with_their_spans():
    text = "f( ) + G(h(1), 'i()') + j.k(x) - CURRENT_DATE"
    calls = [(call.name, text[call.span.start : call.span.end], call.has_arguments) for call in names_of(text).calls]
    assert calls == [("f", "f( )", False), ("g", "G(h(1), 'i()')", True), ("h", "h(1)", True), ("k", "k(x)", True)]


def test_the_whole_path_has_a_span():
    (reference,) = names_of(" x . y.`z z`  ").references
    assert (reference.path, reference.head, reference.span) == (("x", "y", "z z"), Span(1, 2), Span(1, 12))


@pytest.mark.parametrize(
    ("text", "reason", "span"),
    [
        ("", "the expression is empty", Span(0, 1)),
        ("  ", "the expression is empty", Span(0, 2)),
        ("a +", "the expression does not parse", Span(2, 3)),
        ("a )", "the expression does not parse", Span(2, 3)),
        ("a,\nb", "the expression does not parse", Span(1, 2)),
        ("a AS b", "the expression does not parse", Span(2, 4)),
        ("a + b.*", "this is not one expression", Span(0, 7)),
        ("a; b", "this is not one expression", Span(0, 4)),
        ("(SELECT 1)", "a query cannot stand in an expression of a table", Span(0, 10)),
        ("x IN (SELECT 1)", "a query cannot stand in an expression of a table", Span(0, 15)),
        ("'abc", "the expression does not parse", Span(3, 4)),
    ],
)
def test_malformed_expressions_are_rejected_with_their_span(text, reason, span):
    with pytest.raises(ExpressionSyntax) as caught:
        names_of(text)
    assert (caught.value.reason, caught.value.span) == (reason, span)


def test_an_expression_that_is_nested_too_deeply_is_refused():
    with pytest.raises(ExpressionSyntax, match="the expression is nested too deeply"):
        names_of("(" * 5_000 + "a" + ")" * 5_000)


def test_replacing_in_what_is_no_expression_is_an_error():
    with pytest.raises(SqlError) as caught:
        substitute("a + ) b", {"a": "b"})
    assert caught.value.message == "expression, line 1, column 5: the expression does not parse.\n  a + ) b\n      ^"
