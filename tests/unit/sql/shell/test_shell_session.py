"""The address of a Spark Connect server is looked at before Spark's client tries it for minutes."""

from __future__ import annotations

import socket

import pytest

from datasources.errors import EnvironmentProblem, OptionError
from datasources.sql.shell.shell_session import start_session


@pytest.mark.parametrize(
    "address", ["127.0.0.1:15002", "http://spark.example", "sc://spark.example:99999", "sc:///", ""]
)
def test_an_address_that_is_none_is_refused_with_one_that_is(address: str):
    with pytest.raises(
        OptionError, match=r"is no address of a Spark Connect server: write sc://host or sc://host:15002"
    ):
        start_session({"spark.remote": address})


def test_a_server_that_does_not_listen_is_an_error_at_once():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]  # bound, and not listened at
        with pytest.raises(EnvironmentProblem, match=rf"no Spark Connect server answers at 127\.0\.0\.1:{port}: "):
            start_session({"spark.remote": f"sc://127.0.0.1:{port}/;user_id=me"})
