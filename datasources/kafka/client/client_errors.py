"""Maps librdkafka's errors to ours."""

from __future__ import annotations

import re
from typing import Final

from confluent_kafka import KafkaError, KafkaException

from datasources.errors import OptionError, SourceUnavailable, TidemarkError

_UNREACHABLE = frozenset(
    {
        KafkaError._TRANSPORT,  # noqa: SLF001 - librdkafka names its local errors so
        KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001
        KafkaError._TIMED_OUT,  # noqa: SLF001
        KafkaError._RESOLVE,  # noqa: SLF001
    }
)
_REFUSED = frozenset(
    {
        KafkaError._AUTHENTICATION,  # noqa: SLF001
        KafkaError._SSL,  # noqa: SLF001
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)
_DESTROY_BROKER: Final = -137  # the handle of a broker that left was freed; older clients have no name for it
_RETRIABLE = _UNREACHABLE | {
    _DESTROY_BROKER,
    KafkaError._FAIL,  # noqa: SLF001
    KafkaError._NODE_UPDATE,  # noqa: SLF001
    KafkaError._OUTDATED,  # noqa: SLF001
    KafkaError._RETRY,  # noqa: SLF001
    KafkaError._UNKNOWN_BROKER,  # noqa: SLF001
    KafkaError._WAIT_CACHE,  # noqa: SLF001
    KafkaError._WAIT_COORD,  # noqa: SLF001
    KafkaError._TIMED_OUT_QUEUE,  # noqa: SLF001
    KafkaError._IN_PROGRESS,  # noqa: SLF001
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.REPLICA_NOT_AVAILABLE,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.OFFSET_NOT_AVAILABLE,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NETWORK_EXCEPTION,
    KafkaError.BROKER_NOT_AVAILABLE,
    KafkaError.LISTENER_NOT_FOUND,
    KafkaError.PREFERRED_LEADER_NOT_AVAILABLE,
    KafkaError.ELIGIBLE_LEADERS_NOT_AVAILABLE,
    KafkaError.KAFKA_STORAGE_ERROR,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.UNSTABLE_OFFSET_COMMIT,
    KafkaError.UNKNOWN_TOPIC_ID,
    KafkaError.INCONSISTENT_TOPIC_ID,
    KafkaError.FETCH_SESSION_ID_NOT_FOUND,
    KafkaError.INVALID_FETCH_SESSION_EPOCH,
    KafkaError.THROTTLING_QUOTA_EXCEEDED,
}
MAYBE_DELETED = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._NOENT})  # noqa: SLF001
"""Codes for a deleted partition, or from a new leader that does not know it yet; _NOENT: it has no leader."""
_FILE_OPTION = re.compile(r"\bssl\.[a-z]+\.location(?= failed| file| PKCS|:)")
_HINT = "Check the login (kafka.sasl.*), the certificates (kafka.ssl.*) and what the login may do."


def is_refusal(error: KafkaError) -> bool:
    """Return whether authentication, authorization or TLS failed: retrying does not help."""
    return error.code() in _REFUSED


def is_retriable(error: KafkaException | KafkaError) -> bool:
    """Return whether the request may succeed later, perhaps at another broker."""
    cause = error.args[0] if isinstance(error, KafkaException) else error
    return isinstance(cause, KafkaError) and not cause.fatal() and cause.code() in _RETRIABLE


def explain(
    error: KafkaException | KafkaError, *, action: str, servers: str, reported: KafkaError | None = None, hint: str = ""
) -> TidemarkError:
    """Return our error for one of librdkafka's.

    ``action`` is as in "listing the partitions of 'orders'"; ``reported`` is the connection error that the client
    reported meanwhile (`ConnectionErrors`); ``hint`` is for names that the brokers reject.
    """
    cause = error.args[0] if isinstance(error, KafkaException) else error
    if not isinstance(cause, KafkaError):
        return SourceUnavailable(f"{action} at {servers} failed: {cause}")
    if reported is not None and is_refusal(reported) and cause.code() in _UNREACHABLE:
        return SourceUnavailable(f"the brokers at {servers} refused {action}: {reported.str()}. {_HINT}")
    because = "" if reported is None else f" ({reported.str()})"
    if cause.code() in _UNREACHABLE:
        return SourceUnavailable(
            f"the brokers at {servers} did not answer while {action}: {cause.str()}{because}. Check "
            f"kafka.bootstrap.servers, that the brokers' advertised listeners can be reached from here, and the "
            f"security settings (a TLS listener looks like a silent one to a plain client)."
        )
    if cause.code() in _REFUSED:
        return SourceUnavailable(f"the brokers at {servers} refused {action}: {cause.str()}{because}.{hint} {_HINT}")
    if cause.code() == KafkaError._INVALID_ARG:  # noqa: SLF001
        return OptionError(f"librdkafka does not accept a kafka.* option: {cause.str()}.{_file_hint(cause.str())}")
    return SourceUnavailable(f"{action} at {servers} failed: {cause.name()}: {cause.str()}{because}.")


def _file_hint(reported: str) -> str:
    """Return a hint about an unreadable file: OpenSSL's error names neither file nor reason."""
    option = _FILE_OPTION.search(reported)
    if option is None:
        return ""
    return (
        f" The file of 'kafka.{option[0]}' must exist, be readable and have the content that its name implies (PEM; "
        f"PKCS#12 for a keystore), under the same path on the driver and on every executor."
    )
