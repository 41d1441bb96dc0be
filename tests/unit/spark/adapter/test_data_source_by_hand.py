"""A class that a user registered himself, with `spark.dataSource.register(...)`, from Spark Connect too.

No listener hears of it, no coordinator is bound to it, and nobody widened what Spark redacts.
"""

from __future__ import annotations

import pytest

from datasources import KafkaDataSource, MySqlDataSource, ScriptedDataSource
from datasources.errors import OptionError, QueryError
from datasources.secret_keys import SECRET_FAMILIES
from datasources.spark.adapter.batch_reader import TidemarkBatchReader
from datasources.spark.adapter.binding import Binding
from datasources.spark.adapter.stream_reader import TidemarkStreamReader
from datasources.spark.boundary.redaction import require_hidden_by_spark

COLUMNS = "id INT, ts TIMESTAMP"
WATERMARK = {"watermark.for": "ts", "watermark.as": "ts - INTERVAL '5' SECOND"}
KAFKA = {"kafka.bootstrap.servers": "b:1", "subscribe": "t", "format": "json", "schema": COLUMNS}
LOGIN = {"hostname": "h", "username": "u", "password": "p", "database-name": "d", "table-name": "t"}
SOURCES = {
    "kafka": (KafkaDataSource, KAFKA),
    "mysql": (MySqlDataSource, {**LOGIN, "schema": COLUMNS}),
    "scripted": (ScriptedDataSource, {"path": ".", "schema": COLUMNS}),
}


@pytest.fixture(params=SOURCES)
def source(request):
    return SOURCES[request.param]


def reader_of(source, **more):
    kind, options = source
    made = kind({**options, **more})
    return made.streamReader(made.schema())


def test_a_stream_with_a_watermark_refuses_to_plan_unattached(source):
    for call in ("initialOffset", "latestOffset"):
        with pytest.raises(QueryError, match="was not attached"):
            getattr(reader_of(source, **WATERMARK), call)()
    with pytest.raises(QueryError, match="was not attached"):
        reader_of(source, **WATERMARK).partitions({}, {})


def test_attached_or_without_a_watermark_it_is_read(source):
    assert isinstance(reader_of(source, **WATERMARK, **{"scan.attached": "true"}), TidemarkStreamReader)
    assert isinstance(reader_of(source), TidemarkStreamReader)


def test_a_batch_needs_no_attachment(source):
    kind, options = source
    made = kind({**options, **WATERMARK})
    assert isinstance(made.reader(made.schema()), TidemarkBatchReader)


@pytest.mark.parametrize("key", ["kafka.ssl.key.pem", "kafka.ssl.keystore.key", "kafka.sasl.oauthbearer.config"])
def test_a_secret_that_spark_would_show_is_refused_without_its_value(key):
    with pytest.raises(OptionError, match="registered by hand") as caught:
        KafkaDataSource({**KAFKA, key: "s3cr3t-value"}).schema()
    assert key in caught.value.message
    assert "s3cr3t-value" not in caught.value.message
    bound = type("Bound", (KafkaDataSource,), {"binding": Binding(hides_secrets=True)})
    assert bound({**KAFKA, key: "s3cr3t-value"})._scan() is not None


@pytest.mark.parametrize("key", sorted({key for family in SECRET_FAMILIES for key in family.keys}))
def test_every_secret_key_is_refused_or_hidden_by_sparks_own_patterns(key):
    by_spark = ("secret", "password", "token", "access.key", "accesskey")  # spark.redaction.regex
    if any(part in key.lower() for part in by_spark):
        require_hidden_by_spark({key: "x"})
        return
    with pytest.raises(OptionError):
        require_hidden_by_spark({key: "x"})


def test_secrets_inside_values_are_refused():
    with pytest.raises(OptionError, match="'path'"):
        require_hidden_by_spark({"path": "https://store.example/box?sv=1&sig=abc"})
    require_hidden_by_spark({"path": "/data", "subscribe": "orders", "kafka.ssl.key.location": "/run/key.pem"})
