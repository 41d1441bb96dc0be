"""The options of a schema registry, as Flink's formats with a registry name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from datasources.errors import OptionError
from datasources.formats.api.format import FormatOption
from datasources.options import Secret

_SOURCES: Final = {"basic-auth": ("USER_INFO", "URL"), "bearer-auth": ("STATIC_TOKEN",)}
_STORE: Final = (
    "Flink's, which names a Java key store. Only PEM files are read here: `ssl.ca.location`, "
    "`ssl.certificate.location` and `ssl.key.location`."
)
REGISTRY_OPTIONS: Final = (
    FormatOption(key="url", type=str, description="The registry's URL; several are separated by commas."),
    FormatOption(
        key="subject",
        type=str,
        description="The subject whose newest schema gives the columns where the table declares none. Default: the "
        "topic and `-value`, or `-key`.",
    ),
    FormatOption(key="basic-auth.credentials-source", type=str, description="`USER_INFO` or `URL`."),
    FormatOption(key="basic-auth.user-info", type=Secret, description="User and password, with a colon between them."),
    FormatOption(key="bearer-auth.credentials-source", type=str, description="`STATIC_TOKEN`."),
    FormatOption(key="bearer-auth.token", type=Secret, description="The token, which is sent as it is."),
    FormatOption(key="bearer-auth.logical-cluster", type=str, description="Confluent Cloud's name of the registry."),
    FormatOption(key="bearer-auth.identity-pool-id", type=str, description="Confluent Cloud's identity pool."),
    FormatOption(
        key="ssl.ca.location", type=str, description="A file of certificates that the registry's is checked by."
    ),
    FormatOption(key="ssl.certificate.location", type=str, description="The client's certificate, a PEM file."),
    FormatOption(key="ssl.key.location", type=str, description="The client's private key, a PEM file."),
    FormatOption(key="ssl.key.password", type=Secret, description="The password of the private key."),
    *(
        FormatOption(key=f"ssl.{store}.{part}", type=Secret if part == "password" else str, description=_STORE)
        for store in ("keystore", "truststore")
        for part in ("location", "password")
    ),
)


@dataclass(frozen=True, slots=True)
class RegistrySettings:
    """How a registry is reached; pickled to executors.

    Attributes:
        url: one URL, or several with commas between them.
        client: settings of Confluent's client but the URL; they may hold secrets.
    """

    url: str
    client: tuple[tuple[str, str], ...] = field(default=(), repr=False)


def registry_settings(options: Mapping[str, Any], format_name: str) -> RegistrySettings:
    """Return how the registry of a format's options is reached.

    Args:
        options: the format's options that were set, by their keys.
        format_name: begins the options' names in errors.

    Raises:
        OptionError: an option is missing or wrong, or contradicts another one.
    """
    _check_url(options.get("url"), format_name)
    _refuse_key_stores(options, format_name)
    client = {key: str(options[key]) for key in options if key.startswith("ssl.")}
    if "ssl.key.location" in client and "ssl.certificate.location" not in client:
        raise OptionError(f"option '{format_name}.ssl.key.location' needs '{format_name}.ssl.certificate.location'.")
    client |= _basic_auth(options, format_name)
    bearer = _bearer_auth(options, format_name)
    if bearer and "basic.auth.user.info" in client:
        raise OptionError(
            f"'{format_name}' has options of basic-auth and of bearer-auth: a registry takes one of them."
        )
    return RegistrySettings(str(options["url"]), tuple(sorted((client | bearer).items())))


def _check_url(url: object, format_name: str) -> None:
    if not url:
        raise OptionError(f"the format '{format_name}' needs '{format_name}.url', the URL of the schema registry.")
    for each in str(url).split(","):
        found = urlsplit(each.strip())
        if found.scheme not in {"http", "https"} or not found.hostname:
            raise OptionError(f"option '{format_name}.url': a registry's URL is http://host:port or https://host:port.")


def _refuse_key_stores(options: Mapping[str, Any], format_name: str) -> None:
    for key in options:
        if key.startswith(("ssl.keystore.", "ssl.truststore.")):
            raise OptionError(
                f"option '{format_name}.{key}' is of a Java key store, and only PEM files are read here: export it "
                f"(keytool -importkeystore -deststoretype PKCS12, then openssl pkcs12) and give "
                f"'{format_name}.ssl.ca.location', '{format_name}.ssl.certificate.location' and "
                f"'{format_name}.ssl.key.location'."
            )


def _basic_auth(options: Mapping[str, Any], format_name: str) -> dict[str, str]:
    source, info = options.get("basic-auth.credentials-source", "USER_INFO"), options.get("basic-auth.user-info")
    _check_source("basic-auth", source, format_name)
    if info is None and source == "USER_INFO":
        if "basic-auth.credentials-source" in options:
            raise OptionError(f"option '{format_name}.basic-auth.credentials-source' needs its 'basic-auth.user-info'.")
        return {}
    if source == "URL" or info is None:
        return {}
    if ":" not in info:
        raise OptionError(f"option '{format_name}.basic-auth.user-info' is a user, a colon and a password.")
    if any(urlsplit(each).username for each in str(options["url"]).split(",")):
        raise OptionError(
            f"'{format_name}.url' has a user, and there is '{format_name}.basic-auth.user-info': give one."
        )
    return {"basic.auth.user.info": info}


def _bearer_auth(options: Mapping[str, Any], format_name: str) -> dict[str, str]:
    names = [key for key in options if key.startswith("bearer-auth.")]
    if not names:
        return {}
    _check_source("bearer-auth", options.get("bearer-auth.credentials-source", "STATIC_TOKEN"), format_name)
    if "bearer-auth.token" not in options:
        raise OptionError(f"option '{format_name}.{names[0]}' needs '{format_name}.bearer-auth.token'.")
    found = {
        "bearer.auth.credentials.source": "STATIC_TOKEN",
        "bearer.auth.token": options["bearer-auth.token"],
        "bearer.auth.logical.cluster": options.get("bearer-auth.logical-cluster", ""),
    }
    if "bearer-auth.identity-pool-id" in options:
        found["bearer.auth.identity.pool.id"] = options["bearer-auth.identity-pool-id"]
    return found


def _check_source(kind: str, source: str, format_name: str) -> None:
    if source not in _SOURCES[kind]:
        listed = " or ".join(f"'{each}'" for each in _SOURCES[kind])
        raise OptionError(f"option '{format_name}.{kind}.credentials-source' is {listed} here, not '{source}'.")
