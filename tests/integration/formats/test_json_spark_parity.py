"""Spark's own `from_json` in FAILFAST mode and its own DDL parser are the oracles of the formats."""

from __future__ import annotations

import json
import random
import re
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from datasources.errors import SchemaError
from datasources.formats.json.json_format import JsonDecoder
from datasources.formats.schema_text.ddl import parse_schema, schema_ddl
from datasources.formats.schema_text.ddl_types import field_name_text, type_text
from tests.support.decoded_values import as_numbers
from tests.support.format_documents import SCHEMAS, document_of, hostile_documents, written_alike
from tests.support.forms import full
from tests.support.native_documents import random_ddl

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ZONE: Final = "Europe/Berlin"
REFUSED_HERE_ONLY: Final = (
    "the end of the document was expected",
    "a time without a date",
    "as seconds since 1970 it is out of range",
    "the zone in it is unknown",  # the zones of SystemV, and of a newer or older tz database
)
RAW_CONTROL: Final = "holds a character that must be escaped"
_NUMBER: Final = re.compile(r"-?[0-9]+\.[0-9]+(?:E-?[0-9]+)?")


def by_spark(spark: Any, ddl: str, documents: list[bytes]) -> tuple[list[bool], pa.StructArray]:
    """For each document whether Spark fails on it in FAILFAST mode, and the row that it makes of it otherwise."""
    from pyspark.sql import functions as F  # noqa: N812 - the customary name

    # What FAILFAST throws, PERMISSIVE reports in this column: one query instead of one for each document.
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt", "timeZone": ZONE}
    data = pa.table({"i": pa.array(range(len(documents)), pa.int32()), "v": pa.array(documents, pa.binary())})
    parsed = F.from_json(F.col("v").cast("string"), f"{ddl}, _corrupt STRING", options).alias("r")
    rows = spark.createDataFrame(data).select("i", parsed).orderBy("i").toArrow()["r"].combine_chunks()
    fails = pc.or_(rows.is_null(), rows.field(rows.type.num_fields - 1).is_valid())
    return fails.to_pylist(), rows


def same(ours: object, sparks: object) -> bool:
    if isinstance(ours, float) and isinstance(sparks, float):
        return ours.hex() == sparks.hex() or (ours != ours and sparks != sparks)  # noqa: PLR0124 - NaN
    if isinstance(ours, str) and isinstance(sparks, str) and ours != sparks:
        # Java before 19 writes some doubles with a digit too many.
        doubles = zip(_NUMBER.findall(ours), _NUMBER.findall(sparks), strict=False)
        return _NUMBER.sub("", ours) == _NUMBER.sub("", sparks) and all(float(a) == float(b) for a, b in doubles)
    if isinstance(ours, (list, tuple)) and isinstance(sparks, (list, tuple)):
        return len(ours) == len(sparks) and all(map(same, ours, sparks))
    if isinstance(ours, dict) and isinstance(sparks, dict):
        return same(list(ours.items()), list(sparks.items()))
    return ours == sparks


def assert_parity(spark: Any, ddl: str, documents: list[bytes]) -> int:
    """Compare and return the number of documents that both accept."""
    fails, rows = by_spark(spark, ddl, documents)
    decoded = JsonDecoder(parse_schema(ddl), time_zone=ZONE).decode(pa.array(documents, pa.binary()))
    wrong: list[object] = []
    for index, document in enumerate(documents):
        reason = decoded.reasons.get(index)
        # Spark overlooks control characters in the text of a BINARY, and only there.
        known_words = (*REFUSED_HERE_ONLY, RAW_CONTROL) if "BINARY" in ddl else REFUSED_HERE_ONLY
        is_known = reason is not None and any(words in reason for words in known_words)
        if (reason is not None) != fails[index] and not is_known:
            wrong.append((document[:200], "Spark fails" if fails[index] else "Spark accepts", reason))
    accepted = [i for i, fail in enumerate(fails) if not fail and i not in decoded.reasons]
    for at, field in enumerate(parse_schema(ddl)):
        ours = as_numbers(decoded.columns.column(at).take(accepted)).to_pylist()
        sparks = as_numbers(rows.field(at).take(accepted)).to_pylist()
        wrong += [
            (documents[i][:200], field.name, o, s)
            for i, o, s in zip(accepted, ours, sparks, strict=True)
            if not same(o, s)
        ]
    assert not wrong, f"{len(wrong)} differences in {len(documents)} documents: {wrong[:5]}"
    return len(accepted)


@pytest.mark.parametrize("ddl", SCHEMAS)
def test_accepted_records_have_the_values_of_from_json_and_bad_ones_fail_there_too(spark, ddl):
    rng = random.Random(f"parity {ddl}")
    documents = [*written_alike(rng, ddl, 40), *(document_of(rng, ddl) for _ in range(120)), *hostile_documents()]
    assert assert_parity(spark, ddl, documents) > 20


