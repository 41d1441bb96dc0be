"""The closed list as docs/expressions.md shows it: every row is accepted or refused as it says."""

from __future__ import annotations

import pyarrow as pa
import pytest

from datasources.errors import ExpressionError
from datasources.expressions.compiler import binder, casts
from datasources.expressions.compiler.compile import compile_expression
from datasources.expressions.compiler.expression_text import SourceText
from datasources.expressions.compiler.functions import FUNCTIONS, NON_DETERMINISTIC
from datasources.expressions.compiler.syntax import parse
from tests.support.project import ROOT

DOCS = ROOT / "docs" / "expressions.md"
TIMESTAMP, NTZ = pa.timestamp("us", "UTC"), pa.timestamp("us")
SCHEMA = pa.schema(
    [
        ("ts", TIMESTAMP),
        ("ntz", NTZ),
        ("day", pa.date32()),
        ("i", pa.int32()),
        ("b", pa.int64()),
        ("d", pa.decimal128(11, 3)),
        ("f", pa.float64()),
        ("r", pa.float32()),
        ("s", pa.string()),
        ("j", pa.string()),
        ("flag", pa.bool_()),
        ("a", pa.struct([("b", pa.struct([("c", TIMESTAMP)]))])),
    ]
)


def table(heading):
    section = DOCS.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [
        [cell.strip().replace("\0", "|") for cell in line.replace("\\|", "\0").strip("|").split("|")] for line in lines
    ]


def example(cell):
    return cell.removeprefix("`").removesuffix("`")


@pytest.mark.parametrize("row", table("Forms") + table("Functions"), ids=lambda row: row[0])
def test_every_documented_example_is_compiled(row):
    compile_expression(example(row[1]), SCHEMA, time_zone="UTC", ansi=True)


@pytest.mark.parametrize("row", table("What is refused, and why"), ids=lambda row: row[0])
def test_every_documented_refusal_is_refused(row):
    with pytest.raises(ExpressionError):
        compile_expression(example(row[0]), SCHEMA, time_zone="UTC", ansi=True)


def test_the_table_of_functions_is_the_closed_list():
    assert {example(row[0]) for row in table("Functions")} == set(FUNCTIONS)
    assert all(row[1].startswith(f"{row[0][:-1]}(") for row in table("Functions"))
    assert not set(FUNCTIONS) & NON_DETERMINISTIC


def test_the_examples_of_forms_meet_every_rule_of_the_binder():
    trees = [parse(SourceText(example(row[1]), "docs")) for row in table("Forms")]
    used = {type(node) for tree in trees for node in tree.walk()}
    assert set(binder._RULES) <= used


def test_the_table_of_casts_is_the_closed_list():
    documented = {(row[0], row[1]) for row in table("Casts")}
    names = {"integral": "whole number", "decimal": "DECIMAL"}
    assert documented == {(names.get(source, source), names.get(target, target)) for source, target in casts._RULES}


TYPES = {
    "ts": TIMESTAMP,
    "ntz": NTZ,
    "a.b.c": TIMESTAMP,
    "ts - INTERVAL '5' SECOND": TIMESTAMP,
    "ntz + INTERVAL '1' DAY": NTZ,
    "ntz - ntz": pa.duration("us"),
    "CASE WHEN flag THEN ts END": TIMESTAMP,
    "unix_millis(ts)": pa.int64(),
    "i + 1": pa.int32(),
    "i + b": pa.int64(),
    "i + 1L": pa.int64(),
    "i / 2": pa.float64(),
    "i div 2": pa.int64(),
    "i % 2": pa.int32(),
    "r + r": pa.float32(),
    "f * 2": pa.float64(),
    "d + i": pa.decimal128(14, 3),
    "d + 1": pa.decimal128(12, 3),
    "d * 2": pa.decimal128(13, 3),
    "d * 1.5": pa.decimal128(14, 4),
    "2147483647": pa.int32(),
    "-2147483648": pa.int32(),
    "2147483648": pa.int64(),
    "-9223372036854775808": pa.int64(),
    "9223372036854775808": pa.decimal128(19, 0),
    "0.05": pa.decimal128(2, 2),
    "1e3": pa.float64(),
    "1.5F": pa.float32(),
    "coalesce(i, b)": pa.int64(),
    "length(s)": pa.int32(),
    "s || 'x'": pa.string(),
    "i <=> NULL": pa.bool_(),
    "to_timestamp(s)": TIMESTAMP,
    "to_timestamp_ntz(s)": NTZ,
    "CAST(ts AS DATE)": pa.date32(),
    "CAST(i AS DECIMAL)": pa.decimal128(10, 0),
    "CAST(i AS NUMERIC( 5 , 2 ))": pa.decimal128(5, 2),
    "cast(i as long)": pa.int64(),
    "i::REAL": pa.float32(),
    "TRY_CAST(CAST(s AS STRING) AS TIMESTAMP_LTZ)": TIMESTAMP,
}


