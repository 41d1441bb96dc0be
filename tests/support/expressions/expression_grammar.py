"""Hypothesis strategies for well-typed expressions from the closed list, on the columns of `expression_samples`.

nullif and BETWEEN get plain columns only: Spark computes a compound first operand of theirs ahead of the whole
row, also where a condition around it would have hidden its error.
"""

from __future__ import annotations

from hypothesis import strategies as st

_LEAVES = {
    "int": ["i", "k", "3", "-7", "st.n", "length(str)", "second(ntz)", "CAST(h AS INT)"],
    "long": ["b", "c", "5L", "unix_millis(ts)", "CAST(ts AS BIGINT)", "TRY_CAST(num AS BIGINT)", "CAST(i AS BIGINT)"],
    "double": ["f", "g", "1.5D", "CAST(d AS DOUBLE)", "2e0"],
    "decimal": [f"CAST({inner} AS DECIMAL(18,4))" for inner in ("d", "e", "0.25", "i", "b", "d * e", "i + d")],
    "bool": ["fl", "fm", "TRUE", "i IS NULL", "str LIKE 'a%'", "str RLIKE '[0-9]'", "i IN (1, 7, NULL)"],
    "ts": [
        "ts",
        "ts2",
        "st.t",
        "TIMESTAMP '2026-03-08 07:00:00Z'",
        "timestamp_micros(b)",
        "TRY_CAST(concat(s2, 'Z') AS TIMESTAMP)",
    ],
    "ntz": ["ntz", "ntz2", "st.in.t", "TIMESTAMP_NTZ '2026-03-08 02:30:00'", "TRY_CAST(s AS TIMESTAMP_NTZ)"],
    "interval": [
        "INTERVAL '5' SECOND",
        "INTERVAL '1' MINUTE",
        "INTERVAL '01:30' MINUTE TO SECOND",
        "INTERVAL -3 HOURS",
    ],
    "text": [
        "str",
        "s",
        "num",
        "'a-b'",
        "get_json_object(j, '$.zz')",
        "CAST(i AS STRING)",
        "CAST(ntz AS STRING)",
        "trim(num)",
    ],
}
_FORMS = {
    "int": ["({int} + {int})", "({int} - {int})", "({int} * {int})", "({int} % {int})", "-({int})", "abs({int})", "CAST({double} AS INT)", "CAST({long} AS INT)", "mod({int}, {int})"],
    "long": ["({long} + {int})", "({int} - {long})", "({long} * {long})", "({long} div {int})", "({long} % {long})", "unix_millis({ts})", "unix_seconds({ts})", "CAST({decimal} AS BIGINT)", "CAST({double} AS BIGINT)"],
    "double": ["({double} + {long})", "({double} * {double})", "({double} / {double})", "({long} / {int})", "-({double})", "CAST({decimal} AS DOUBLE)"],
    "decimal": ["CAST({int} + {decimal} AS DECIMAL(18,4))", "CAST({decimal} - {decimal} AS DECIMAL(18,4))", "CAST({decimal} * {decimal} AS DECIMAL(18,4))", "-({decimal})"],
    "bool": ["({bool} AND {bool})", "isnan({double})", "({bool} OR {bool})", "(NOT {bool})", "({int} < {long})", "({double} >= {double})", "({ts} <= {ts})", "({ntz} = {ntz})", "({text} > {text})", "({decimal} <> {decimal})", "({int} <=> {int})", "({ts} IS NOT NULL)", "(i BETWEEN {int} AND {long})", "({double} > {long})", "({text} IN ('x', 'abc'))", "({ntz} - {ntz} > {interval})"],
    "ts": ["({ts} - {interval})", "({interval} + {ts})", "timestamp_millis({long})", "timestamp_seconds({int})", "date_trunc('SECOND', {ts})", "date_trunc('MILLISECOND', {ts})"],
    "ntz": ["({ntz} + {interval})", "({ntz} - {int} * {interval})", "({ntz} - INTERVAL '1' DAY)", "nullif(ntz, {ntz})", "CAST(CAST({ntz} AS DATE) AS TIMESTAMP_NTZ)"],
    "interval": ["({interval} + {interval})", "({interval} * 2)", "(-{interval})"],
    "text": ["substring({text}, 2, 3)", "concat({text}, {text})", "({text} || 'z')", "split_part({text}, '-', 2)", "regexp_extract({text}, '([a-z]+)([0-9]*)', 2)", "CAST({long} AS STRING)", "CAST({ntz} AS STRING)", "rtrim({text})"],
}  # fmt: skip
_CONDITIONAL = [
    "CASE WHEN {bool} THEN {X} ELSE {X} END",
    "CASE WHEN {bool} THEN {X} WHEN {bool} THEN {X} END",
    "IF({bool}, {X}, NULL)",
    "coalesce({X}, {X})",
    "greatest({X}, {X})",
    "least({X}, {X}, {X})",
    "CASE {int} WHEN 7 THEN {X} ELSE {X} END",
]
_NO_EXTREMES = ("bool", "interval")


def _filled(form: str, depth: int) -> st.SearchStrategy[str]:
    start, brace, rest = form.partition("{")
    if not brace:
        return st.just(form)
    name, _, tail = rest.partition("}")
    return st.builds(lambda inside, after: start + inside + after, of_type(name, depth - 1), _filled(tail, depth))


def of_type(name: str, depth: int) -> st.SearchStrategy[str]:
    """Return a strategy for expressions of a type, at most so many forms deep."""
    leaves = st.sampled_from(_LEAVES[name])
    if depth <= 0:
        return leaves
    conditionals = [
        form.replace("{X}", "{" + name + "}") for form in _CONDITIONAL if name not in _NO_EXTREMES or form[0] in "CI"
    ]
    forms = st.one_of(st.sampled_from(_FORMS[name]), st.sampled_from(conditionals))
    return st.one_of(forms.flatmap(lambda form: _filled(form, depth)), leaves)


def expressions(depth: int = 3) -> st.SearchStrategy[str]:
    """Return a strategy for expressions of any type that a record can have."""
    return st.sampled_from(sorted(set(_LEAVES) - {"interval"})).flatmap(lambda name: of_type(name, depth))
