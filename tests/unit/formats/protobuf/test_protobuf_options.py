"""The options of the format: the descriptor file is read on the driver only, and errors name the option."""

from __future__ import annotations

import pyarrow as pa
import pytest

from datasources.errors import OptionError, SchemaError
from datasources.formats.api.format import ColumnsRequest, DecoderSettings
from datasources.formats.format_table import FORMATS
from datasources.formats.schema_text.ddl import parse_schema, schema_ddl
from tests.support.protobuf_records import compiled

FORMAT = FORMATS["protobuf"]
TEXT = 'syntax = "proto2"; package shop; message Order { optional int32 id = 1 [default = 5]; }'


@pytest.fixture
def options(tmp_path) -> dict[str, object]:
    file = tmp_path / "shop.desc"
    file.write_bytes(compiled(TEXT))
    return {"message-class-name": "shop.Order", "descriptor-file": str(file)}


def test_executors_need_no_file(options, tmp_path):
    carried = FORMAT.driver_options(options)
    (tmp_path / "shop.desc").unlink()
    decoder = FORMAT.decoder(DecoderSettings(schema=parse_schema("id INT"), options=carried))
    assert decoder.decode(pa.array([b"\x08\7", b""], pa.binary())).columns.to_pylist() == [{"id": 7}, {"id": None}]
    with pytest.raises(OptionError, match=r"'protobuf.descriptor-file': '.*shop.desc' cannot be read: No such file"):
        FORMAT.driver_options(options)


@pytest.mark.parametrize(("reads", "ddl", "value"), [(False, "id INT", None), (True, "id INT NOT NULL", 5)])
def test_columns_and_defaults(options, reads, ddl, value):
    given = {**options, "read-default-values": reads, "write-null-string-literal": "x"}
    columns = FORMAT.columns(ColumnsRequest(options=given, subject=None))
    assert schema_ddl(columns) == ddl
    settings = DecoderSettings(schema=columns, options=given)
    FORMAT.check(settings)
    assert FORMAT.decoder(settings).decode(pa.array([b""], pa.binary())).columns.to_pylist() == [{"id": value}]


def test_options_that_are_missing_or_wrong(options):
    for key in options:
        request = ColumnsRequest(options={name: options[name] for name in options if name != key}, subject=None)
        with pytest.raises(OptionError, match=f"the format 'protobuf' needs 'protobuf.{key}'"):
            FORMAT.columns(request)
    with pytest.raises(
        OptionError, match=r"'protobuf.descriptor-file' = '.*': there is no message 'shop.Ordr'. Did you"
    ):
        FORMAT.columns(ColumnsRequest(options={**options, "message-class-name": "shop.Ordr"}, subject=None))
    with pytest.raises(SchemaError, match="field 'id': its type int32 does not fit a column of type STRING"):
        FORMAT.check(DecoderSettings(schema=parse_schema("id STRING"), options=options))


def test_without_a_file_there_is_nothing_to_carry():
    assert FORMAT.driver_options({"message-class-name": "shop.Order"}) == {"message-class-name": "shop.Order"}