@pytest.mark.parametrize(("text", "expected"), TYPES.items(), ids=TYPES)
def test_an_expression_has_the_type_that_spark_gives_it(text, expected):
    assert compile_expression(text, SCHEMA, time_zone="UTC", ansi=True).result_type == expected


FREE = (
    "ts - INTERVAL '23' HOUR",
    "ntz - INTERVAL '1' DAY",
    "date_trunc('SECOND', ts)",
    "unix_millis(ts)",
    "hour(ntz)",
    "timestamp_millis(b)",
    "TRY_CAST(s AS TIMESTAMP)",
    "flag AND ts IS NULL",
    "b = 1",
)
ZONED = (
    "ts - INTERVAL '24' HOUR",
    "ts - i * INTERVAL '1' SECOND",
    "date_trunc('DAY', ts)",
    "hour(ts)",
    "CAST(ts AS DATE)",
    "CAST(ntz AS TIMESTAMP)",
    "ts - a.b.c",
    "TIMESTAMP '2026-01-01 00:00:00'",
)
MODAL = (
    "i + 1",
    "-b",
    "b * 1000",
    "i / 2",
    "i % 2",
    "CAST(b AS INT)",
    "CAST(s AS INT)",
    "to_timestamp(s)",
    "CAST(d AS DECIMAL(5,1))",
    "abs(i)",
)


@pytest.mark.parametrize("text", FREE)
def test_what_depends_on_no_setting_is_compiled_without_them(text):
    compile_expression(text, SCHEMA, time_zone=None, ansi=None)


@pytest.mark.parametrize("text", ZONED)
@pytest.mark.parametrize("zone", [None, "America/New_York"])
def test_what_depends_on_local_time_is_refused_without_a_fixed_offset(text, zone):
    named = zone or "does not know"
    with pytest.raises(ExpressionError, match=named):
        compile_expression(text, SCHEMA, time_zone=zone, ansi=True)


@pytest.mark.parametrize("text", ZONED)
@pytest.mark.parametrize("zone", ["UTC", "Z", "GMT", "Etc/UTC", "+05:30", "-08:00", "UTC+3", "Etc/GMT-2"])
def test_what_depends_on_local_time_is_compiled_with_a_fixed_offset(text, zone):
    compile_expression(text, SCHEMA, time_zone=zone, ansi=True)


@pytest.mark.parametrize("text", MODAL)
def test_what_depends_on_ansi_mode_is_refused_without_it(text):
    with pytest.raises(ExpressionError, match=r"spark\.sql\.ansi\.enabled"):
        compile_expression(text, SCHEMA, time_zone="UTC", ansi=None)


@pytest.mark.parametrize("function", sorted(NON_DETERMINISTIC))
def test_a_function_that_looks_beyond_the_record_is_refused_with_that_reason(function):
    with pytest.raises(ExpressionError, match="does not depend on the record alone"):
        compile_expression(f"{function}()", SCHEMA, time_zone="UTC", ansi=True)
