"""Translates Java client properties to librdkafka's.

`kafka.*` (Spark's prefix) and `properties.*` (Flink's) are equivalent. Most keys have the same name on both sides.
Those that the source sets itself are rejected; those that exist in Java only are translated (`java_login`,
`java_stores`) or rejected with a hint.
Secrets must not be logged: the result is a mapping whose repr masks them.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache

from datasources.errors import OptionError
from datasources.kafka.login.java_login import JAVA_LOGIN, java_login
from datasources.kafka.login.java_stores import JAVA_STORES, java_stores
from datasources.secret_keys import is_secret_key

_logger = logging.getLogger(__name__)

PREFIXES = ("kafka.", "properties.")

OWN_DEFAULTS = {
    # librdkafka logs every failed connection to stderr, several times a second; our errors hold what matters.
    # `kafka.log_level` = 6 enables its log.
    "log_level": "2",
    # How long to wait for a broker that hangs; librdkafka's default is a minute.
    "socket.timeout.ms": "15000",
}

_OWNED = {
    "auto.offset.reset": "use startingOffsets or scan.startup.mode",
    "enable.auto.commit": "the checkpoint holds the positions; to show them in a consumer group as well set "
    "'commit.offsets.on.checkpoint'",
    "commit.offsets.on.checkpoint": "write it without a prefix, 'commit.offsets.on.checkpoint'",
    "enable.auto.offset.store": "the checkpoint holds the positions",
    "key.deserializer": "keys are read as bytes",
    "value.deserializer": "use the option 'format'",
    "key.serializer": "this is a source",
    "value.serializer": "this is a source",
    "interceptor.classes": "interceptors are Java classes; the reader is not Java",
    "enable.partition.eof": "the reader needs it on",
    "partition.assignment.strategy": "Spark assigns partitions to tasks",
    "group.instance.id": "Spark assigns partitions to tasks",
}
_JAVA_ONLY = {
    "security.providers": "this is a Java setting",
}
_RENAMED = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "request.timeout.ms": "socket.timeout.ms",
    "max.partition.fetch.bytes": "max.partition.fetch.bytes",
}
_IGNORED_JAVA = frozenset({"max.poll.records", "default.api.timeout.ms"})
_TRANSLATED = JAVA_LOGIN | JAVA_STORES
DEFAULT_GROUP = "tidemark"
"""The default consumer group. Nothing joins it and nothing is committed, but the client looks it up."""
_RACK = "client.rack"
_DEFAULT_LEVEL = "read_uncommitted"
_LEVELS = (_DEFAULT_LEVEL, "read_committed")
_POSITIVE = re.compile(r"[1-9][0-9]{0,8}")


class ClientConfig(Mapping[str, str]):
    """librdkafka settings; secrets are masked when it is printed.

    Args:
        settings: of librdkafka.
        api_timeout_ms: the bound of a metadata or offset request, over all its attempts.
        num_retries: how often an offset request that exceeded that bound is repeated.
        retry_interval_ms: the longest pause between two attempts.
        rack_variable: the environment variable of executors that holds their rack; None = none.
    """

    def __init__(
        self,
        settings: Mapping[str, str],
        *,
        api_timeout_ms: int = 30_000,
        num_retries: int = 0,
        retry_interval_ms: int = 1_000,
        rack_variable: str | None = None,
    ) -> None:
        self._settings = dict(settings)
        self.rack_variable = rack_variable
        self.api_timeout_ms = api_timeout_ms
        self.num_retries = num_retries
        self.retry_interval_ms = retry_interval_ms

    def __getitem__(self, key: str) -> str:
        return self._settings[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)

    def __repr__(self) -> str:
        shown = {key: "******" if is_secret_key(key) else value for key, value in sorted(self._settings.items())}
        return f"ClientConfig({shown})"

    def for_executor(self) -> ClientConfig:
        """Return the settings of a task's consumers: with the rack of this process, if a variable names it."""
        if self.rack_variable is None:
            return self
        rack = os.environ.get(self.rack_variable, "").strip()
        if not rack:
            _warn_of_rack(self.rack_variable)
            return self
        return ClientConfig(
            {**self._settings, _RACK: rack},
            api_timeout_ms=self.api_timeout_ms,
            num_retries=self.num_retries,
            retry_interval_ms=self.retry_interval_ms,
        )

    @property
    def request_timeout_ms(self) -> int:
        """The timeout of one attempt, at most `api_timeout_ms`."""
        own = self._settings.get("socket.timeout.ms", OWN_DEFAULTS["socket.timeout.ms"])
        return min(int(own), self.api_timeout_ms) if _POSITIVE.fullmatch(own) else self.api_timeout_ms

    @property
    def total_timeout_ms(self) -> int:
        """The bound of an offset request, all repetitions included."""
        return self.api_timeout_ms + self.num_retries * (self.api_timeout_ms + self.retry_interval_ms)

    @property
    def isolation_level(self) -> str:
        """The isolation level; the default is that of Java and of Spark's own source."""
        return self._settings.get("isolation.level", _DEFAULT_LEVEL)

    @property
    def bootstrap_servers(self) -> str:
        """The brokers, for messages."""
        return self._settings["bootstrap.servers"]