@pytest.mark.parametrize("seed", [0, *full(*range(1, 20))])
def test_records_of_generated_nested_schemas_have_the_values_of_from_json(spark, seed):
    rng = random.Random(f"nested {seed}")
    accepted = 0
    for _ in range(4):
        ddl = random_ddl(rng).replace(" NOT NULL", "")  # which Spark does not enforce
        documents = [*written_alike(rng, ddl, 60), *(document_of(rng, ddl) for _ in range(60))]
        accepted += assert_parity(spark, ddl, documents)
    assert accepted > 100


@pytest.mark.full
@pytest.mark.parametrize("ddl", SCHEMAS)
@pytest.mark.parametrize("seed", range(4))
def test_many_generated_records_have_the_values_of_from_json(spark, ddl, seed):
    rng = random.Random(f"many {seed} {ddl}")
    documents = [*written_alike(rng, ddl, 1500), *(document_of(rng, ddl) for _ in range(2500))]
    assert assert_parity(spark, ddl, documents) > 100


@pytest.mark.parametrize(
    ("ddl", "document"),
    [
        ("a INT", '{"a":1} x'),
        ("a INT", '{"a":1}{"a":2}'),
        ("a INT NOT NULL", "{}"),
        ("a STRUCT<b: INT NOT NULL>", '{"a":{"b":null}}'),
        ("a TIMESTAMP", '{"a":"12:30"}'),
        ("a TIMESTAMP", '{"a":9223372036855}'),
        ("a TIMESTAMP", '{"a":"2026-07-01T01:02:03 SystemV/PST8"}'),
        ("a DECIMAL(4, 1)", '{"a":1e-200000}'),
        ("a BINARY", '{"a":"\x01AQID"}'),
    ],
)
def test_what_only_tidemark_refuses_in_a_record_is_known(spark, ddl, document):
    assert by_spark(spark, ddl, [document.encode()])[0] == [False]
    decoded = JsonDecoder(parse_schema(ddl), time_zone=ZONE).decode(pa.array([document.encode()], pa.binary()))
    assert list(decoded.reasons) == [0]


@pytest.mark.parametrize(
    "document",
    ['{"user":1}', '{"user":"1"}', '{"user":1,}', "[]", '{"user":1} x', '{"price":"x"}', '{"item":{"a":1.50}}'],
)
def test_the_oracle_reports_what_failfast_throws(spark, document):
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F  # noqa: N812 - the customary name

    ddl = SCHEMAS[0]
    fails, _ = by_spark(spark, ddl, [document.encode()])
    row = spark.createDataFrame([(document,)], "v STRING").select(
        F.from_json("v", ddl, {"mode": "FAILFAST"}).alias("r")
    )
    if fails[0]:
        with pytest.raises((PySparkException, Py4JJavaError), match="MALFORMED_RECORD_IN_PARSING"):
            row.collect()
    else:
        assert row.collect()[0].r is not None


ACCEPTED_DDL: Final = (
    "a INT", "a int, b bigint", "a INT NOT NULL COMMENT 'x'", 'a INT COMMENT "x"', "a INT COMMENT 'it''s'", "a INT COMMENT 'it\\'s'", "a INT COMMENT 'x' 'y'",
    "`odd name` STRING", "`a``b` STRING", "`` INT", "1a INT", "_a INT", "1e INT", "2024_01 INT", "select INT", "from INT, not INT", "null INT", "anti INT, on INT",
    "timestamp TIMESTAMP, date DATE, order INT", "a INT -- c\n, b INT", "a INT /* c /* d */ e */, b INT", "a STRUCT<x: INT, y STRING NOT NULL COMMENT 'k'>",
    "a STRUCT<>", "a STRUCT<x: ARRAY<ARRAY<INT>>>", "a MAP<INT,STRING>", "a DECIMAL", "a DECIMAL(5)", "a DEC(5,2)", "a NUMERIC", "a DECIMAL ( 5 , 2 )",
    "a TIMESTAMP_LTZ", "a TIMESTAMP_NTZ", "a TIMESTAMP WITHOUT TIME ZONE", "a LONG, b SHORT, c BYTE, d REAL, e INTEGER", "a BINARY",
    "a BOOLEAN, b TINYINT, c SMALLINT, d FLOAT, e DOUBLE, f DATE", "a array <int>", "a STRUCT<x:INT>NOT NULL", "a struct<x :int>", "a STRUCT<a:STRUCT<b:INT>>",
    "a MAP<STRING,ARRAY<STRUCT<a:INT>>>", "a INT NOT\nNULL", "a INT COMMENT ''", "a INT COMMENT r'x\\n'", "a INT COMMENT 'x\\ny\\u0041\\%'", "a STRUCT<`x y`: INT>",
    "a\tINT", "a VARCHAR(5), b CHAR(5), c CHARACTER(5)", "a STRUCT< >", "a VARCHAR(0)", "a DECIMAL(010)", "a TIMESTAMP WITH LOCAL TIME ZONE",
    "a INT -- first \\\n second\n, b INT", "--\\\n x\nDATE int", "a INT COMMENT '\\d\\101'", "a INT COMMENT '\"\"x'",
)  # fmt: skip
REFUSED_DDL: Final = (
    "a: INT", "a INT COMMENT 'x' NOT NULL", "1 INT", "a-b INT", "é INT", '"a" INT', "a INT,", "", "  ", ",a INT", "a", "a INT b INT", "a MAP<INT>", "a ARRAY<>",
    "a ARRAY<INT", "a NUMERIC(5,6)", "a DECIMAL(39,2)", "a DECIMAL(5,-2)", "a VARCHAR", "a CHAR", "a FOO", "a INT DEFAULT 1", "a INT NULL", "STRUCT<a: INT>", "INT",
    "a int(3)", "a.b INT", "a INT;", "a ARRAY<INT NOT NULL>", "a MAP<STRING, INT NOT NULL>", "a DOUBLE PRECISION", "a 'x'", "a STRING(5)", "a TEXT", "1e5 INT", "$a INT",
    "a$b INT", "a DECIMAL(5,2,1)", "a DECIMAL()", "a STRUCT<x INT,>", "a INT COMMENT x", "1L INT", "1.5 INT", "a STRUCT<b: INT COMMENT 'q' NOT NULL>", "a INT /* open",
    "a INT COMMENT 'open", "`a INT", "a INT -- x\\\r\n y\r\n, b INT", "a CHAR VARYING(3)", "a TIMESTAMP(3)", "a VARCHAR(99999999999)", "größe INT",
)  # fmt: skip
REFUSED_HERE_ONLY_DDL: Final = (
    "a INT, a INT", "a INT, A INT", "a STRUCT<x:INT,X:INT>", "_watermark TIMESTAMP", "_LATE BOOLEAN", "`_heartbeat` INT", "a VOID", "a VARIANT", "a TIME",
    "a INTERVAL DAY TO SECOND", "a DECIMAL(0,0)",
)  # fmt: skip

