"""The client of a registry, on a real one and on servers that answer what a registry does not."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference

from datasources.errors import OptionError, SourceUnavailable
from datasources.formats.registry import schema_registry
from datasources.formats.registry.registry_options import registry_settings
from datasources.formats.registry.schema_registry import SchemaRegistry, UnknownSchemaError
from tests.support.kafka.schema_registry_server import SchemaRegistryServer
from tests.support.tcp_switch import tcp_switch

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

CITY = '{"type":"record","name":"City","namespace":"geo","fields":[{"name":"name","type":"string"}]}'
PERSON = '{"type":"record","name":"Person","fields":[{"name":"home","type":"geo.City"}]}'
ORDER = '{"type":"record","name":"Order","fields":[{"name":"by","type":"Person"},{"name":"to","type":"geo.City"}]}'


@pytest.fixture(scope="module")
def server() -> Iterator[SchemaRegistryServer]:
    with SchemaRegistryServer() as found:
        yield found


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_registry, "_RETRY_MS", 1)
    monkeypatch.setattr(schema_registry, "_TIMEOUT_S", 1.0)


def registry_at(url: str, **options: str) -> SchemaRegistry:
    return SchemaRegistry(registry_settings({"url": url, **options}, "avro-confluent"))


def test_schemas_come_with_what_they_refer_to(server):
    client = server.client()
    client.register_schema("cities", Schema(CITY, "AVRO"))
    city = SchemaReference("geo.City", "cities", 1)
    client.register_schema("people", Schema(PERSON, "AVRO", [city]))
    references = [SchemaReference("Person", "people", 1), city]
    number = client.register_schema("orders-value", Schema(ORDER, "AVRO", references))
    registry = registry_at(server.url)
    for found in (registry.schema(number, "AVRO"), registry.newest("orders-value", "AVRO")):
        assert (found.kind, found.text) == ("AVRO", ORDER)
        assert found.references == (("geo.City", CITY), ("Person", PERSON))


def test_the_newest_version_of_a_subject_is_found_and_an_id_stays(server):
    client = server.client()
    first = client.register_schema("grows", Schema(CITY, "AVRO"))
    longer = CITY.replace('"fields":[', '"fields":[{"name":"n","type":"int","default":0},')
    second = client.register_schema("grows", Schema(longer, "AVRO"))
    registry = registry_at(server.url)
    assert registry.newest("grows", "AVRO").text == longer
    assert [registry.schema(each, "AVRO").text for each in (first, second)] == [CITY, longer]


def test_what_is_not_there_and_what_is_of_another_kind(server):
    number = server.client().register_schema(
        "proto", Schema('syntax = "proto3"; message A { int32 x = 1; }', "PROTOBUF")
    )
    registry = registry_at(server.url)
    with pytest.raises(UnknownSchemaError, match="the schema registry has no schema of the id 4711"):
        registry.schema(4711, "AVRO")
    with pytest.raises(UnknownSchemaError, match=f"the schema of the id {number} is of the kind PROTOBUF, not AVRO"):
        registry.schema(number, "AVRO")
    with pytest.raises(OptionError, match=r"no subject 'nowhere-value': name one .* It has .*'proto'"):
        registry.newest("nowhere-value", "AVRO")
    with pytest.raises(OptionError, match="the schema of the subject 'proto' is of the kind PROTOBUF, not AVRO"):
        registry.newest("proto", "AVRO")


@pytest.mark.usefixtures("short_waits")
def test_an_id_that_was_asked_is_known_when_the_registry_is_gone(server):
    known = server.client().register_schema("kept", Schema(CITY, "AVRO"))
    port = int(server.url.partition(":")[2].partition(":")[2].partition("/")[0])
    with tcp_switch(port) as switch:
        registry = registry_at(server.url.replace(str(port), str(switch.port)))
        assert registry.schema(known, "AVRO").text == CITY
        switch.swallow()
        with pytest.raises(SourceUnavailable, match=r"asked for the id 4711, did not answer: ReadTimeout"):
            registry.schema(4711, "AVRO")
        assert registry.schema(known, "AVRO").text == CITY
        switch.mend()
        with pytest.raises(UnknownSchemaError):
            registry.schema(4711, "AVRO")


@pytest.mark.usefixtures("short_waits")
@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, b'{"error_code": 401, "message": "no"}', r"refused \(401\): check the options 'basic-auth"),
        (403, b"", r"refused \(403\)"),
        (500, b'{"error_code": 50001, "message": "the store is down"}', "answered 500: the store is down"),
        (502, b"<html>bad gateway</html>", "answered 502"),
        (200, b"<html>a portal</html>", "gave an answer that is none of a registry's"),
        (200, b"[]", "gave an answer that is none of a registry's"),
        (200, b"{}", "answered without a schema"),
        (200, b'{"schema": ""}', "answered without a schema"),
        (200, b'{"schema": 5}', "answered without a schema"),
    ],
)
def test_an_answer_of_another_kind_is_an_error_and_no_schema(status, body, message):
    with _answering(status, body) as url, pytest.raises(SourceUnavailable, match=message) as raised:
        registry_at(url.replace("//", "//ann:geheim@")).schema(1, "AVRO")
    assert "geheim" not in str(raised.value)


def _answering(status: int, body: bytes):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Server:
        def __enter__(self) -> str:
            self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            threading.Thread(target=self._server.serve_forever, daemon=True).start()
            return f"http://127.0.0.1:{self._server.server_address[1]}"

        def __exit__(self, *_: object) -> None:
            self._server.shutdown()
            self._server.server_close()

    return Server()
