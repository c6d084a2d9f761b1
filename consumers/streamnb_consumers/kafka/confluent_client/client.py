"""What all of confluent-kafka's clients share: how to connect, and what their errors mean."""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Iterator
from typing import Any

import confluent_kafka

from streamnb_consumers.errors import (
    AbortedError,
    LostClientError,
    SettingsError,
    UnreachableError,
)
from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.kafka.fencing import fenced, refused

__all__ = ["LOGGER", "client_settings", "meaning", "translated"]


class _Seldom(logging.Filter):
    """Passes one line a minute of each kind: librdkafka tells of each try to connect."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[object, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        kind = record.args[0] if isinstance(record.args, tuple) and record.args else record.msg
        if record.created - self._last.get(kind, -math.inf) < _LINE_SECONDS:
            return False
        self._last[kind] = record.created
        return True


_LINE_SECONDS = 60.0
# What librdkafka logs comes here, at the client's next call.
LOGGER = logging.getLogger(__name__)
LOGGER.addFilter(_Seldom())

_ERRORS = confluent_kafka.KafkaError
# A producer of the same transactional id came later, or the broker ended a transaction that was
# open for too long. Neither goes away.
_FENCED = (
    _ERRORS._FENCED,
    _ERRORS.PRODUCER_FENCED,
    _ERRORS.INVALID_PRODUCER_EPOCH,
    _ERRORS.FENCED_INSTANCE_ID,
)
# Who this is, or what it may do, is not to the cluster's liking.
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
# The cluster does not answer, or can't yet; what is `retriable` counts as this too.
_AWAY = (
    _ERRORS._TRANSPORT,
    _ERRORS._RESOLVE,
    _ERRORS._ALL_BROKERS_DOWN,
    _ERRORS._TIMED_OUT,
    _ERRORS._TIMED_OUT_QUEUE,
    _ERRORS._MSG_TIMED_OUT,
    _ERRORS._WAIT_COORD,
    _ERRORS._NODE_UPDATE,
    # "No leaders found": no broker leads a partition now, as while a lone broker's heartbeats to
    # its controller are late.
    _ERRORS._NOENT,
    _ERRORS.REQUEST_TIMED_OUT,
    _ERRORS.COORDINATOR_LOAD_IN_PROGRESS,
    _ERRORS.COORDINATOR_NOT_AVAILABLE,
    _ERRORS.NOT_COORDINATOR,
    _ERRORS.LEADER_NOT_AVAILABLE,
    _ERRORS.NOT_LEADER_FOR_PARTITION,
    _ERRORS.BROKER_NOT_AVAILABLE,
    _ERRORS.NETWORK_EXCEPTION,
    _ERRORS.NOT_ENOUGH_REPLICAS,
    _ERRORS.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
)
# kafka-python's names for arguments of TLS and SASL, and librdkafka's.
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
    """Return what all clients of a cluster are made with; secrets are among it.

    Examples
    --------
    >>> cluster = Cluster("kafka:9093", "g", None, "t", security={"ssl_certfile": "one.pem"})
    >>> made = client_settings(cluster)
    >>> made["ssl.certificate.location"], made["ssl.key.location"]  # the key is in the same file
    ('one.pem', 'one.pem')
    """
    security = {_SECURITY[name]: value for name, value in cluster.security.items()}
    if "ssl.certificate.location" in security:
        security.setdefault("ssl.key.location", security["ssl.certificate.location"])
    return {
        "bootstrap.servers": cluster.bootstrap_servers,
        "error_cb": _note,
        "reconnect.backoff.max.ms": 500,  # 10 s by default: a broker that is back is not noticed
        **security,
    }


# What a broker said of this process's password or certificate, and when: librdkafka tells it to
# this callback, and goes on trying; whoever waits is told that the time is over.
_refusal: list[tuple[float, str]] = []
_HEARD = 60.0  # seconds for which that explains a time that was over


def _note(error: Any) -> None:
    # A broker that does not take a client's certificate says so when the connection is there: that
    # it ended is all that librdkafka's code says.
    alert = "alert" in error.str() and "certificate" in error.str()
    if error.code() in _REFUSED or alert:
        _refusal[:] = [(time.monotonic(), f"{error.name()}: {error.str()}"[:500])]


def meaning(what: str, error: Any) -> Exception:
    """Return a client's error as one that the loop knows.

    It is an AbortedError unless another process has taken this one's place, or a setting is wrong.
    """
    text = f"{what}: {error.name()}: {error.str()}"[:500]
    if error.code() in _FENCED:
        return fenced(text)
    if error.code() in _REFUSED:
        return refused(text)
    if _is_away(error) and _refusal and time.monotonic() < _refusal[0][0] + _HEARD:
        return refused(f"{text} ({_refusal[0][1]})")
    if error.code() in (_ERRORS.UNSUPPORTED_VERSION, _ERRORS._UNSUPPORTED_FEATURE):
        return SettingsError(
            f'{text}. client = "confluent" needs brokers of Kafka 4.0 or later, which know groups '
            f'of their own protocol (KIP-848): with others set client = "kafka-python"'
        )
    if error.fatal() or error.code() == _ERRORS._FATAL:  # an event has the code alone
        # As "The group id does not exist", which a broker may say that died and is back: librdkafka
        # then takes no part in the group again, and says no more of it.
        return LostClientError(text)
    return UnreachableError(text) if _is_away(error) else AbortedError(text)


def _is_away(error: Any) -> bool:
    """Tell whether an error means that the cluster can't be reached, or not yet."""
    return error.code() in _AWAY or (
        error.retriable() and error.code() != _ERRORS.UNKNOWN_TOPIC_OR_PART
    )


@contextlib.contextmanager
def translated(what: str) -> Iterator[None]:
    """Raise what confluent-kafka raises as the errors that a loop knows.

    Raises
    ------
    FencedError
        If another process has taken this one's place; this one must not take it back.
    SettingsError
        If the brokers are too old, or refuse this worker.
    AbortedError
        For everything else.
    """
    try:
        yield
    except confluent_kafka.KafkaException as error:
        raise meaning(what, error.args[0]) from error
    except (BufferError, TimeoutError) as error:
        raise UnreachableError(f"{what}: {error!r}"[:500]) from error
