"""OAuth's tokens from a function of Python."""

from __future__ import annotations

import confluent_kafka
import pytest

from datasources.errors import OptionError, SourceUnavailable
from datasources.kafka.client.native_client import is_for_native
from datasources.kafka.login.token_provider import PROVIDER, Token, token_provider, with_token_provider
from watermark import SystemClock

FUTURE_S = 4_000_000_000
ANSWERS = {}


def answer(config):
    found = ANSWERS[config]
    if isinstance(found, Exception):
        raise found
    return found


def token(found):
    ANSWERS["asked"] = found
    provider = token_provider({PROVIDER: f"{__name__}:answer", "sasl.oauthbearer.config": "asked"})
    return provider.token()


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (("t", FUTURE_S), Token("t", FUTURE_S, "token", {})),
        (("t", FUTURE_S + 0.5, ""), Token("t", FUTURE_S + 0.5, "token", {})),
        (("t", FUTURE_S, "me"), Token("t", FUTURE_S, "me", {})),
        (("t", FUTURE_S, "me", {"a": "b"}), Token("t", FUTURE_S, "me", {"a": "b"})),
    ],
)
def test_the_answers_of_confluents_callback_are_tokens(found, expected):
    assert token(found) == expected


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ("t", "returns"),
        (("t",), "returns"),
        (("t", FUTURE_S, "me", {}, 1), "returns"),
        (("", FUTURE_S), "no text"),
        ((b"t", FUTURE_S), "no text"),
        (("t", "soon"), "no number"),
        (("t", True), "no number"),
        (("t", float("nan")), "no number"),
        (("t", 900), "has ended"),
        (("t", -1), "has ended"),
        (("t", FUTURE_S * 1_000), "milliseconds"),
        (("t", FUTURE_S, None), "principal"),
        (("t", FUTURE_S, "m\u00e9"), "principal"),
        (("t\n", FUTURE_S), "printable ASCII"),
        (("t", FUTURE_S, "me", {"a": 1}), "extensions"),
        (("t", FUTURE_S, "me", []), "extensions"),
    ],
)
def test_another_answer_is_an_error_that_does_not_hold_it(found, reason):
    with pytest.raises(SourceUnavailable, match=reason) as caught:
        token(found)
    assert "'t'" not in str(caught.value)


def test_an_error_of_the_function_is_logged_and_passed_on(caplog):
    with pytest.raises(SourceUnavailable, match="PermissionError: no credentials"):
        token(PermissionError("no credentials"))
    assert "token_provider_failed" in caplog.text
    assert "no credentials" in caplog.text


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("f", "write module:function"),
        ("a:b:c", "write module:function"),
        ("no.such.module:f", "No module named"),
        (f"{__name__}:nothing", "nothing"),
        (f"{__name__}:FUTURE_S", "is no function"),
    ],
)
def test_what_is_no_function_is_refused(name, reason):
    with pytest.raises(OptionError, match=reason):
        token_provider({PROVIDER: name})


def callback():
    found = with_token_provider({"bootstrap.servers": "b:1", PROVIDER: f"{__name__}:answer"})
    assert set(found) == {"bootstrap.servers", "oauth_cb"}
    return found["oauth_cb"]


def test_a_client_of_confluent_gets_the_function():
    ANSWERS[""] = ("t", FUTURE_S)
    ask = callback()
    ANSWERS[""] = ("u", FUTURE_S)
    assert [ask("") for _ in range(2)] == [("t", FUTURE_S, "token", {}), ("u", FUTURE_S, "token", {})]
    assert with_token_provider({"a": "b"}) == {"a": "b"}


def test_without_a_first_token_the_client_is_not_opened():
    ANSWERS[""] = PermissionError("no credentials")
    with pytest.raises(SourceUnavailable, match="gave no token: PermissionError: no credentials"):
        callback()


@pytest.mark.parametrize(("lifetime_s", "again"), [(60, "t"), (1, "none")])
def test_a_token_that_cannot_be_renewed_is_given_until_it_ends(lifetime_s, again):
    now_s = SystemClock().now_us() / 1e6
    ANSWERS[""] = ("t", now_s + lifetime_s)
    ask = callback()
    assert ask("")[0] == "t"
    ANSWERS[""] = PermissionError("no credentials")
    for _ in range(2):
        value, ends_s, *_ = ask("")
        assert (value, ends_s > now_s) == (again, True)
    ANSWERS[""] = ("u", now_s + 60)
    assert ask("")[0] == "u"


def test_a_provider_needs_no_python_per_record():
    assert is_for_native({"sasl.mechanism": "OAUTHBEARER", PROVIDER: "m:f"})


def test_an_older_confluent_kafka_would_ask_only_while_it_is_polled(monkeypatch):
    monkeypatch.setattr(confluent_kafka, "version", lambda: "2.12.1")
    with pytest.raises(OptionError, match=r"2\.13 or later; this is 2\.12\.1"):
        token_provider({PROVIDER: f"{__name__}:answer"})
