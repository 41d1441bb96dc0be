"""Amazon MSK's login by AWS IAM: OAuth's mechanism with a request that AWS signs as its token.

Java's clients have a mechanism of their own for it (aws-msk-iam-auth); its settings are translated. The token is made
by Amazon's package aws-msk-iam-sasl-signer-python from the identity of the process: environment, profile, instance or
pod.

Source: aws-msk-iam-auth, README; "IAM access control" in the MSK developer guide.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import parse_qsl, urlencode

from datasources.errors import OptionError
from datasources.kafka.login.token_provider import CONFIG, MECHANISMS, PROVIDER

_CLASSES: Final = "software.amazon.msk."
_MECHANISM: Final = "AWS_MSK_IAM"
_MODULE: Final = f"{_CLASSES}auth.iam.IAMLoginModule"
_HANDLERS: Final[Mapping[str, str]] = {
    "sasl.client.callback.handler.class": f"{_CLASSES}auth.iam.IAMClientCallbackHandler",
    "sasl.login.callback.handler.class": f"{_CLASSES}auth.iam.IAMOAuthBearerLoginCallbackHandler",
}
_JAAS: Final = "sasl.jaas.config"
_PROTOCOL: Final = "security.protocol"
_NAME: Final = f"{__name__}:msk_token"
_FIELDS: Final[Mapping[str, str]] = {
    "awsProfileName": "profile",
    "awsRoleArn": "role",
    "awsRoleSessionName": "session",
}
_WITHOUT_EFFECT: Final = frozenset({"awsDebugCreds", "awsMaxRetries", "awsMaxBackOffTimeMs"})
_SESSION: Final = "aws-msk-iam-auth"  # the default of Java's clients
_HOST: Final = re.compile(r"[^,\s]+\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?(?::\d+)?")
_REGIONS: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_SIGNER: Final = "aws_msk_iam_sasl_signer"
_PACKAGE: Final = "pip install 'tidemark-spark[msk]'"


def is_msk_login(given: Mapping[str, str]) -> bool:
    """Whether settings without prefix are of this login, as Java's clients write it."""
    if any(given.get(name, "").strip().upper() == _MECHANISM for name in MECHANISMS):
        return True
    return any(given.get(name, "").strip().startswith(_CLASSES) for name in (_JAAS, *_HANDLERS))


def msk_login(given: Mapping[str, str], module: str, fields: Mapping[str, str]) -> dict[str, str]:
    """Return librdkafka's settings for this login.

    Args:
        given: settings without prefix.
        module: the class in the JAAS line; empty without one.
        fields: those of the JAAS line.

    Raises:
        OptionError: the login has a field or class without counterpart, the connection is not encrypted, or Amazon's
            package is not installed.
    """
    for name, known in _HANDLERS.items():
        if given.get(name, known).strip() != known:
            raise OptionError(f"option 'kafka.{name}' names a class that the login by AWS IAM does not have.")
    if module and module != _MODULE and not module.endswith(".OAuthBearerLoginModule"):
        raise OptionError(f"option 'kafka.{_JAAS}' names a login module that the login by AWS IAM does not have.")
    if given.get(_PROTOCOL, "").strip().upper() != "SASL_SSL":
        raise OptionError(f"the login by AWS IAM needs 'kafka.{_PROTOCOL}' = 'SASL_SSL': its tokens must be encrypted.")
    if importlib.util.find_spec(_SIGNER) is None:
        raise OptionError(
            f"the login by AWS IAM needs aws-msk-iam-sasl-signer-python on the driver and on executors: {_PACKAGE}"
        )
    asked = _identity(fields)
    if region := _region(given.get("bootstrap.servers", "")):
        asked["region"] = region
    mechanism = next((name for name in MECHANISMS if name in given), MECHANISMS[0])
    return {mechanism: "OAUTHBEARER", PROVIDER: _NAME, CONFIG: urlencode(asked)}


def _identity(fields: Mapping[str, str]) -> dict[str, str]:
    """Return whose token is wanted, from the fields of a JAAS line."""
    if other := next((name for name in fields if name not in _FIELDS and name not in _WITHOUT_EFFECT), None):
        raise OptionError(
            f"option 'kafka.{_JAAS}' has the field '{other}', which Amazon's package for Python does not know. Write a "
            f"function that makes the token, and set 'kafka.{PROVIDER}' = 'module:function'."
        )
    asked = {own: fields[name] for name, own in _FIELDS.items() if name in fields}
    if "profile" in asked and "role" in asked:
        raise OptionError(f"option 'kafka.{_JAAS}' has awsProfileName and awsRoleArn: set one of them.")
    if "session" in asked and "role" not in asked:
        raise OptionError(f"option 'kafka.{_JAAS}' has awsRoleSessionName without awsRoleArn.")
    return {**asked, "session": asked.get("session", _SESSION)} if "role" in asked else asked


def msk_code_settings(given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (setting, effect) where a token would leave for a host that is not Amazon's."""
    if is_msk_login(given) and not _region(given.get("bootstrap.servers", "")):
        yield "bootstrap.servers", "sends tokens of the application's AWS identity to hosts that are not Amazon MSK's"


def msk_token(config: str) -> tuple[str, float]:
    """Return a token and its end, in seconds since the epoch; see `token_provider`.

    Raises:
        OptionError: nothing names the region.
        LookupError: there are no credentials.
        Exception: of Amazon's package, such as that there is no such profile.
    """
    asked = dict(parse_qsl(config))
    region = asked.get("region") or next((os.environ[name] for name in _REGIONS if os.environ.get(name)), None)
    if region is None:
        raise OptionError(
            "the login by AWS IAM needs a region: kafka.bootstrap.servers are no hosts of Amazon MSK, and AWS_REGION "
            "is not set in this process."
        )
    signer = importlib.import_module(f"{_SIGNER}.MSKAuthTokenProvider")
    try:
        if "role" in asked:
            token, ends_ms = signer.generate_auth_token_from_role_arn(region, asked["role"], asked["session"])
        elif "profile" in asked:
            token, ends_ms = signer.generate_auth_token_from_profile(region, asked["profile"])
        else:
            token, ends_ms = signer.generate_auth_token(region)
    except AttributeError as error:  # it reads the keys of credentials that are None
        raise LookupError("Amazon's package found no AWS credentials in this process") from error
    return token, ends_ms / 1000


def _region(servers: str) -> str | None:
    """Return the region of MSK's hosts; None if one of them is no such host, or they are of several regions."""
    hosts = [host.strip() for host in servers.split(",") if host.strip()]
    found = {match[1] if (match := _HOST.fullmatch(host)) else None for host in hosts}
    return found.pop() if len(found) == 1 else None
