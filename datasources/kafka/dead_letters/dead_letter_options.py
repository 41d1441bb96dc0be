"""The options of dead letters: which topic, whose brokers, and the names of transactions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from datasources.errors import OptionError
from datasources.formats.api.error_policy import OnError
from datasources.kafka.client.client_config import PREFIXES, ClientConfig, client_config, without_prefix
from datasources.kafka.login.code_options import code_settings
from datasources.kafka.metadata.subscriber import Subscriber
from datasources.kafka.producer.transactions import TRANSACTIONAL_ID
from datasources.options import OptionGroup
from datasources.source.api.abilities import LateRows

_TOPIC: Final = "format.dead-letter.topic"
_OWN: Final = "format.dead-letter."
_LATE_ROWS: Final = "watermark.late-rows"
_SERVERS: Final = "bootstrap.servers"
_REQUEST_TIMEOUT: Final = "socket.timeout.ms"
_TRANSACTION_MS: Final = 60_000
DEAD_LETTER_PREFIXES: Final = tuple(f"{_OWN}{prefix}" for prefix in PREFIXES)
"""Before the settings of the client that writes dead letters."""


class DeadLetterOptions(OptionGroup):
    """Where records are written that give no row (`format.on-error`, `watermark.late-rows` = `dead-letter`)."""

    topic: str | None = Field(
        None,
        alias=_TOPIC,
        min_length=1,
        description="The topic of dead letters, on the source's brokers unless "
        "`format.dead-letter.kafka.bootstrap.servers` names others. It must exist.",
    )
    id_prefix: str | None = Field(
        None,
        alias="format.dead-letter.transactional-id-prefix",
        min_length=1,
        description="What transactional ids and consumer groups of dead letters begin with, for the brokers' access "
        "rules. Default: `tidemark-dead-letters`.",
    )


DEFAULT_ID_PREFIX: Final = "tidemark-dead-letters"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterSettings:
    """How dead letters are written.

    Attributes:
        config: of the client; its repr shows no secret.
        topic: the dead letter topic.
        id_prefix: of transactional ids and groups.
        has_own_servers: whether the topic may be on other brokers than the source.
    """

    config: ClientConfig
    topic: str
    id_prefix: str
    has_own_servers: bool

    @property
    def transaction_ms(self) -> int:
        """After this time brokers abort a transaction, if the client's settings do not set it."""
        request = self.config.get(_REQUEST_TIMEOUT, "")
        # librdkafka wants it above that of a request.
        return max(_TRANSACTION_MS, 2 * int(request)) if request.isdecimal() else _TRANSACTION_MS

    @property
    def login_hint(self) -> str:
        """What the login must be allowed to do, for messages."""
        return (
            f" Dead letters need Write and Read on the topic, Write and Describe on the transactional ids and Read on "
            f"the groups that begin with '{self.id_prefix}'."
        )


def dead_letter_settings(
    options: Mapping[str, str], own: DeadLetterOptions, on_error: OnError
) -> DeadLetterSettings | None:
    """Return how dead letters are written; None where none are.

    Args:
        options: all options, with keys in lower case.
        own: those of dead letters.
        on_error: the policy for bad records.

    Raises:
        OptionError: an option is missing, has no effect, or is refused.
    """
    wanted_by = [
        f"'{key}' = '{value}'"
        for key, value, is_wanted in (
            ("format.on-error", on_error.value, on_error is OnError.DEAD_LETTER),
            (_LATE_ROWS, options.get(_LATE_ROWS), options.get(_LATE_ROWS) == LateRows.DEAD_LETTER.value),
        )
        if is_wanted
    ]
    if not wanted_by:
        _refuse_without_effect(options)
        return None
    if own.topic is None:
        raise OptionError(f"option {wanted_by[0]} needs '{_TOPIC}': the topic to which such records are written.")
    given = _own_settings(options)
    return DeadLetterSettings(
        config=_client_config(options, given),
        topic=own.topic,
        id_prefix=own.id_prefix or DEFAULT_ID_PREFIX,
        has_own_servers=_SERVERS in given,
    )


def require_other_topic(settings: DeadLetterSettings, source: Subscriber) -> None:
    """Raise if the source reads the topic of its dead letters.

    Raises:
        OptionError: naming both.
    """
    if source.includes(settings.topic):
        raise OptionError(
            f"option '{_TOPIC}' = '{settings.topic}' is among the source's {source}: each dead letter would be read "
            f"again, and be one again. Name another topic, or exclude it from those that are read."
        )


def dead_letter_code_options(options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the options by which librdkafka would run or load code."""
    return ((f"{_OWN}kafka.{name}", effect) for name, effect in code_settings(_own_settings(options)))


def _own_settings(options: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of the client, by their own names."""
    own = {key.removeprefix(_OWN): value for key, value in options.items() if key.startswith(_OWN)}
    return without_prefix(own)


def _client_config(options: Mapping[str, str], given: Mapping[str, str]) -> ClientConfig:
    """Return the settings of the source's client, and further ones; of other brokers only those that are given."""
    shared = {} if _SERVERS in given else without_prefix(options)
    merged = {f"kafka.{name}": value for name, value in {**shared, **given}.items()}
    if f"kafka.{TRANSACTIONAL_ID}" in merged:
        raise OptionError(
            f"option 'kafka.{TRANSACTIONAL_ID}' is not for dead letters: each partition has an id of its own, which "
            f"begins with 'format.dead-letter.transactional-id-prefix'. Remove it."
        )
    try:
        return client_config(merged)
    except OptionError as error:
        raise OptionError(f"the client of '{_TOPIC}' ('{_OWN}kafka.*'): {error.message}") from None


def _refuse_without_effect(options: Mapping[str, str]) -> None:
    without_effect = sorted(key for key in options if key.startswith(_OWN))
    if without_effect:
        raise OptionError(
            f"option '{without_effect[0]}' has no effect: set 'format.on-error' = 'dead-letter' for bad records, "
            f"'{_LATE_ROWS}' = 'dead-letter' for those of late rows, or remove it."
        )
