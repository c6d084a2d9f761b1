"""Connection settings and error mapping for all confluent-kafka clients."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import confluent_kafka

from streamnb_consumers.errors import (
    NO_TRANSACTIONS,
    AbortedError,
    LostClientError,
    RebalanceError,
    SettingsError,
    UnreachableError,
    fenced,
    refused,
)
from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.threads import in_thread

# Receives the log lines of librdkafka at the next call of a client.
LOGGER = logging.getLogger(__name__)

_ERRORS = confluent_kafka.KafkaError
# Permanent errors: a newer producer uses the same transactional id, or the broker aborted a
# transaction after its timeout.
_FENCED = (
    _ERRORS._FENCED,
    _ERRORS.PRODUCER_FENCED,
    _ERRORS.INVALID_PRODUCER_EPOCH,
)
# The group has removed this member or has a new generation.
_STALE = (
    _ERRORS.ILLEGAL_GENERATION,
    _ERRORS.UNKNOWN_MEMBER_ID,
    _ERRORS.STALE_MEMBER_EPOCH,
    _ERRORS.FENCED_MEMBER_EPOCH,
    _ERRORS.FENCED_INSTANCE_ID,  # members have none
    _ERRORS.REBALANCE_IN_PROGRESS,
)
# The cluster rejects the credentials or the permissions of this worker.
_REFUSED = (
    _ERRORS._AUTHENTICATION,
    _ERRORS._SSL,
    _ERRORS.SASL_AUTHENTICATION_FAILED,
    _ERRORS.UNSUPPORTED_SASL_MECHANISM,
    _ERRORS.ILLEGAL_SASL_STATE,
    _ERRORS.SECURITY_DISABLED,
    _ERRORS.TOPIC_AUTHORIZATION_FAILED,
    _ERRORS.GROUP_AUTHORIZATION_FAILED,
    _ERRORS.CLUSTER_AUTHORIZATION_FAILED,
    _ERRORS.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
)
# The cluster does not answer or is not ready yet. Errors with `retriable` also belong here.
_AWAY = (
    _ERRORS._TRANSPORT,
    _ERRORS._RESOLVE,
    _ERRORS._ALL_BROKERS_DOWN,
    _ERRORS._TIMED_OUT,
    _ERRORS._TIMED_OUT_QUEUE,
    _ERRORS._MSG_TIMED_OUT,
    _ERRORS._WAIT_COORD,
    _ERRORS._NODE_UPDATE,
    # "No leaders found": no broker leads the partition at the moment. This happens when the
    # heartbeats of a single broker to its controller are late.
    _ERRORS._NOENT,
    _ERRORS.REQUEST_TIMED_OUT,
    _ERRORS.COORDINATOR_LOAD_IN_PROGRESS,
    _ERRORS.COORDINATOR_NOT_AVAILABLE,
    _ERRORS.NOT_COORDINATOR,
    _ERRORS.LEADER_NOT_AVAILABLE,
    _ERRORS.NOT_LEADER_FOR_PARTITION,
    _ERRORS.FENCED_LEADER_EPOCH,
    _ERRORS.UNKNOWN_LEADER_EPOCH,
    _ERRORS.OFFSET_NOT_AVAILABLE,
    _ERRORS.UNSTABLE_OFFSET_COMMIT,
    _ERRORS.BROKER_NOT_AVAILABLE,
    _ERRORS.NETWORK_EXCEPTION,
    _ERRORS.NOT_ENOUGH_REPLICAS,
    _ERRORS.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
)
# TLS and SASL options: names in kafka-python and in librdkafka.
_SECURITY = {
    "security_protocol": "security.protocol",
    "sasl_mechanism": "sasl.mechanism",
    "sasl_plain_username": "sasl.username",
    "sasl_plain_password": "sasl.password",
    "ssl_cafile": "ssl.ca.location",
    "ssl_certfile": "ssl.certificate.location",
    "ssl_keyfile": "ssl.key.location",
    "ssl_password": "ssl.key.password",
}


def client_settings(cluster: Cluster) -> dict[str, Any]:
    """Return the common settings of all clients of a cluster, including secrets.

    Examples
    --------
    >>> cluster = Cluster("kafka:9093", "g", None, "t", security={"ssl_certfile": "one.pem"})
    >>> made = client_settings(cluster)
    >>> made["ssl.certificate.location"], made["ssl.key.location"]  # both in one file
    ('one.pem', 'one.pem')
    """
    given = dict(cluster.security)
    provide = given.pop("sasl_token_provider", None)
    security = {_SECURITY[name]: value for name, value in given.items()}
    if provide is not None:

        def refresh(_: str) -> tuple[str, float]:
            token, end = provide()
            return token, end / 1000

        security["oauth_cb"] = refresh
    if "ssl.certificate.location" in security:
        security.setdefault("ssl.key.location", security["ssl.certificate.location"])
    return {
        "bootstrap.servers": cluster.bootstrap_servers,
        "error_cb": _note,
        "topic.metadata.refresh.interval.ms": round(cluster.metadata_seconds * 1000),
        "reconnect.backoff.max.ms": 500,  # default: 10 s, too slow after a broker restart
        **security,
    }


# Time and text of the last rejection of a password or certificate. librdkafka reports it only to
# the error callback and retries, so that the caller sees a timeout.
_refusal: list[tuple[float, str]] = []
_HEARD = 60.0  # seconds for which the rejection explains a timeout


def _note(error: Any) -> None:
    # A broker rejects a client certificate after the connection is open. The error code of
    # librdkafka then means only that the connection was closed, so the text decides.
    alert = "alert" in error.str() and "certificate" in error.str()
    if error.code() in _REFUSED or alert:
        _refusal[:] = [(time.monotonic(), f"{error.name()}: {error.str()}"[:500])]


def meaning(what: str, error: Any) -> Exception:
    """Convert a confluent-kafka error into an exception of this library.

    The exception is an AbortedError, except for fenced workers and for invalid settings.
    """
    text = f"{what}: {error.name()}: {error.str()}"[:500]
    if error.code() in _FENCED:
        return fenced(text)
    if error.code() in _REFUSED:
        return refused(text)
    if error.code() in _STALE:
        return RebalanceError(text)
    if _is_away(error) and _refusal and time.monotonic() < _refusal[0][0] + _HEARD:
        return refused(f"{text} ({_refusal[0][1]})")
    if error.code() in (_ERRORS.UNSUPPORTED_VERSION, _ERRORS._UNSUPPORTED_FEATURE):
        return SettingsError(
            f"{text}. The brokers are too old: Kafka 2.5 or later is needed. {NO_TRANSACTIONS}"
        )
    if error.fatal() or error.code() == _ERRORS._FATAL:  # events have only the code
        # Example: "The group id does not exist", from a broker that was restarted. librdkafka then
        # leaves the group for good and reports nothing further.
        return LostClientError(text)
    return UnreachableError(text) if _is_away(error) else AbortedError(text)


def _is_away(error: Any) -> bool:
    """Return whether the error means that the cluster is unreachable or not ready yet."""
    return error.code() in _AWAY or (
        error.retriable() and error.code() != _ERRORS.UNKNOWN_TOPIC_OR_PART
    )


def bounded(what: str, timeout: float, call: Callable[[], object]) -> None:
    """Run a call of librdkafka in a thread, and wait for its end until the timeout.

    Some calls wait for the coordinator regardless of their timeout, and no signal interrupts them.

    Raises
    ------
    UnreachableError
        If the call takes longer. It then continues in its thread.
    """
    try:
        in_thread(what, call).result(timeout)
    except TimeoutError as error:
        raise UnreachableError(f"{what} took more than {timeout:g} seconds") from error


@contextlib.contextmanager
def translated(what: str) -> Iterator[None]:
    """Convert exceptions of confluent-kafka into exceptions of this library.

    `meaning` lists the exceptions.
    """
    try:
        yield
    except confluent_kafka.KafkaException as error:
        raise meaning(what, error.args[0]) from error
    except (BufferError, TimeoutError) as error:
        raise UnreachableError(f"{what}: {error!r}"[:500]) from error
