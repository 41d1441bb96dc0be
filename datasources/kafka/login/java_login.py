"""Translates logins as Java's clients configure them: a JAAS line and callback handlers.

What means exactly the same to librdkafka is translated: user and password for PLAIN and SCRAM, and for OAUTHBEARER the
client credentials of an OIDC token endpoint; Amazon's login is in `msk_iam`. Everything else is rejected with the name
of librdkafka's setting. No message holds a value of the line.

Source: Kafka's PlainLoginModule, ScramLoginModule and OAuthBearerLoginModule (KIP-768).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from datasources.errors import OptionError
from datasources.kafka.login.msk_iam import is_msk_login, msk_login
from datasources.kafka.login.token_provider import PROVIDER

JAAS: Final = "sasl.jaas.config"
LOGIN_HANDLER: Final = "sasl.login.callback.handler.class"
CLIENT_HANDLER: Final = "sasl.client.callback.handler.class"
JAVA_LOGIN: Final = frozenset({JAAS, LOGIN_HANDLER, CLIENT_HANDLER})
"""The settings that `java_login` translates."""

_PREFIX: Final = "org.apache.kafka.common.security.oauthbearer."
_OIDC_HANDLERS: Final = frozenset(f"{_PREFIX}{package}OAuthBearerLoginCallbackHandler" for package in ("", "secured."))
_DEFAULT_CLIENT_HANDLER: Final = f"{_PREFIX}internals.OAuthBearerSaslClientCallbackHandler"
_UNSECURED_HANDLER: Final = "OAuthBearerUnsecuredLoginCallbackHandler"
_UNSECURED_CLAIM: Final = "unsecuredLogin"
_MODULE: Final = re.compile(r"\s*([\w.$]+)\s+(?:required|requisite|sufficient|optional)\b")
_FIELD: Final = re.compile(r"""\s*([\w.]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;"']+))""", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_METHOD: Final = "sasl.oauthbearer.method"
_ENDPOINT: Final = "sasl.oauthbearer.token.endpoint.url"
_OIDC_FIELDS: Final[Mapping[str, str]] = {
    "clientId": "sasl.oauthbearer.client.id",
    "clientSecret": "sasl.oauthbearer.client.secret",
    "scope": "sasl.oauthbearer.scope",
}
_ALIASES: Final[Mapping[str, str]] = {
    "sasl.oauthbearer.client.id": "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.secret": "sasl.oauthbearer.client.credentials.client.secret",
}
_EXTENSION: Final = "extension_"
_EXTENSIONS: Final = "sasl.oauthbearer.extensions"
_UNSECURED: Final = (
    "unsecured tokens are for tests. librdkafka makes them with 'kafka.enable.sasl.oauthbearer.unsecure.jwt' = 'true' "
    "and 'kafka.sasl.oauthbearer.config' = 'principal=...'; for a token endpoint set 'kafka.sasl.oauthbearer.method' = "
    "'oidc'"
)


def java_login(given: Mapping[str, str]) -> dict[str, str]:
    """Return librdkafka's settings for the `JAVA_LOGIN` among settings without prefix.

    Raises:
        OptionError: the login has no exact counterpart, or contradicts a setting of librdkafka's own.
    """
    if is_msk_login(given):
        module, fields = _module_and_fields(given.get(JAAS, ""))
        return msk_login(given, module, fields)
    found = {**_jaas(given), **_handlers(given)}
    for name, value in found.items():
        for own in (name, _ALIASES.get(name, name)):
            if given.get(own, value) != value:
                raise OptionError(f"options 'kafka.{JAAS}' and 'kafka.{own}' differ: set one of them.")
    return found


def _handlers(given: Mapping[str, str]) -> dict[str, str]:
    client = given.get(CLIENT_HANDLER, _DEFAULT_CLIENT_HANDLER).strip()
    if client != _DEFAULT_CLIENT_HANDLER:
        raise OptionError(
            f"option 'kafka.{CLIENT_HANDLER}' names a class, and the reader is not Java: use librdkafka's sasl.* "
            f"settings."
        )
    login = given.get(LOGIN_HANDLER, "").strip()
    if not login:
        return {}
    if login.endswith(_UNSECURED_HANDLER):
        raise OptionError(f"option 'kafka.{LOGIN_HANDLER}': {_UNSECURED}.")
    if login not in _OIDC_HANDLERS:
        raise OptionError(
            f"option 'kafka.{LOGIN_HANDLER}' names a class, and the reader is not Java. A token endpoint (OIDC) is "
            f"'kafka.{_METHOD}' = 'oidc' with 'kafka.{_ENDPOINT}', 'kafka.sasl.oauthbearer.client.id' and "
            f"'kafka.sasl.oauthbearer.client.secret'; managed identities of Azure are "
            f"'kafka.sasl.oauthbearer.metadata.authentication.type' = 'azure_imds'; a function of Python is "
            f"'kafka.{PROVIDER}' = 'module:function'."
        )
    if not given.get(_ENDPOINT):
        raise OptionError(
            f"option 'kafka.{LOGIN_HANDLER}' needs 'kafka.{_ENDPOINT}': the URL of the token endpoint of OAuth."
        )
    return {_METHOD: "oidc"}


def _jaas(given: Mapping[str, str]) -> dict[str, str]:
    text = given.get(JAAS)
    if text is None:
        return {}
    module, fields = _module_and_fields(text)
    kind = module.rpartition(".")[2]
    if kind in ("PlainLoginModule", "ScramLoginModule"):
        return _password_login(fields)
    if kind == "OAuthBearerLoginModule":
        return _oauth_login(fields, given)
    raise OptionError(
        f"option 'kafka.{JAAS}' names a login module that exists in Java only. Use 'kafka.sasl.mechanism' with "
        f"'kafka.sasl.username' and 'kafka.sasl.password', or librdkafka's settings for Kerberos (sasl.kerberos.*) and "
        f"OAuth (sasl.oauthbearer.*)."
    )


def _module_and_fields(text: str) -> tuple[str, dict[str, str]]:
    """Return the login module's class and its fields; nothing for a text that begins otherwise."""
    module = _MODULE.match(text)
    return ("", {}) if module is None else (module[1], _fields(text, module.end()))


def _fields(text: str, position: int) -> dict[str, str]:
    """Return the fields that begin at a position; there is one login only."""
    fields: dict[str, str] = {}
    while (found := _FIELD.match(text, position)) is not None:
        fields[found[1]] = _unescaped(found)
        position = found.end()
    if text[position:].strip() not in ("", ";"):
        raise OptionError(
            f'option \'kafka.{JAAS}\' is malformed: write one login, MODULE required NAME="VALUE" NAME="VALUE";'
        )
    return fields


def _unescaped(field: re.Match[str]) -> str:
    quoted = next((text for text in (field[2], field[3]) if text is not None), None)
    return field[4] if quoted is None else _ESCAPE.sub(r"\1", quoted)


def _password_login(fields: Mapping[str, str]) -> dict[str, str]:
    if "tokenauth" in fields:
        raise OptionError(f"option 'kafka.{JAAS}' has 'tokenauth': librdkafka has no login by delegation tokens.")
    _reject_others(fields, ("username", "password"))
    if set(fields) != {"username", "password"}:
        raise OptionError(f"option 'kafka.{JAAS}' has no username or no password.")
    return {f"sasl.{key}": value for key, value in fields.items()}


def _oauth_login(fields: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    if LOGIN_HANDLER not in given and given.get(_METHOD) != "oidc":
        raise OptionError(
            f"option 'kafka.{JAAS}' names OAuthBearerLoginModule without 'kafka.{LOGIN_HANDLER}': {_UNSECURED}."
        )
    extensions = {name: value for name, value in fields.items() if name.startswith(_EXTENSION)}
    _reject_others(fields, (*_OIDC_FIELDS, *extensions))
    found = {setting: fields[name] for name, setting in _OIDC_FIELDS.items() if name in fields}
    if extensions:
        if any("," in value or "=" in value for value in extensions.values()):
            raise OptionError(f"option 'kafka.{JAAS}': an extension holds ',' or '=', which librdkafka splits at.")
        pairs = (f"{name.removeprefix(_EXTENSION)}={value}" for name, value in extensions.items())
        found[_EXTENSIONS] = ",".join(pairs)
    return found


def _reject_others(fields: Mapping[str, str], known: tuple[str, ...]) -> None:
    other = next((name for name in fields if name not in known), None)
    if other is None:
        return
    hint = " Certificates for the token endpoint are 'kafka.https.ca.location'." if other.startswith("ssl.") else ""
    reason = _UNSECURED if other.startswith(_UNSECURED_CLAIM) else "it has no counterpart in librdkafka"
    raise OptionError(f"option 'kafka.{JAAS}' has the field '{other}': {reason}.{hint}")
