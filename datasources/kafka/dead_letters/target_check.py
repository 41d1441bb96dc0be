"""What the driver verifies before the first batch: dead letters could be written."""

from __future__ import annotations

from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from datasources.errors import OptionError, TidemarkError
from datasources.kafka.client.attempts import Attempts, retried
from datasources.kafka.client.client_config import OWN_DEFAULTS, ClientConfig
from datasources.kafka.client.client_errors import explain, is_refusal
from datasources.kafka.dead_letters.dead_letter_options import DeadLetterSettings, require_other_topic
from datasources.kafka.login.token_provider import with_token_provider
from datasources.kafka.metadata.subscriber import Subscriber
from datasources.kafka.producer.target_topic import require_topic
from datasources.kafka.producer.transactions import TransactionalProducer, is_fenced

_ANSWER_S: Final = 30.0
_HOW: Final = "as your other topics; its retention decides how long dead letters are kept"


def check_target(settings: DeadLetterSettings, source: ClientConfig, read: Subscriber) -> None:
    """Verify that the topic exists, is not one that the source reads, and that the login may write transactions.

    A transaction without a record is written, with an offset of the group `<prefix>-check`.

    Args:
        settings: of the dead letters.
        source: the client of the source.
        read: the topics that the source reads.

    Raises:
        OptionError: the topic does not exist, or is one of the source's.
        SourceUnavailable: the brokers cannot be reached or refuse.
    """
    try:
        require_topic(settings.config, settings.topic, _HOW)
    except OptionError as error:
        raise OptionError(f"option 'format.dead-letter.topic': {error.message}") from None
    if (
        settings.has_own_servers
        and read.includes(settings.topic)
        and _cluster_id(settings.config) == _cluster_id(source)
    ):
        require_other_topic(settings, read)  # the brokers go by several names
    _write_nothing(settings)


def _cluster_id(config: ClientConfig) -> str | None:
    try:
        found: str | None = (
            AdminClient(with_token_provider({**OWN_DEFAULTS, **config})).list_topics(timeout=_ANSWER_S).cluster_id
        )
    except KafkaException as error:
        raise explain(error, action="asking for the cluster's id", servers=config.bootstrap_servers) from error
    return found


def _write_nothing(settings: DeadLetterSettings) -> None:
    """Write a transaction without records; brokers that have just started may need a moment for it."""
    try:
        retried(Attempts(settings.config), lambda _: _attempt(settings))
    except KafkaException as error:
        if not is_fenced(error):  # by another query that begins at this moment: then it may do so
            raise _explained(error, settings) from error


def _attempt(settings: DeadLetterSettings) -> None:
    name = f"{settings.id_prefix}-check"
    producer = TransactionalProducer(
        settings.config, settings.topic, name, timeout_ms=settings.transaction_ms, answer_s=_ANSWER_S
    )
    try:
        producer.open()
        producer.write([], 0)
    finally:
        producer.close()


def _explained(error: KafkaException, settings: DeadLetterSettings) -> TidemarkError:
    action = f"beginning a transaction for the dead letter topic '{settings.topic}'"
    explained = explain(error, action=action, servers=settings.config.bootstrap_servers, hint=settings.login_hint)
    if is_refusal(error.args[0]):
        return explained
    return type(explained)(
        f"{explained.message} Dead letters need transactions: on brokers that answer otherwise, see whether "
        f"transaction.state.log.replication.factor is above their number."
    )
