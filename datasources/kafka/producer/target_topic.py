"""Topics that are written to."""

from __future__ import annotations

from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from datasources.errors import OptionError
from datasources.kafka.client.client_config import OWN_DEFAULTS, ClientConfig
from datasources.kafka.client.client_errors import explain
from datasources.kafka.login.token_provider import with_token_provider
from datasources.near_matches import near_matches

_METADATA_S: Final = 30.0


def require_topic(config: ClientConfig, topic: str, how: str = "") -> None:
    """Raise unless the brokers have a topic; `how` is how to create it.

    Raises:
        OptionError: there is none.
        SourceUnavailable: the brokers cannot be reached.
    """
    servers = config.bootstrap_servers
    try:
        known = AdminClient(with_token_provider({**OWN_DEFAULTS, **config})).list_topics(timeout=_METADATA_S).topics
    except KafkaException as error:
        raise explain(error, action=f"looking for the topic '{topic}'", servers=servers) from error
    if topic not in known:
        near = near_matches(topic, list(known))
        raise OptionError(
            f"the brokers at {servers} have no topic '{topic}', or the login may not see it.{near} Create it "
            f"first{how and f', {how}'}."
        )
