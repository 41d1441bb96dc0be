"""Settings of clients that load a library, run a command or code, or send a file or an identity to a server.

By these settings a table's options can run code on the driver and on every executor. A test checks the list against
the settings of the installed librdkafka.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from datasources.kafka.login.msk_iam import msk_code_settings
from datasources.kafka.login.token_provider import PROVIDER

CODE_SETTINGS: Final[Mapping[str, str]] = {
    "plugin.library.paths": "loads libraries",
    "ssl.engine.location": "loads a library",
    "ssl.engine.id": "loads a library",
    "ssl.providers": "loads libraries",
    "sasl.kerberos.kinit.cmd": "runs a command",
    PROVIDER: "calls a function of Python",
    "sasl.oauthbearer.assertion.file": "sends a file of the driver and the executors to a server",
    "sasl.oauthbearer.assertion.private.key.file": "signs with a file of the driver and the executors",
    "sasl.oauthbearer.assertion.jwt.template.file": "sends a file of the driver and the executors to a server",
}
"""The settings and their effects."""

# librdkafka inserts them into the kinit command, which a shell runs.
_IN_COMMAND: Final = frozenset({"sasl.kerberos.principal", "sasl.kerberos.keytab", "sasl.kerberos.service.name"})
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./@:+=,~-]*")
_URLS: Final = frozenset({"sasl.oauthbearer.token.endpoint.url"})
_URL: Final = re.compile(r"https?://", re.IGNORECASE)


def code_settings(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (setting, effect) for each setting that requires an administrator's permission."""
    for name, value in settings.items():
        if name in CODE_SETTINGS:
            yield name, CODE_SETTINGS[name]
        elif name in _IN_COMMAND and not _PLAIN.fullmatch(value):
            yield name, "is put into a command that a shell runs, unquoted"
        elif name in _URLS and not _URL.match(value):
            yield name, "opens something else than a web address"
    yield from msk_code_settings(settings)
