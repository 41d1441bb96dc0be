"""Connectors by their SQL names."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from datasources.kafka.data_source import KafkaDataSource
from datasources.sql.planner.connectors import connector_of, unknown_connector


@pytest.mark.parametrize(
    ("name", "format_name", "is_ours", "takes_schema"),
    [
        ("kafka", "tidemark-kafka", True, False),
        ("Kafka", "tidemark-kafka", True, False),
        ("upsert-kafka", "tidemark-kafka", True, False),
        ("scripted", "tidemark-scripted", True, False),
        ("spark-kafka", "kafka", False, False),
        ("parquet", "parquet", False, True),
        ("rate", "rate", False, False),
        ("print", "console", False, False),
        ("com.example.Source", "com.example.Source", False, False),
    ],
)
def test_a_name_is_one_of_ours_or_a_format_of_sparks(name, format_name, is_ours, takes_schema):
    found = connector_of(None, name)
    assert (found.format_name, found.is_ours, found.takes_schema) == (format_name, is_ours, takes_schema)


def test_a_source_that_was_registered_is_found_by_its_format():
    session = SimpleNamespace(_tidemark_formats={"my-source": (KafkaDataSource, None)})
    assert connector_of(session, "My-Source").data_source is KafkaDataSource


def test_unknown_names_are_rejected_with_near_matches():
    error = unknown_connector("orders", connector_of(None, "kafak"), Exception("[DATA_SOURCE_NOT_FOUND] kafak"))
    assert "table 'orders': there is no connector 'kafak'. Did you mean 'kafka'" in str(error)
    missing = unknown_connector("o", connector_of(None, "spark-kafka"), Exception("Failed to find data source: kafka"))
    assert "add its package" in str(missing)
    assert "'spark-kafka' or" not in str(missing)
    assert unknown_connector("orders", connector_of(None, "kafka"), Exception("something else")) is None
