"""Nested documents through the C library: the slow path's rows, for most documents that a producer writes."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasources.formats.json.native_path.native_decoder import NativeDecoder
from datasources.formats.schema_text.ddl import parse_schema
from tests.support.format_documents import SCHEMAS, batch_of, hostile_documents, written_alike
from tests.support.native_documents import check, decoded, narrowed, random_ddl, share_decoded

ZONES = ("UTC", "Europe/Berlin", None)
DDL = (
    "id INT NOT NULL, p STRUCT<x: INT NOT NULL, y: STRING, z: STRUCT<u: DATE, v: ARRAY<STRING>>>, "
    "items ARRAY<STRUCT<q: DECIMAL(8, 2), r: MAP<STRING, ARRAY<INT>>>>, m MAP<STRING, STRUCT<t: TIMESTAMP>>, "
    "g ARRAY<ARRAY<BOOLEAN>>, e STRUCT<>"
)
SCHEMA = parse_schema(DDL)
FULL = (
    r'{"id":1,"p":{"x":2,"y":"k\"é\ud83d\ude00","z":{"u":"2024-02-29","v":["a",null,"\n"]},"w":[{"i":[]}]},'
    r'"items":[{"q":12.345,"r":{"a":[1,null],"b":null,"a":[],"\u0063":[3]}},null,{}],'
    r'"m":{"":{"t":"2026-01-01T00:00:00.5+01:00"},"k":null},"g":[[true,false],[],null,[null]],"e":{"i":1},"o":{"q":1}}'
).encode()
WAYS_TO_BE_NESTED = [
    FULL,
    b'{"id":2}',
    b'{"id":3,"p":null,"items":null,"m":null,"g":null,"e":null}',
    b' { "id" : 4 , "items" : [ ] , "m" : { } , "g" : [ [ ] , [ ] ] , "p" : { "x" : 1 , "z" : { } } , "e" : { } } ',
    b'{"g":[[true]],"m":{"k":{}},"items":[{"r":{"k":[9]}},{"q":"-0.005"}],"id":5}',
]
LEFT = [
    b'{"id":1,"p":{"x":1,"x":1}}',
    b'{"id":1,"p":{"y":"k"}}',
    b'{"id":1,"p":{"x":null}}',
    b'{"id":1,"p":[1]}',
    b'{"id":1,"items":{"q":1}}',
    b'{"id":1,"items":[{"q":1},{"q":1,"q":1}]}',
    b'{"id":1,"items":[{"q":1},{"r":{"k":[1,2,"x"]}}]}',
    b'{"id":1,"items":[{"q":1}',
    b'{"id":1,"items":[{"q":1},]}',
    b'{"id":1,"items":[,]}',
    b'{"id":1,"m":{"k":{"t":1},}}',
    b'{"id":1,"m":{"k":1}}',
    b'{"id":1,"m":{k:{}}}',
    b'{"id":1,"m":{"\\ud83d":{}}}',
    b'{"id":1,"m":{"k" {}}}',
    b'{"id":1,"g":[[true],[1]]}',
    b'{"id":1,"g":[[true]}',
    b'{"id":1,"e":[]}',
    b'{"g":[[true]],"m":{"k":{}},"items":[{"r":{"k":[9]}}]}',
    FULL + b"}",
    FULL + b"\0",
    b"\xef\xbb\xbf" + FULL,
]


def test_nested_documents_are_decoded_here(library):
    assert check(library, SCHEMA, WAYS_TO_BE_NESTED).all()


@pytest.mark.parametrize("document", LEFT)
def test_nothing_of_a_document_that_is_left_stays(library, document):
    done = check(library, SCHEMA, [FULL, document, FULL, document, document, FULL])
    assert done.tolist() == [True, False, True, False, False, True]


def test_every_beginning_of_a_nested_document_is_left(library):
    for document in WAYS_TO_BE_NESTED:
        beginnings = [document[:length] for length in range(len(document.rstrip()))]
        assert not check(library, SCHEMA, beginnings).any()
        mixed = [each for beginning in beginnings for each in (FULL, beginning)]
        assert check(library, SCHEMA, mixed).tolist() == [True, False] * len(beginnings)
        for beginning in beginnings[:: 1 + len(beginnings) // 40]:  # one by one, each at the end of its buffer
            check(library, SCHEMA, [beginning])


@given(st.lists(st.tuples(st.integers(0, 600), st.sampled_from(list(b'0"\\{}[],:.-enu \x00\xc3'))), max_size=4))
def test_a_damaged_nested_document_is_left_or_means_the_same(library, changes):
    damaged = []
    for document in WAYS_TO_BE_NESTED:
        changed = bytearray(document)
        for at, byte in changes:
            changed[at % len(changed)] = byte
        damaged += [bytes(changed), document]
    assert check(library, SCHEMA, damaged)[1::2].all()


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), zone=st.sampled_from(ZONES))
def test_documents_of_any_schema_and_niceness(library, seed, zone):
    rng = random.Random(seed)
    ddl = random_ddl(rng)
    check(library, parse_schema(ddl), batch_of(rng, ddl, 60), zone)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_fewer_wanted_columns_change_no_value(library, seed):
    """Halves of surrogate pairs are left where the text is wanted; that they are valid does not depend on it."""
    rng = random.Random(seed)
    ddl = random_ddl(rng)
    schema, batch = parse_schema(ddl), batch_of(rng, ddl, 40)
    done = check(library, schema, batch)
    for wanted in (narrowed(rng, list(schema)), narrowed(rng, list(schema), 0.2), []):
        assert check(library, schema, batch, wanted=wanted)[done].all()


def test_most_documents_of_producers_are_decoded_here(library):
    shares = []
    for seed in range(60):
        rng = random.Random(seed)
        ddl = random_ddl(rng)
        shares.append(share_decoded(library, parse_schema(ddl), written_alike(rng, ddl, 60)))
    assert np.mean(shares) > 0.75
    assert np.median(shares) > 0.8


@pytest.mark.parametrize("ddl", SCHEMAS)
def test_most_documents_of_each_known_schema_are_decoded_here(library, ddl):
    documents = written_alike(random.Random(ddl), ddl, 300)
    assert share_decoded(library, parse_schema(ddl), documents) > 0.6
    check(library, parse_schema(ddl), [*documents, *hostile_documents()])


@pytest.mark.parametrize("sizes", [(5_000,), (0, 1, 63, 64, 65, 300, 7), (1,) * 500, (1_000,) * 5])
def test_arrays_of_any_size_fit(library, sizes):
    schema = parse_schema("a ARRAY<INT>, m MAP<STRING, ARRAY<STRING>>, s ARRAY<ARRAY<STRUCT<x: TINYINT, y: STRING>>>")
    documents = []
    for size in sizes:
        numbers = ",".join(map(str, range(size)))
        entries = ",".join(f'"k{n}":["{n}","\\u00e9{n}"]' for n in range(size))
        structs = ",".join(f'[{{"x":{n % 100}}},{{"y":"{n}"}},null]' for n in range(size))
        documents += [
            f'{{"a":[{numbers}],"m":{{{entries}}},"s":[{structs}]}}'.encode(),
            f'{{"a":[{numbers}],"m":{{{entries}}},"s":[{structs},1]}}'.encode(),
        ]
    assert check(library, schema, documents).tolist() == [True, False] * len(sizes)


def test_the_smallest_documents_with_the_most_parts_fit(library):
    schema = parse_schema("a ARRAY<INT>, b ARRAY<ARRAY<INT>>, m MAP<STRING, INT>")
    documents = [b'{"a":[' + b",".join([b"1"] * n) + b"]}" for n in range(200)]
    documents += [b'{"b":[' + b",".join([b"[]"] * n) + b"]}" for n in range(200)]
    documents += [b'{"m":{' + b",".join([b'"":1'] * n) + b"}}" for n in range(200)]
    assert check(library, schema, documents).all()
    assert check(library, schema, [documents[199]]).all()
    assert check(library, schema, [documents[399]]).all()


@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("name", ["a", "z"])
def test_documents_are_left_from_a_depth_on(library, opened, closed, name):
    inner = "INT"
    for _ in range(80):
        inner = f"ARRAY<{inner}>" if opened == "[" else f"STRUCT<a: {inner}>"
    schema = parse_schema(f"a {inner}")
    depths = [1, 10, 62, 63, 64, 80, 81, 200, 100_000]
    documents = [f'{{"{name}":{opened * depth}{"null"}{closed * depth}}}'.encode() for depth in depths]
    expected = [depth < 64 for depth in depths]
    assert decoded(library, schema, documents, "UTC", list(schema)).is_done.tolist() == expected
    assert check(library, schema, documents[:4]).sum() == 4


NUMBER_TYPES = ("FLOAT", "DOUBLE", "DECIMAL(38, 18)", "DECIMAL(10, 2)", "DECIMAL(38, 0)", "DECIMAL(3, 3)")


@given(
    digits=st.text("0123456789", min_size=1, max_size=20),
    scale=st.integers(0, 20),
    exponent=st.none() | st.integers(-30, 30),
    is_negative=st.booleans(),
)
def test_numbers_are_rounded_once(library, digits, scale, exponent, is_negative):
    whole = digits[: len(digits) - scale] or "0"
    fraction = digits[len(digits) - scale :] if scale else ""
    text = "-" * is_negative + (whole.lstrip("0") or "0") + ("." + fraction if fraction else "")
    text += "" if exponent is None else f"e{exponent}"
    for number_type in NUMBER_TYPES:
        check(library, parse_schema(f"x {number_type}"), [f'{{"x":{text}}}'.encode()])


@given(
    mantissa=st.integers(2**23, 2**24 - 1),
    power=st.integers(-60, 60),
    shift=st.integers(-2, 2),
    bits=st.sampled_from([24, 53]),
)
def test_texts_around_the_middle_of_two_floats(library, mantissa, power, shift, bits):
    """The texts of the middle itself, and of its neighbours at the last digit that is written."""
    if bits == 53:
        mantissa = mantissa << 29 | mantissa
    with localcontext() as context:
        context.prec = 200
        middle = (Decimal(2 * mantissa + 1)) * Decimal(2) ** (power - bits)
        context.prec = 19
        rounded = +middle
        unit = Decimal(1).scaleb(rounded.adjusted() - 18)
        text = f"{rounded + shift * unit:f}"
    check(library, parse_schema("f FLOAT, d DOUBLE"), [f'{{"f":{text},"d":{text}}}'.encode()])


NEAR_MIDDLES = (
    "16777217", "16777219", "33554434", "9007199254740993", "9007199254740995", "1.00000017881393432617", "1.000000178813934326", "8388608.5",
    "8388609.5", "0.1", "3.4028235e38", "3.4028236e38", "340282350000000000000000000000000000000", "1e38", "7.1e27", "1e-27", "1.17549435e-38", "1e22", "1e23",
    "18446744073709551615", "9999999999999999999", "12345678901234567e10", "0.30000000000000004", "4503599627370496.5", "4503599627370497.5",
    "1475066090589988852e-25", "1328307789424591293e-24", "4385682269990286547e-25", "9223372036854775807", "9223372036854775808", "1152921504606846976e27", "9999999999999999999e27", "9999999999999999999e-27",
)  # fmt: skip


def test_numbers_that_are_nearly_halfway(library):
    """Among them quotients of which 65 bits look like the middle, and are larger."""
    schema = parse_schema("f FLOAT, d DOUBLE")
    documents = [f'{{"f":{sign}{n},"d":{sign}{n}}}'.encode() for n in NEAR_MIDDLES for sign in ("", "-")]
    assert check(library, schema, documents).mean() > 0.6
    assert check(library, parse_schema("d DOUBLE"), documents).mean() > 0.7


DECIMALS = (
    "0", "-0", "0.0", "-0.00", "1", "-1", "99999999.99", "99999999.994", "99999999.995", "-99999999.995", "100000000", "0.005", "0.004", "-0.005", "0.995",
    "12345678901234567890", "12345678901234567890.123456789012345678", "99999999999999999999.999999999999999999", "99999999999999999999.9999999999999999995",
    "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "100000000000000000000000000000000000000", "0.000000000000000000",
    "99999999999999999999999999999999999999.4", "99999999999999999999999999999999999999.5", "0.99999999999999999999999999999999999999", "0.000000000000000000049",
    "1234567890123456789.5", "9999999999999999999", "10000000000000000000", "1.50", "1e2", "1E2", "1.", ".5", "01", "+1", "1,000.5", "1_0", "0.4" + "9" * 600,
)  # fmt: skip


@pytest.mark.parametrize(
    "precision_scale", ["38, 18", "38, 0", "38, 38", "10, 2", "1, 0", "2, 2", "19, 0", "20, 19", "18, 9"]
)
def test_decimals_at_their_limits(library, precision_scale):
    schema = parse_schema(f"x DECIMAL({precision_scale})")
    documents = [f'{{"x":{value}}}'.encode() for text in DECIMALS for value in (text, f'"{text}"')]
    assert check(library, schema, documents).sum() >= 12


@given(st.text("AQIDz09+/= -_\n\\/", max_size=13))
def test_base64(library, text):
    check(library, parse_schema("b BINARY"), [f'{{"b":"{text}"}}'.encode(), b'{"b":"AQI="}'])


@given(
    st.lists(
        st.sampled_from(["\\", "u", "d83d", "de00", "0041", "00e9", "n", '"', "x", "é", "😀", "\\u", "/", "abcdefgh"])
    )
)
def test_strings_of_any_escapes(library, parts):
    text = "".join(parts)
    schema = parse_schema("s STRING, m MAP<STRING, STRING>, l ARRAY<STRING>")
    document = f'{{"s":"{text}","m":{{"{text}":"{text}"}},"l":["{text}"],"z":"{text}","y":{{"{text}":0}}}}'
    check(library, schema, [document.encode(), document.encode()])


def test_every_character_may_be_escaped(library):
    schema = parse_schema("s STRING, m MAP<STRING, STRING>")
    codes = [*range(0, 0xD800, 7), *range(0xE000, 0x10000, 7), 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF]
    texts = [f"\\u{code:04x}" for code in codes]
    texts += [f"\\u{high:04X}\\u{low:04x}" for high in range(0xD800, 0xDC00, 9) for low in (0xDC00, 0xDE01, 0xDFFF)]
    documents = [f'{{"s":"{text}","m":{{"{text}":"a{text}b"}}}}'.encode() for text in texts]
    assert check(library, schema, documents).all()


@pytest.mark.parametrize("second", ["\\ud800", "\\udbff", "\\ue000", "\\u0041", "\\n", "x", ""])
def test_halves_of_pairs_are_left(library, second):
    schema = parse_schema("s STRING, m MAP<STRING, INT>")
    documents = [f'{{"s":"\\ud83d{second}"}}'.encode(), f'{{"m":{{"\\ude00{second}":1}}}}'.encode()]
    assert not check(library, schema, documents).any()
    assert check(library, schema, [b'{"z":"\\ud83d","y":{"\\ude00":["\\ude00\\ud83d"]}}']).all()


@pytest.mark.parametrize("size", [999, 1_000, 1_001, 50_000, 50_001])
def test_long_names_are_left(library, size):
    schema = parse_schema("m MAP<STRING, INT>")
    name = "n" * size
    documents = [f'{{"m":{{"{name}":1}}}}'.encode(), f'{{"z":{{"{name}":1}}}}'.encode()]
    assert check(library, schema, documents).tolist() == [size <= 1_000] * 2


def test_names_are_equal_byte_by_byte(library):
    schema = parse_schema("s STRUCT<abc: INT, `aBd`: INT, `é`: INT, ``: INT>")
    names = ["abc", "ABC", "abd", "aBd", "é", "É", "e\u0301", "", " abc", "ab", "abcd"]
    documents = [f'{{"s":{{"{name}":1}}}}'.encode() for name in names]
    assert check(library, schema, documents).all()
    (column,) = decoded(library, schema, documents, None, list(schema)).columns
    assert [names[row] for row, value in enumerate(column.to_pylist()) if 1 in value.values()] == [
        "abc",
        "aBd",
        "é",
        "",
    ]


def test_a_slice_of_nested_texts(library):
    texts = pa.array(["{", None, *[each.decode() for each in WAYS_TO_BE_NESTED], "{"])
    whole = NativeDecoder(library, SCHEMA, list(SCHEMA), None).decode(texts)
    for start in range(len(texts)):
        found = NativeDecoder(library, SCHEMA, list(SCHEMA), None).decode(texts[start:])
        assert [c.to_pylist() for c in found.columns] == [c.to_pylist()[start:] for c in whole.columns]