_SPARK_NAMES: Final = {
    "boolean": "BOOLEAN", "byte": "TINYINT", "short": "SMALLINT", "integer": "INT", "long": "BIGINT", "float": "FLOAT", "double": "DOUBLE",
    "string": "STRING", "binary": "BINARY", "date": "DATE", "timestamp": "TIMESTAMP", "timestamp_ntz": "TIMESTAMP_NTZ",
}  # fmt: skip


def spark_struct(spark: Any, ddl: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(spark._jvm.org.apache.spark.sql.types.StructType.fromDDL(ddl).json())
    return parsed


def text_of(spark_type: Any) -> str:
    """Our canonical text of a type as Spark's JSON describes it."""
    if isinstance(spark_type, str):
        if spark_type.startswith(("char", "varchar")):
            return "STRING"
        return _SPARK_NAMES.get(spark_type) or spark_type.upper().replace(",", ", ")
    kind = spark_type["type"]
    if kind == "array":
        return f"ARRAY<{text_of(spark_type['elementType'])}>"
    if kind == "map":
        return f"MAP<{text_of(spark_type['keyType'])}, {text_of(spark_type['valueType'])}>"
    fields = (
        f"{field_name_text(f['name'])}: {text_of(f['type'])}{'' if f['nullable'] else ' NOT NULL'}"
        for f in spark_type["fields"]
    )
    return f"STRUCT<{', '.join(fields)}>"


@pytest.mark.parametrize("ddl", ACCEPTED_DDL)
def test_a_ddl_text_means_what_it_means_to_spark(spark, ddl):
    ours = parse_schema(ddl)
    fields = spark_struct(spark, ddl)["fields"]
    assert [(f.name, type_text(f.type), f.nullable) for f in ours] == [
        (f["name"], text_of(f["type"]), f["nullable"]) for f in fields
    ]
    comments = [None if f.metadata is None else f.metadata[b"comment"].decode() for f in ours]
    assert comments == [f["metadata"].get("comment") for f in fields]


@pytest.mark.parametrize("ddl", REFUSED_DDL)
def test_a_ddl_text_that_spark_refuses_is_refused(spark, ddl):
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    with pytest.raises((PySparkException, Py4JJavaError)):
        spark_struct(spark, ddl)
    with pytest.raises(SchemaError):
        parse_schema(ddl)


@pytest.mark.parametrize("ddl", REFUSED_HERE_ONLY_DDL)
def test_what_only_tidemark_refuses_is_known(spark, ddl):
    assert spark_struct(spark, ddl)["fields"]
    with pytest.raises(SchemaError):
        parse_schema(ddl)


@pytest.mark.parametrize("ddl", ACCEPTED_DDL)
def test_the_canonical_text_means_the_same_to_spark(spark, ddl):
    canonical = schema_ddl(parse_schema(ddl))
    assert parse_schema(canonical) == parse_schema(ddl)
    assert text_of(spark_struct(spark, canonical)) == text_of(spark_struct(spark, ddl))
