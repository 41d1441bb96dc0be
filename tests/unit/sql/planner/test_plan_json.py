"""What was pushed into a scan, as JSON."""

from __future__ import annotations

import pytest

from datasources.sql.planner.connectors import connector_of
from datasources.sql.planner.plan_json import abilities_of
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
    (ability,) = abilities_of(scan(**{"scan__watermark__idle-timeout": "1 min"}))
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
    ("options", "expected"),
    [
        ({"scan__watermark__emit__strategy": "on-event"}, {"emitStrategy": "ON_EVENT", "sourceIdleTimeout": -1}),
        (
            {"scan__watermark__alignment__group": "g", "scan__watermark__alignment__max-drift": "1500 ms"},
            {"alignGroupName": "g", "alignMaxDrift": "PT1.500S", "alignUpdateInterval": "PT1S"},
        ),
    ],
)
def test_options_of_a_watermark_are_among_its_parameters(options, expected):
    (ability,) = abilities_of(scan(**options))
    assert ability["watermarkParams"].items() >= expected.items()


def test_the_idle_timeout_of_the_session_stands_beside_that_of_the_table():
    (ability,) = abilities_of(scan(**{"table__exec__source__idle-timeout": "1500 ms"}))
    assert (ability["idleTimeoutMillis"], ability["watermarkParams"]["sourceIdleTimeout"]) == (1_500, -1)


def test_a_source_watermark_has_its_own_type():
    assert abilities_of(scan(is_source_watermark=True)) == [
        {"type": "SourceWatermark", "sourceWatermarkEnabled": True, "producedType": "ts TIMESTAMP"}
    ]
