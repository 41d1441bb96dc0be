"""What `tidemark mysql sync` makes of its options."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError
from datasources.sync.sync_request import SyncRequest, parse_target

LOGIN = {"hostname": "db", "username": "u", "password": "secret"}


def request(**changes: object) -> SyncRequest:
    return SyncRequest(**{"source_options": LOGIN, "database": "shop", "directory": "/lake", **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "directory"),
    [("delta:/lake", "/lake"), ("delta:/lake//", "/lake"), ("delta:s3a://bucket/a", "s3a://bucket/a")],
)
def test_a_target_is_a_directory_of_tables(text: str, directory: str):
    assert parse_target(text) == directory


@pytest.mark.parametrize("text", ["/lake", "delta:", "delta:/", "iceberg:/lake", ""])
def test_another_target_is_refused_with_an_example(text: str):
    with pytest.raises(OptionError, match="write delta:/directory"):
        parse_target(text)


def test_names_of_tables_become_names_of_directories():
    wanted = request()
    assert wanted.copy_of("order items/2") == "/lake/order%20items%2F2"
    assert wanted.checkpoint_of("orders") == "/lake/_checkpoints/orders"
    assert wanted.captured("a.b").tables == r"a\.b"


def test_tables_are_chosen_by_whole_names():
    wanted = request(tables="order.*", exclude=".*_old")
    names = ["orders", "orders_old", "reorders", "order_items"]
    assert [name for name in names if wanted.wants("shop", name)] == ["orders", "order_items"]
    assert not wanted.wants("shop2", "orders")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source_options": {**LOGIN, "schema": "id INT"}}, "option 'schema' is set by the command itself"),
        ({"source_options": {**LOGIN, "On-Rewrite-DDL": "fail"}}, "'on-rewrite-ddl' is set by the command itself"),
        ({"tables": "("}, "'\\(' is no regular expression"),
        ({"exclude": "["}, "'\\[' is no regular expression"),
        ({"interval": "soon"}, "--interval"),
        ({"restarts": -1}, "--restarts -1 is no number of restarts"),
    ],
)
def test_wrong_options_are_refused(changes: dict[str, object], message: str):
    with pytest.raises(OptionError, match=message):
        request(**changes)


def test_the_password_is_not_shown():
    assert "secret" not in repr(request())
    assert request().connection.password == "secret"
    assert str(request().connection) == "u@db:3306"


def test_a_run_ends_or_waits_between_batches():
    assert request(is_once=True).trigger == {"availableNow": True}
    assert request(interval="2 s").trigger == {"processingTime": "2000 milliseconds"}
