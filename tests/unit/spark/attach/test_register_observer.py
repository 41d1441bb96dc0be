"""The page of an application's sources is off unless `spark.tidemark.ui.port` asks for it."""

from __future__ import annotations

import json
import urllib.request
from types import SimpleNamespace

import pytest

from datasources.errors import OptionError
from datasources.source.coordination.server import Coordinator
from datasources.spark.attach.register import _application_observer


def session(**conf: str) -> SimpleNamespace:
    """A session as far as starting the page looks at it."""
    values = {f"spark.tidemark.ui.{name}": value for name, value in conf.items()}
    return SimpleNamespace(sparkContext=SimpleNamespace(getConf=lambda: values))


@pytest.fixture
def coordinator():
    server = Coordinator()
    yield server
    server.close()


def test_nobody_listens_unless_asked_to(coordinator):
    assert _application_observer(session(), coordinator) is None


def test_a_port_starts_one_page_for_the_application_on_this_machine_only(coordinator):
    spark = session(port="0")
    observer = _application_observer(spark, coordinator)
    try:
        assert observer.url.startswith("http://127.0.0.1:")
        assert _application_observer(spark, coordinator) is observer
        with urllib.request.urlopen(f"{observer.url.rstrip('/')}/api/sources", timeout=10) as answer:  # noqa: S310 - ours
            assert isinstance(json.load(answer), list | dict)
    finally:
        observer.close()


def test_an_invalid_port_names_the_setting(coordinator):
    with pytest.raises(OptionError, match=r"spark.tidemark.ui.port = 'many' is no port: use a number"):
        _application_observer(session(port="many"), coordinator)


def test_a_token_that_was_set_is_not_logged_and_one_that_was_made_is(coordinator, caplog):
    for conf, is_shown in (({"token": "as-it-was-set-by-us"}, False), ({}, True)):
        caplog.clear()
        observer = _application_observer(session(port="0", host="0.0.0.0", **conf), coordinator)  # noqa: S104 - meant
        token = observer.url.partition("?token=")[2]
        observer.close()
        assert token
        assert (token in caplog.text) is is_shown
