"""The formats. A new one is one module that defines its `Format`, and one line here."""

from __future__ import annotations

from datasources.formats.api.format import Format
from datasources.formats.avro.avro_descriptor import AVRO, AVRO_CONFLUENT
from datasources.formats.csv.csv_descriptor import CSV
from datasources.formats.debezium.debezium_descriptor import DEBEZIUM_AVRO_CONFLUENT, DEBEZIUM_JSON
from datasources.formats.json.json_descriptor import JSON, JSON_CONFLUENT
from datasources.formats.protobuf.protobuf_descriptor import PROTOBUF, PROTOBUF_CONFLUENT
from datasources.formats.raw import RAW

FORMATS: dict[str, Format] = {
    each.name: each
    for each in (
        RAW,
        JSON,
        JSON_CONFLUENT,
        CSV,
        AVRO,
        AVRO_CONFLUENT,
        PROTOBUF,
        PROTOBUF_CONFLUENT,
        DEBEZIUM_JSON,
        DEBEZIUM_AVRO_CONFLUENT,
    )
}
"""The formats by name, in the order of the reference of options."""

DEFAULT_FORMAT = RAW
