from __future__ import annotations

import pytest

from datasources.formats.json.text.json_scanner import Fraction, Malformed, Members, Whole, scan
from datasources.formats.json.text.json_syntax import parse
from datasources.formats.json.text.json_text import as_text, java_double


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.1, "1.1"), (0.0, "0.0"), (-0.0, "-0.0"), (100.0, "100.0"), (9999999.999, "9999999.999"), (1e7, "1.0E7"), (12345678.9, "1.23456789E7"), (0.001, "0.001"),
        (0.00123, "0.00123"), (0.0001, "1.0E-4"), (9.99e-4, "9.99E-4"), (1e22, "1.0E22"), (5e-324, "4.9E-324"), (2e23, "2.0E23"), (-1.5e300, "-1.5E300"),
        (1.7976931348623157e308, "1.7976931348623157E308"), (123456.7, "123456.7"), (4.5e15, "4.5E15"),
    ],
)  # fmt: skip
def test_a_double_is_written_as_java_writes_it(value, text):
    assert java_double(value) == text


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ('[1, 2.50,"é"]', '[1,2.5,"é"]'),
        ('{"b" : 1.50, "c":[ ], "b":{}}', '{"b":1.5,"c":[],"b":{}}'),
        ("[NaN, -INF, 1E400, -0, -0.0, true, null]", '["NaN","-Infinity","Infinity",0,-0.0,true,null]'),
        (
            '["\\ud83d\\ude00","\\/","\\u0001","\\b\\f\\n\\r\\t\\"\\\\","\\u007f"]',
            '["\\uD83D\\uDE00","/","\\u0001","\\b\\f\\n\\r\\t\\"\\\\","\x7f"]',
        ),
        ('["\\ud83d"]', '["\\uD83D"]'),
    ],
)
def test_a_structure_is_written_again_without_blanks(document, text):
    assert as_text(parse(document)) == text


def test_numbers_keep_their_texts_and_objects_their_order_and_duplicates():
    tree = parse('{"b":1.10,"a":-0,"b":null}')
    assert isinstance(tree, Members)
    assert tree == [("b", "1.10"), ("a", "-0"), ("b", None)]
    assert [type(value) for _, value in tree[:2]] == [Fraction, Whole]


@pytest.mark.parametrize(
    "document",
    ["{}", "[]", " [ 1 , 2 ] ", '{"a":{"b":[true,false,null,{}]},"c":"x\\u00e9\\ud83d\\ude00\\n"}', "-0.5e+10", '"\\ud83d"', '["\\ud83d\\ud83d\\ude00"]', "[[],[[]],{}]", "NaN", '{"":""}'],
)  # fmt: skip
def test_both_parsers_read_plain_json_alike(document):
    assert scan(document) == parse(document)


@pytest.mark.parametrize(
    ("document", "tree"),
    [
        ("{'a':'x\"y'}", [("a", 'x"y')]),
        ('["\\\'"]', ["'"]),
        ("[+INF,-INF,+Infinity]", ["+INF", "-INF", "+Infinity"]),
        ("'\\ud83d\\ude00'", "😀"),
    ],
)
def test_what_jackson_takes_beyond_json_is_taken(document, tree):
    assert parse(document) == tree


@pytest.mark.parametrize(
    "document",
    ["", " ", "{", "[1", "[1,]", "{,}", "{a:1}", '{"a"}', '{"a":}', '{"a":1 "b":2}', "[1 2]", "01", "+1", "1.", ".5", "1e", "-", "INF", "nan", "tru", "truex", '"\t"', '"\\x"', '"\\u12g4"', '"x', "'x\"",
     "[1}", "{]", "/**/1", "1//", "\ufeff1", "[1]x", "\u00a01", "0x1", "--1", "1_0", "-Infinit"],
)  # fmt: skip
def test_everything_else_is_malformed(document):
    with pytest.raises(Malformed):
        parse(document)


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("[" * 1000 + "]" * 1000, "[" * 1001 + "]" * 1001),
        ("9" * 1000, "9" * 1001),
        ("-0." + "9" * 1000, "-0." + "9" * 1001),
        ("1e" + "9" * 999, "1e" + "9" * 1000),
        ('{"' + "x" * 50_000 + '":1}', '{"' + "x" * 50_001 + '":1}'),
    ],
)
def test_the_limits_are_jacksons(good, bad):
    assert parse(good) is not None
    with pytest.raises(Malformed):
        parse(bad)
