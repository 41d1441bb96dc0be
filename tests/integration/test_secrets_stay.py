"""Secrets in options stand nowhere: plans, the event log, checkpoints, logs of driver and workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Producer

from datasources.embedded import EmbeddedKafka, KafkaLogin
from datasources.secret_keys import PRIVATE_FAMILIES, SECRET_FAMILIES
from tests.support.kafka.kafka_server import KafkaServer
from tests.support.mysql.mysql_server import OpenMySql
from tests.support.project import ROOT

pytestmark = pytest.mark.spark

DEADLINE_S = 400
KEYS = sorted({key for family in (*SECRET_FAMILIES, *PRIVATE_FAMILIES) for key in family.keys})
PRIVATE = {key for family in PRIVATE_FAMILIES for key in family.keys}
VALUES = {
    "jdbc": "jdbc:mysql://user:{}@db.example:3306/shop",
    "address": "https://store.example/box?sv=1&sig={}",
    "endpoint": "Endpoint=sb://x.example/;SharedAccessKeyName=me;SharedAccessKey={}",
    "connection": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=x",
}
VISIBLE = "this-may-be-seen"


def run_job(folder: Path, job: dict) -> dict[str, str]:
    """Run the driver; return every text that it left, by its place."""
    (folder / "job.json").write_text(json.dumps(job))
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "support" / "spark" / "secrets_job.py"), str(folder)],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4_000:]
    (folder / "job.json").unlink()
    files = {
        str(file.relative_to(folder)): file.read_text(errors="replace") for file in folder.rglob("*") if file.is_file()
    }
    return {**files, "standard output": done.stdout, "standard error": done.stderr}


def leaks(texts: dict[str, str], secrets: dict[str, str]) -> list[tuple[str, str]]:
    return [(name, key) for name, text in texts.items() for key, secret in secrets.items() if secret in text]


@pytest.fixture
def invented() -> dict[str, str]:
    """One secret for each key, and for each value that has one inside."""
    return {key: f"s3cr3t-{number:03}-x" for number, key in enumerate((*KEYS, *VALUES))}


@pytest.fixture
def given(invented) -> dict[str, str]:
    return {**{key: invented[key] for key in KEYS}, **{key: text.format(invented[key]) for key, text in VALUES.items()}}


@pytest.mark.long
@pytest.mark.kafka
@pytest.mark.mysql
def test_no_secret_is_shown_anywhere(tmp_path, invented, given, own_mysql: OpenMySql):
    server = own_mysql()
    server.execute(
        "CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY)", "INSERT INTO shop.t VALUES (1), (2)"
    )
    login = server.login("reads_all", "mysql-s3cr3t")
    server.execute(
        f"CREATE USER '{login.user}'@'%' IDENTIFIED BY '{login.password}'",
        f"GRANT SELECT, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO '{login.user}'@'%'",
    )
    with EmbeddedKafka(login=KafkaLogin(username="kafka-us3r", password="kafka-s3cr3t")) as kafka:
        topic = KafkaServer(kafka.bootstrap_servers, origin="embedded").create_topic()
        client = kafka.secured()
        with Producer(client) as producer:
            producer.produce(topic, value=b'{"id": 1}')
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        own = {
            "kafka.bootstrap.servers": client["bootstrap.servers"],
            "kafka.security.protocol": "SASL_SSL",
            "kafka.sasl.mechanism": "PLAIN",
            "kafka.ssl.ca.location": client["ssl.ca.location"],
            "subscribe": topic, "startingOffsets": "earliest", "format": "json", "schema": "id INT",
        }  # fmt: skip
        jaas = {"kafka.sasl.jaas.config": f'{module} required username="kafka-us3r" password="kafka-s3cr3t";'}
        plain = {"kafka.sasl.username": "kafka-us3r", "kafka.sasl.password": "kafka-s3cr3t"}
        mysql = {
            "hostname": login.host, "port": str(login.port), "username": login.user, "password": login.password,
            "database-name": "shop", "table-name": "t", "schema": "id INT", "scan.startup.mode": "snapshot",
        }  # fmt: skip
        streams = [["tidemark-kafka", {**own, **jaas}], ["tidemark-kafka", {**own, **plain}], ["tidemark-mysql", mysql]]
        in_sql = {key: value for key, value in given.items() if key not in PRIVATE}  # SHOW CREATE shows the others
        texts = run_job(
            tmp_path, {"registers": True, "options": {**given, "plain": VISIBLE}, "in_sql": in_sql, "streams": streams}
        )
    secrets = {**invented, "kafka": "kafka-s3cr3t", "kafka login": "kafka-us3r", "mysql": "mysql-s3cr3t"}
    assert leaks(texts, secrets) == []
    assert any(name.startswith("events/") and len(text) > 10_000 for name, text in texts.items())
    assert sum("/offsets/" in name for name in texts) >= 4
    assert "INFO org.apache.spark.sql.execution.streaming" in texts["driver.log"]
    assert VISIBLE in texts["explain.txt"]


@pytest.mark.full
def test_without_our_pattern_the_test_would_find_what_spark_does_not_redact(tmp_path, invented, given):
    found = leaks(run_job(tmp_path, {"registers": False, "options": given, "streams": []}), invented)
    assert ("explain.txt", "kafka.ssl.key.pem") in found
    assert ("explain.txt", "kafka.sasl.password") not in found
