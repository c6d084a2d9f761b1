"""kafka-python, imported without its warnings, and what its errors mean."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

# Importing it imports modules that say of themselves that they are deprecated.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka.admin
    import kafka.errors
    import kafka.net.manager
    import kafka.net.transport
    import kafka.protocol.consumer
    import kafka.record.default_records
    import kafka.structs
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    from kafka.partitioner.default import DefaultPartitioner

    import kafka

__all__ = [
    "CooperativeStickyAssignor",
    "DefaultPartitioner",
    "close_quietly",
    "is_away",
    "is_fenced",
    "is_refused",
    "is_stale",
    "kafka",
]

# A producer of the same transactional id came later, or the broker ended a transaction that was
# open for too long; or a static member of the same name came later. None of these goes away.
_FENCED = (
    kafka.errors.ProducerFencedError,
    kafka.errors.InvalidProducerEpochError,
    kafka.errors.FencedInstanceIdError,
)
# The group went on without this member, or with another generation of it.
_STALE = (
    kafka.errors.CommitFailedError,
    kafka.errors.IllegalGenerationError,
    kafka.errors.UnknownMemberIdError,
    kafka.errors.RebalanceInProgressError,
)
# Who this is, or what it may do, is not to the cluster's liking.
_REFUSED = (
    kafka.errors.AuthorizationError,
    kafka.errors.SaslAuthenticationFailedError,
    kafka.errors.UnsupportedSaslMechanismError,
    kafka.errors.IllegalSaslStateError,
    kafka.errors.SecurityDisabledError,
)


def is_refused(error: BaseException | None) -> bool:
    """Tell whether an error, or what caused it, means that the cluster refuses this worker.

    What TLS finds wrong comes as the text of a `KafkaConnectionError`.

    Examples
    --------
    >>> is_refused(kafka.errors.TopicAuthorizationFailedError("sms"))
    True
    >>> is_refused(kafka.errors.KafkaConnectionError("[SSL: CERTIFICATE_VERIFY_FAILED] ..."))
    True
    >>> is_refused(kafka.errors.KafkaConnectionError("socket disconnected"))
    False
    """
    return any(
        isinstance(each, _REFUSED)
        or (
            isinstance(each, kafka.errors.KafkaConnectionError)
            and "certificate" in str(each).lower()
        )
        for each in _causes(error)
    )


def is_away(error: BaseException) -> bool:
    """Tell whether an error means that the cluster can't be reached, or not yet.

    Examples
    --------
    >>> is_away(kafka.errors.KafkaConnectionError()), is_away(TimeoutError())
    (True, True)
    >>> is_away(kafka.errors.UnknownTopicOrPartitionError()), is_away(kafka.errors.KafkaError())
    (False, False)
    """
    if isinstance(error, kafka.errors.UnknownTopicOrPartitionError):
        return False  # who waits for a topic that was deleted waits for ever
    return isinstance(error, TimeoutError) or bool(getattr(error, "retriable", False))


def is_fenced(error: BaseException | None) -> bool:
    """Tell whether an error, or what caused it, means that another has taken this one's place.

    kafka-python names it `ProducerFencedError` at a commit, `InvalidProducerEpochError` at a
    record, and afterwards `KafkaError`, with the first error among its arguments.

    Examples
    --------
    >>> is_fenced(kafka.errors.KafkaError("can't send", kafka.errors.ProducerFencedError()))
    True
    >>> is_fenced(kafka.errors.CommitFailedError("IllegalGenerationError"))
    False
    """
    return any(isinstance(each, _FENCED) for each in _causes(error))


def is_stale(error: BaseException | None) -> bool:
    """Tell whether an error, or what caused it, means that the membership it used is over.

    Examples
    --------
    >>> is_stale(kafka.errors.CommitFailedError("IllegalGenerationError"))
    True
    """
    return any(isinstance(each, _STALE) for each in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        yield from (each for each in error.args if isinstance(each, BaseException))
        error = error.__cause__ or error.__context__


def close_quietly(client: Any, **options: Any) -> None:
    """Close a client that may be past its end."""
    with contextlib.suppress(kafka.errors.KafkaError, TimeoutError):
        client.close(**options)
