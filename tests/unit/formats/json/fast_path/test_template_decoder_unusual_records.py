"""Records of odd shapes cost what they cost themselves: those that follow are decoded as if they had not been there."""

from __future__ import annotations

import itertools
import json

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from datasources.formats.debezium.debezium_json import DebeziumDecoder
from datasources.formats.json.fast_path import template_decoder as fast_path
from datasources.formats.json.fast_path.template_decoder import TemplateDecoder
from datasources.formats.schema_text.ddl import parse_schema
from datasources.formats.values.usage_cache import UsageCache
from datasources.grammar.zones import find_zone
from tests.support.work import calls_of

DDL = "user BIGINT, item STRUCT<name: STRING, n: INT>, price DOUBLE, ts TIMESTAMP"
GOOD = {"user": 1, "item": {"name": "abc", "n": 7}, "price": 1.5, "ts": "2026-01-01T00:00:00.123Z"}
ORDERS = list(itertools.permutations(GOOD))[1:9]
UNUSUAL = {
    "many members": [{"user": 1, **{f"x{k}_{j}": j for j in range(50)}, **GOOD} for k in range(8)],
    "very many members": [{**{f"x{k}_{j}": j for j in range(300)}, **GOOD} for k in range(8)],
    "other orders": [{name: GOOD[name] for name in order} for order in ORDERS],
    "another way to write times": [{**GOOD, "ts": 5}] * 8,
    "nothing known": [{f"y{k}_{j}": j for j in range(9)} for k in range(8)],
}


def texts_of(documents):
    return pa.array([json.dumps(document) for document in documents], pa.string())


def good(rows):
    return texts_of({**GOOD, "user": row} for row in range(rows))


@pytest.fixture
def characters(monkeypatch):
    """Characters of patterns, once for each text that is matched against one: what matching costs."""
    spent = []

    def counted(texts, pattern):
        spent.append(len(pattern) * len(texts))
        return match(texts, pattern=pattern)

    match = pc.match_substring_regex
    monkeypatch.setattr(fast_path.pc, "match_substring_regex", counted)
    return spent


def fast_decoder(ddl=DDL):
    schema = parse_schema(ddl)
    return TemplateDecoder(schema, schema.names, find_zone("UTC"))


def cost_of(decoder, characters, texts):
    characters.clear()
    calls = calls_of(lambda: decoder.decode(texts))
    return calls, sum(characters)


@pytest.mark.parametrize("kind", UNUSUAL)
@pytest.mark.parametrize("rows", [40, 1_000])
@pytest.mark.parametrize("is_first", [True, False])
def test_unusual_records_do_not_slow_down_later_ones(kind, rows, is_first, characters):
    fresh, decoder = fast_decoder(), fast_decoder()
    for _ in range(3):
        fresh.decode(good(rows))
    usual = cost_of(fresh, characters, good(rows))
    if not is_first:
        decoder.decode(good(rows))
    decoder.decode(texts_of(UNUSUAL[kind]))
    for unusual in UNUSUAL[kind]:
        decoder.decode(texts_of([unusual]))
    for _ in range(4):
        decoder.decode(good(rows))
    calls, spent = cost_of(decoder, characters, good(rows))
    assert decoder.decode(good(rows)).is_done.all()
    assert calls <= 2 * usual[0]
    assert spent <= 2 * usual[1]


def test_unusual_records_among_good_ones_leave_no_trace(characters):
    fresh, decoder = fast_decoder(), fast_decoder()
    for _ in range(3):
        fresh.decode(good(100))
    usual = cost_of(fresh, characters, good(100))
    for unusual in itertools.chain.from_iterable(UNUSUAL.values()):
        decoder.decode(pa.concat_arrays([texts_of([unusual]), good(100), texts_of([unusual])]))
    for _ in range(70):
        decoder.decode(good(100))
    assert len(decoder._templates) == 1
    calls, spent = cost_of(decoder, characters, good(100))
    assert calls <= 2 * usual[0]
    assert spent <= 2 * usual[1]


def test_more_kinds_of_documents_than_templates_are_decoded_and_bounded():
    decoder = fast_decoder("a INT, b INT, c INT, d INT")
    kinds = [dict.fromkeys(order, 1) for order in itertools.permutations("abcd")]
    for _ in range(20):
        part = decoder.decode(texts_of(kinds * 5))
        assert part is not None
    assert len(decoder._templates) <= 8


def test_documents_that_cannot_be_learned_are_not_looked_at_in_each_batch():
    decoder = fast_decoder("a INT NOT NULL, b STRUCT<x: INT>")
    texts = texts_of([{"b": {"x": 1}}] * 200)
    assert [decoder.decode(texts) for _ in range(100)] == [None] * 100


def event(schema, row):
    return json.dumps({"schema": schema, "payload": {"before": None, "after": {"a": row}, "op": "c"}}).encode()


def test_unusual_schema_envelopes_leave_no_trace():
    decoder = DebeziumDecoder(parse_schema("a INT"), time_zone="UTC", has_schema=True)
    schema = {"fields": ["x" * 100] * 20}
    usual = pa.array([event(schema, row) for row in range(100)], pa.binary())
    fresh = DebeziumDecoder(parse_schema("a INT"), time_zone="UTC", has_schema=True)
    for _ in range(3):
        fresh.decode(usual)
    cost = calls_of(lambda: fresh.decode(usual))
    for unusual in range(20):
        decoder.decode(pa.array([event({"odd": unusual}, 1)], pa.binary()))
    for _ in range(30):
        assert decoder.decode(usual).columns.column(0).to_pylist() == list(range(100))
    assert calls_of(lambda: decoder.decode(usual)) <= 2 * cost


def test_what_is_needed_least_goes_first():
    ranked = UsageCache(2)
    for item, records in (("a", 1), ("b", 5), ("c", 3)):
        ranked.add(item)
        ranked.count(item, records)
    ranked.end_batch()
    assert list(ranked) == ["b", "c"]
    ranked.replace("c", "d")
    ranked.count("d", 100)
    assert list(ranked) == ["d", "b"]
    for _ in range(30):
        ranked.end_batch()
    assert not len(ranked)
