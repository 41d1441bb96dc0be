"""Amazon MSK's login by AWS IAM, as Java's clients configure it."""

from __future__ import annotations

import importlib.util
import sys
import types
from urllib.parse import parse_qsl

import pytest

from datasources.errors import OptionError
from datasources.kafka.client.client_config import client_config
from datasources.kafka.login import msk_iam
from datasources.kafka.login.code_options import code_settings
from datasources.kafka.login.msk_iam import msk_token

HOSTS = "b-1.demo.x1y2z3.c2.kafka.eu-north-1.amazonaws.com:9098,b-2.demo.x1y2z3.c2.kafka.eu-north-1.amazonaws.com:9098"
SERVERLESS = "boot-x1y2z3.c2.kafka-serverless.us-gov-west-1.amazonaws.com:9098"
MODULE = "software.amazon.msk.auth.iam.IAMLoginModule required"
MSK = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "AWS_MSK_IAM",
    "sasl.jaas.config": f"{MODULE};",
    "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler",
}
BY_OAUTH = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.jaas.config": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
    "sasl.login.callback.handler.class": "software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler",
}


class Signer:
    """Amazon's package, as far as it is used: which function was called, with what."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    def generate_auth_token(self, region):
        self.calls.append(("default", region))
        return "token", 1_900_000_000_123

    def generate_auth_token_from_profile(self, region, aws_profile):
        self.calls.append(("profile", region, aws_profile))
        return "token", 1_900_000_000_123

    def generate_auth_token_from_role_arn(self, region, role_arn, sts_session_name):
        self.calls.append(("role", region, role_arn, sts_session_name))
        return "token", 1_900_000_000_123


@pytest.fixture(autouse=True)
def signer(monkeypatch):
    found = Signer()
    package = types.ModuleType("aws_msk_iam_sasl_signer")
    package.__spec__ = importlib.util.spec_from_loader(package.__name__, None)
    monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.setitem(sys.modules, f"{package.__name__}.MSKAuthTokenProvider", found)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    return found


def settings(given, servers=HOSTS):
    options = {"bootstrap.servers": servers, **given}
    return dict(client_config({f"kafka.{name}": value for name, value in options.items() if value is not None}))


def refusal(given, servers=HOSTS):
    with pytest.raises(OptionError) as caught:
        settings(given, servers)
    return caught.value.message


@pytest.mark.parametrize("given", [MSK, BY_OAUTH, {**MSK, "sasl.jaas.config": None}])
def test_javas_settings_become_oauth_with_a_provider(given, signer):
    found = settings(given)
    provider, config = found.pop("sasl.oauthbearer.token.provider"), found.pop("sasl.oauthbearer.config")
    assert provider == "datasources.kafka.login.msk_iam:msk_token"
    assert found == {"bootstrap.servers": HOSTS, "security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER"}
    assert msk_token(config) == ("token", 1_900_000_000.123)
    assert signer.calls == [("default", "eu-north-1")]


@pytest.mark.parametrize(
    ("fields", "servers", "call"),
    [
        ('awsProfileName="my profile&role=x"', HOSTS, ("profile", "eu-north-1", "my profile&role=x")),
        (
            'awsRoleArn="arn:aws:iam::1:role/r" awsDebugCreds="true"',
            SERVERLESS,
            ("role", "us-gov-west-1", "arn:aws:iam::1:role/r", "aws-msk-iam-auth"),
        ),
        (
            "awsRoleArn='arn:aws:iam::1:role/r' awsRoleSessionName='me'",
            HOSTS,
            ("role", "eu-north-1", "arn:aws:iam::1:role/r", "me"),
        ),
    ],
)
def test_the_fields_of_the_line_name_the_identity(fields, servers, call, signer):
    msk_token(settings({**MSK, "sasl.jaas.config": f"{MODULE} {fields};"}, servers)["sasl.oauthbearer.config"])
    assert signer.calls == [call]


def test_no_credentials_are_an_error_with_the_reason(signer, monkeypatch):
    monkeypatch.setattr(signer, "generate_auth_token", lambda _: getattr(None, "access_key"))  # noqa: B009 - as there
    with pytest.raises(LookupError, match="no AWS credentials"):
        msk_token("region=eu-north-1")


def test_other_names_of_the_hosts_need_a_region_and_a_permission(monkeypatch, signer):
    given = settings(MSK, "broker.example:9098")
    assert dict(parse_qsl(given["sasl.oauthbearer.config"])) == {}
    with pytest.raises(OptionError, match="AWS_REGION"):
        msk_token(given["sasl.oauthbearer.config"])
    monkeypatch.setenv("AWS_DEFAULT_REGION", "ap-south-1")
    msk_token(given["sasl.oauthbearer.config"])
    assert signer.calls == [("default", "ap-south-1")]


@pytest.mark.parametrize(
    ("servers", "is_free"),
    [
        (HOSTS, True),
        (SERVERLESS, True),
        (f"{HOSTS},evil.example:9098", False),
        ("b-1.x.c2.kafka.eu-north-1.amazonaws.com.evil.example:9098", False),
        ("evil.example/.kafka.eu-north-1.amazonaws.com:9098,b", False),
        (f"{HOSTS},{SERVERLESS}", False),
        ("", False),
    ],
)
def test_a_token_goes_to_amazons_hosts_unless_an_administrator_allows_others(servers, is_free):
    found = list(code_settings({"bootstrap.servers": servers, **MSK}))
    assert [name for name, _ in found] == [] if is_free else ["bootstrap.servers"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"security.protocol": "SASL_PLAINTEXT"}, "'SASL_SSL'"),
        ({"security.protocol": None}, "'SASL_SSL'"),
        ({"sasl.client.callback.handler.class": "org.example.Handler"}, "a class that the login by AWS IAM does not"),
        ({"sasl.jaas.config": "org.example.LoginModule required;"}, "a login module that the login by AWS IAM"),
        ({"sasl.jaas.config": f'{MODULE} awsRoleExternalId="x";'}, "'awsRoleExternalId'"),
        ({"sasl.jaas.config": f'{MODULE} awsStsRegion="x";'}, "'awsStsRegion'"),
        ({"sasl.jaas.config": f'{MODULE} awsProfileName="x" awsRoleArn="y";'}, "set one of them"),
        ({"sasl.jaas.config": f'{MODULE} awsRoleSessionName="y";'}, "without awsRoleArn"),
    ],
)
def test_what_has_no_counterpart_is_refused(changes, reason):
    assert reason in refusal({**MSK, **changes})


def test_without_amazons_package_the_way_on_is_named(monkeypatch):
    monkeypatch.setattr(msk_iam, "_SIGNER", "no_such_package")
    assert "pip install 'tidemark-spark[msk]'" in refusal(MSK)