def client_config(
    options: Mapping[str, str],
    *,
    num_retries: int = 0,
    retry_interval_ms: int = 1_000,
    group_prefix: str | None = None,
    rack_variable: str | None = None,
) -> ClientConfig:
    """Return librdkafka's settings for the `kafka.*` and `properties.*` of `options` (lower-case keys).

    For retries and the rack see `ClientConfig`. ``group_prefix`` is of the consumer group's name; None = the given or
    the default group.

    Raises:
        OptionError: bootstrap.servers is missing, a key belongs to the source, or has no meaning outside Java; the
            isolation level is none of Kafka's; the group or the rack is named twice.
    """
    given = without_prefix(options)
    if not given.get("bootstrap.servers"):
        raise OptionError(
            "option 'kafka.bootstrap.servers' (or 'properties.bootstrap.servers') is required: host:port of one or "
            "more brokers, separated by commas."
        )
    settings: dict[str, str] = {}
    for key, value in given.items():
        if key in _OWNED:
            raise OptionError(f"option 'kafka.{key}' is set by the source: {_OWNED[key]}.")
        if key in _JAVA_ONLY:
            raise OptionError(f"option 'kafka.{key}' exists in Java clients only: {_JAVA_ONLY[key]}.")
        if key not in _IGNORED_JAVA and key not in _TRANSLATED:
            settings[_RENAMED.get(key, key)] = value
    settings.update({**java_login(given), **java_stores(given)})
    _require_positive(given, "default.api.timeout.ms", "request.timeout.ms")
    _require_level(settings.get("isolation.level", _DEFAULT_LEVEL))
    if group_prefix is not None:
        settings["group.id"] = _generated_group(group_prefix, settings.get("group.id"))
    if rack_variable is not None and _RACK in settings:
        raise OptionError("options 'kafka.client.rack' and 'scan.client-rack.env' both name the rack: set one of them.")
    return ClientConfig(
        settings,
        api_timeout_ms=int(given.get("default.api.timeout.ms", "30000")),
        num_retries=num_retries,
        retry_interval_ms=retry_interval_ms,
        rack_variable=rack_variable,
    )


@cache
def _warn_of_rack(variable: str) -> None:
    _logger.warning(
        "client_rack_unknown variable=%r: it is not set in this process, which reads from the leaders of partitions.",
        variable,
    )


def _require_level(level: str) -> None:
    if level not in _LEVELS:
        names = ", ".join(f"'{name}'" for name in _LEVELS)
        raise OptionError(f"option 'kafka.isolation.level' = '{level}': use one of {names}.")


def _generated_group(prefix: str, given: str | None) -> str:
    if given is not None:
        raise OptionError("options 'kafka.group.id' and 'groupIdPrefix' both name the consumer group: set one of them.")
    return f"{prefix}-{DEFAULT_GROUP}"


def _require_positive(given: Mapping[str, str], *names: str) -> None:
    for name in names:
        if not _POSITIVE.fullmatch(given.get(name, "1")):
            raise OptionError(f"option 'kafka.{name}' = '{given[name]}': it must be a positive number.")


def without_prefix(options: Mapping[str, str]) -> dict[str, str]:
    """Return the client's settings among options, by their own names.

    Raises:
        OptionError: a setting is given by both prefixes with different values.
    """
    given: dict[str, str] = {}
    for key, value in options.items():
        for prefix in PREFIXES:
            if key.startswith(prefix):
                name = key.removeprefix(prefix)
                if given.setdefault(name, value) != value:
                    raise OptionError(f"options 'kafka.{name}' and 'properties.{name}' differ: set one of them.")
    return given
