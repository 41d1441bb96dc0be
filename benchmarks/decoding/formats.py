"""The same rows in each format, from bytes to columns: CPU per record beside JSON and beside other libraries.

    python -m benchmarks.decoding.formats [--quick]     writes results/format_decode.json, unless quick; last line JSON

The rows are those of `make bench`; ways alternate, medians of the rounds. A library that is not installed is left out.
"""

from __future__ import annotations

import io
import json
import statistics
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import fastavro
import pyarrow as pa
from google.protobuf.message_factory import GetMessageClass

from benchmarks.measure import load_before, machine_facts
from benchmarks.orders.avro_orders import AVRO_ORDER, SCHEMA_ID, framed_order
from benchmarks.orders.json_orders import SCHEMA, order
from benchmarks.orders.protobuf_orders import message_order, order_type
from datasources.formats.api.format import DecoderSettings
from datasources.formats.avro.avro_confluent import AvroConfluentDecoder
from datasources.formats.avro.avro_decoder import AvroDatumDecoder
from datasources.formats.avro.schema.avro_schema import parse_avro_schema
from datasources.formats.format_table import FORMATS
from datasources.formats.protobuf.protobuf_decoder import ProtobufDecoder
from datasources.formats.protobuf.schema.message_type import MessageType
from datasources.formats.registry.registry_options import RegistrySettings
from datasources.formats.registry.wire_format import HEADER_BYTES
from datasources.formats.schema_text.ddl import parse_schema

RESULT: Final = Path(__file__).parents[1] / "results" / "format_decode.json"
_ROWS: Final = 100_000
_FASTAVRO_ROWS: Final = 10_000
_ROUNDS: Final = 5
_COLUMNS: Final = parse_schema(SCHEMA)


def main() -> None:
    """Measure in turns, print, and write the result file."""
    is_quick = "--quick" in sys.argv
    load = load_before(is_saved=not is_quick)
    ways = _ways()
    _check(ways)
    rounds = [{name: _cpu_ns(*way) for name, way in ways.items()} for _ in range(1 if is_quick else _ROUNDS)]
    cost = {name: round(statistics.median(each[name] for each in rounds)) for name in ways}
    ratios = {name: round(statistics.median(each[name] / each["json"] for each in rounds), 2) for name in ways}
    found = {"rows": _ROWS, "cpu_ns_per_record": cost, "ratio_to_json": ratios, "load": load, **machine_facts()}
    if not is_quick:
        RESULT.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(found))


def _ways() -> dict[str, tuple[Callable[[pa.Array], Any], pa.Array]]:
    """Return what decodes, and the records, of each way."""
    documents = pa.array([order(number) for number in range(_ROWS)], pa.binary())
    json_decoder = FORMATS["json"].decoder(DecoderSettings(schema=_COLUMNS, time_zone="UTC"))
    schema, writer = fastavro.parse_schema(AVRO_ORDER), parse_avro_schema(json.dumps(AVRO_ORDER))
    message = order_type()
    messages = pa.array([message_order(number) for number in range(_ROWS)], pa.binary())
    framed = pa.array([framed_order(number) for number in range(_ROWS)], pa.binary())
    records = pa.array([each[HEADER_BYTES:] for each in framed.to_pylist()], pa.binary())
    ways: dict[str, tuple[Callable[[pa.Array], Any], pa.Array]] = {
        "json": (json_decoder.decode, documents),
        "avro": (AvroDatumDecoder(writer, _COLUMNS).decode, records),
        "avro-confluent": (_confluent(AvroDatumDecoder(writer, _COLUMNS, skip=HEADER_BYTES)).decode, framed),
        "protobuf": (ProtobufDecoder(message, _COLUMNS).decode, messages),
        "protobuf of Google, records only": (lambda batch: _parsed(message, batch), messages.slice(0, _FASTAVRO_ROWS)),
        "fastavro, records only": (lambda batch: _read(schema, batch), records.slice(0, _FASTAVRO_ROWS)),
    }
    if find_spec("pyruhvro"):
        import pyruhvro

        text = json.dumps(AVRO_ORDER)
        ways["pyruhvro"] = (lambda batch: pyruhvro.deserialize_array(batch.to_pylist(), text), records)
    if find_spec("ptars"):
        ways["ptars"] = (_ptars(message), messages)
    return ways


def _confluent(decoder: AvroDatumDecoder) -> AvroConfluentDecoder:
    """Return the decoder of a topic whose registry was asked already."""
    found = AvroConfluentDecoder(schema=_COLUMNS, registry=RegistrySettings("http://nobody:1"))
    found._decoders[SCHEMA_ID] = decoder  # noqa: SLF001 - in place of a registry
    return found


def _parsed(message: MessageType, batch: pa.Array) -> list[Any]:
    made: Any = GetMessageClass(message.descriptor)
    return [made.FromString(each) for each in batch.to_pylist()]


def _ptars(message: MessageType) -> Callable[[pa.Array], Any]:
    import ptars

    handler = ptars.HandlerPool([message.descriptor.file]).get_for_message(message.descriptor)
    return lambda batch: handler.list_to_record_batch(batch.to_pylist())


def _read(schema: Any, batch: pa.Array) -> list[Any]:
    return [fastavro.schemaless_reader(io.BytesIO(each), schema, None) for each in batch.to_pylist()]


def _check(ways: dict[str, tuple[Callable[[pa.Array], Any], pa.Array]]) -> None:
    """Require equal rows from ours.

    Raises:
        SystemExit: they differ.
    """
    found = [ways[name][0](ways[name][1]).columns for name in ("json", "avro", "avro-confluent", "protobuf")]
    if any(each != found[0] for each in found):
        raise SystemExit("the formats gave different rows; nothing was compared")


def _cpu_ns(decode: Callable[[pa.Array], Any], batch: pa.Array) -> float:
    begin = time.process_time_ns()
    decode(batch)
    return (time.process_time_ns() - begin) / len(batch)


if __name__ == "__main__":
    main()
