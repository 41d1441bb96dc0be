"""Avro to columns, against Spark's own from_avro, over generated schemas and records."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import pyarrow as pa
import pytest

from datasources.formats.avro.avro_decoder import AvroDatumDecoder
from datasources.formats.avro.schema.avro_columns import columns_of
from tests.support.avro_records import Generator, parsed, without_logical, written
from tests.support.decoded_values import plain
from tests.support.forms import full, long
from tests.support.project import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.slow]

RECORDS = 8
DEADLINE_S = 600


def case(seed):
    made = Generator(random.Random(seed))
    schema = made.record()
    records = [written(without_logical(schema), made.value(schema)) for _ in range(RECORDS)]
    return schema, records


def spark_columns(cases, directory):
    """Return the table of each case that Spark makes, or its refusal."""
    given = [{"schema": schema, "records": [each.hex() for each in records]} for schema, records in cases]
    (directory / "cases.json").write_text(json.dumps(given))
    command = [sys.executable, "-m", "tests.support.spark.avro_job", str(directory / "cases.json"), str(directory)]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=DEADLINE_S
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    for number in range(len(cases)):
        refusal = directory / f"{number}.txt"
        if refusal.exists():
            yield refusal.read_text()
        else:
            yield pa.ipc.open_file(pa.memory_map(str(directory / f"{number}.arrow"))).read_all()


def is_same_type(ours, theirs):
    """Whether two Arrow types are the same type of Spark's."""
    if pa.types.is_struct(ours) and pa.types.is_struct(theirs):
        return len(ours) == len(theirs) and all(map(is_same_type, (f.type for f in ours), (f.type for f in theirs)))
    if pa.types.is_map(ours) and pa.types.is_map(theirs):
        return is_same_type(ours.key_type, theirs.key_type) and is_same_type(ours.item_type, theirs.item_type)
    if pa.types.is_list(ours) and pa.types.is_list(theirs):
        return is_same_type(ours.value_type, theirs.value_type)
    return ours == theirs


def sorted_maps(value):
    """A value whose maps are in the order of their keys: Spark's are in none."""
    if isinstance(value, dict):
        return {name: sorted_maps(each) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    found = [sorted_maps(each) for each in value]
    is_map = all(isinstance(each, dict) and each.keys() == {"key", "value"} for each in found)
    is_map |= all(isinstance(each, list) and len(each) == 2 and isinstance(each[0], str) for each in found)
    return sorted(found, key=repr) if is_map else found


@pytest.mark.parametrize("seeds", [*long(range(60)), *full(range(60, 600))], ids=str)
def test_the_columns_are_those_of_from_avro(tmp_path, seeds):
    cases = list(map(case, seeds))
    compared = other = refused = 0
    for (schema, records), theirs in zip(cases, spark_columns(cases, tmp_path), strict=True):
        columns = columns_of(parsed(schema))
        found = AvroDatumDecoder(parsed(schema), columns).decode(pa.array(records, pa.binary()))
        assert found.statuses is None
        if isinstance(theirs, str):
            refused += 1  # a decimal of more than 38 digits, a fixed of no bytes, a time of more than a day
            continue
        assert columns.names == theirs.column_names
        for name in columns.names:
            ours, its = found.columns.column(name), theirs.column(name).combine_chunks()
            if is_same_type(ours.type, its.type):
                assert sorted_maps(plain(ours)) == sorted_maps(plain(its)), (schema, name)
                compared += 1
            else:
                other += 1  # Spark has TIME for a time in microseconds, and BINARY for a uuid of 16 bytes
    assert compared > 2 * other
    assert refused < len(cases) / 2
