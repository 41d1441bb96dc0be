"""The options that hold secrets: masked in messages, rejected in files, and redacted by Spark.

The patterns mean the same to Python and to Java, where Spark's redaction applies them, and they ignore case. Spark
matches a pattern against keys and values, so it also finds a password inside the value of any option.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFamily:
    """Options whose keys have something in common."""

    pattern: str
    keys: tuple[str, ...]


_OAUTH: Final = "kafka.sasl.oauthbearer"

SECRET_FAMILIES: Final = (
    KeyFamily(
        pattern=r"passw|passphrase",
        keys=(
            "password",
            "kafka.sasl.password",
            "kafka.ssl.key.password",
            "kafka.ssl.keystore.password",
            "kafka.ssl.truststore.password",
            "properties.ssl.key.password",
            f"{_OAUTH}.assertion.private.key.passphrase",
        ),
    ),
    KeyFamily(pattern=r"jaas", keys=("kafka.sasl.jaas.config", "properties.sasl.jaas.config")),
    KeyFamily(
        pattern=r"secret|token|credential|authorization",
        keys=(
            f"{_OAUTH}.client.secret",
            f"{_OAUTH}.client.credentials.client.secret",
            "fs.s3a.secret.key",
            "fs.s3a.session.token",
            "aws.credentials",
            "http.header.Authorization",
        ),
    ),
    KeyFamily(pattern=r"oauthbearer\.(?:config|extensions)", keys=(f"{_OAUTH}.config", f"{_OAUTH}.extensions")),
    KeyFamily(
        pattern=r"\.pem$|\.key$|(?:^|[-_.])pwd$",
        keys=(
            "kafka.ssl.key.pem",
            "kafka.ssl.ca.pem",
            "kafka.ssl.keystore.key",
            "properties.ssl.keystore.key",
            f"{_OAUTH}.assertion.private.key.pem",
            "fs.s3a.server-side-encryption.key",
            "db.pwd",
        ),
    ),
    KeyFamily(
        pattern=r"(?:access|sas|api|private|account|secret|encryption)[-_.]?key|shared[-_.]?access|\.sas\.",
        keys=(
            "accessKey",
            "fs.s3a.access.key",
            "sasKey",
            "apiKey",
            "api-key",
            "ssl.private_key",
            "fs.azure.account.key.store.blob.core.windows.net",
            "fs.azure.sas.box.store.blob.core.windows.net",
            "SharedAccessKey",
        ),
    ),
    KeyFamily(pattern=r"user[-_.]?info", keys=("value.avro-confluent.basic-auth.user-info",)),
)
"""The values are secrets."""

PRIVATE_FAMILIES: Final = (
    KeyFamily(pattern=r"sasl\.username", keys=("kafka.sasl.username",)),
    KeyFamily(
        pattern=r"key\.(?:location|file)$", keys=("kafka.ssl.key.location", f"{_OAUTH}.assertion.private.key.file")
    ),
)
"""librdkafka keeps these out of its logs too. They are no secrets, and leave Spark's plans only."""

_VALUES: Final = (
    r"://[^/\s:@?#]*:(?P<login>[^/\s@]+)@",
    r"(?:^|[?&;\s])(?:password|pwd)\s?=\s?['\"]?(?P<parameter>[^&;\s'\"]+)",
    r"authorization: ?(?:bearer|basic) (?P<header>\S+)",
    r"(?:SharedAccessKey|AccountKey|SharedAccessSignature)=(?P<azure>[^;\s]+)",
    r"[?&;]sig=(?P<signature>[^&;\s]+)",
)
_VALUE: Final = re.compile("|".join(_VALUES), re.IGNORECASE)
_GROUP_NAME: Final = re.compile(r"\?P<\w+>")
_KEY: Final = re.compile("|".join(family.pattern for family in SECRET_FAMILIES), re.IGNORECASE)
_NO_SECRET: Final = re.compile(
    r"\.(?:url|uri|location|file|path|class|type|mechanism|certificate\.pem)$|^ssl\.key$|credentials-source$",
    re.IGNORECASE,
)
"""MySQL's ``ssl.key`` is the path of a file."""


def is_secret_key(key: str) -> bool:
    """Return whether the value of an option is a secret: a password, key, token or the like."""
    return bool(_KEY.search(key)) and not _NO_SECRET.search(key)


def key_words() -> str:
    """Return the pattern of what secret keys contain; what they only end with is left out."""
    return "|".join(family.pattern for family in SECRET_FAMILIES if "$" not in family.pattern)


def secret_values(value: str) -> tuple[str, ...]:
    """Return the secrets inside the value of any option: passwords in URLs, keys in connection strings."""
    return tuple(group for match in _VALUE.finditer(value) for group in match.groups() if group is not None)


def redaction_pattern() -> str:
    """Return the pattern, in Java's syntax, by which Spark finds options that must not be shown."""
    keys = (family.pattern for family in (*SECRET_FAMILIES, *PRIVATE_FAMILIES))
    return f"(?i:{'|'.join((*keys, *(_GROUP_NAME.sub('?:', value) for value in _VALUES)))})"
