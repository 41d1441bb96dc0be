"""What was pushed into a scan, as JSON."""

from __future__ import annotations

import json

import pytest

from datasources.errors import SqlError
from datasources.sql.planner.connectors import connector_of
from datasources.sql.planner.plan_json import (
    SourceWatermarkAbility,
    WatermarkParams,
    WatermarkPushDown,
    abilities_of,
    load_abilities,
    to_json,
)
from datasources.sql.planner.tree import Attribute, ScanColumn, TableScan

OPTIONS = {"topic": "orders", "properties.bootstrap.servers": "b:9092", "format": "json"}


def scan(*, is_source_watermark: bool = False, **options: str) -> TableScan:
    attribute = Attribute(
        path=("ts",),
        rowtime="`ts`",
        expression="ts - INTERVAL '5' SECOND",
        spark_type="TIMESTAMP",
        written="ts - INTERVAL '5' SECOND",
        is_source_watermark=is_source_watermark,
    )
    return TableScan(
        table="orders",
        connector=connector_of(None, "kafka"),
        options=OPTIONS | {key.replace("__", "."): value for key, value in options.items()},
        columns=(ScanColumn(name="ts", spark_type="TIMESTAMP"),),
        attributes=(attribute,),
    )


def test_a_pushed_watermark_is_written_under_flinks_names():
    (ability,) = to_json(abilities_of(scan(**{"scan__watermark__idle-timeout": "1 min"})))
    assert ability == {
        "type": "WatermarkPushDown",
        "watermarkExpr": "ts - INTERVAL '5' SECOND",
        "rowtimeExpr": "`ts`",
        "idleTimeoutMillis": -1,
        "producedType": "ts TIMESTAMP",
        "watermarkParams": {
            "emitStrategy": "ON_PERIODIC",
            "alignGroupName": None,
            "alignMaxDrift": "PT0S",
            "alignUpdateInterval": "PT1S",
            "sourceIdleTimeout": 60_000,
        },
    }


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scan__watermark__emit__strategy": "on-event"},
        {"table__exec__source__idle-timeout": "1500 ms"},
        {"scan__watermark__alignment__group": "g", "scan__watermark__alignment__max-drift": "1500 ms"},
    ],
)
def test_what_is_written_is_read_back(options):
    abilities = abilities_of(scan(**options))
    assert load_abilities(json.dumps(to_json(abilities))) == abilities


def test_a_source_watermark_has_its_own_type():
    assert load_abilities(json.dumps(to_json(abilities_of(scan(is_source_watermark=True))))) == (
        SourceWatermarkAbility(produced_type="ts TIMESTAMP"),
    )


def test_a_plan_from_before_the_options_loads_with_their_defaults_and_unknown_fields_are_ignored():
    old = {"type": "WatermarkPushDown", "watermarkExpr": "ts", "idleTimeoutMillis": 1_000, "later": True}
    assert load_abilities(json.dumps([old])) == (
        WatermarkPushDown(watermark="ts", rowtime="", idle_timeout_ms=1_000, params=WatermarkParams()),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "no JSON"),
        ("{}", "no list"),
        ('[{"type": "Sorted"}]', "'Sorted'"),
        ('[{"type": "WatermarkPushDown"}]', "known are"),
    ],
)
def test_what_is_no_plan_is_refused(text, expected):
    with pytest.raises(SqlError, match=expected):
        load_abilities(text)
