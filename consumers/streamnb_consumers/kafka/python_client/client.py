"""Translation of the errors of kafka-python."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import kafka
from streamnb_consumers.errors import (
    NO_TRANSACTIONS,
    AbortedError,
    LostMemberError,
    RebalanceError,
    SettingsError,
    UnreachableError,
    fenced,
    refused,
)

# Permanent errors: a newer producer uses the same transactional id, or the broker aborted a
# transaction after its timeout.
_FENCED = (kafka.errors.ProducerFencedError, kafka.errors.InvalidProducerEpochError)
# The group has removed this member or has a new generation.
_STALE = (
    kafka.errors.CommitFailedError,
    kafka.errors.IllegalGenerationError,
    kafka.errors.UnknownMemberIdError,
    kafka.errors.RebalanceInProgressError,
)
# The cluster rejects the credentials or the permissions of this worker.
_REFUSED = (
    kafka.errors.AuthorizationError,
    kafka.errors.SaslAuthenticationFailedError,
    kafka.errors.UnsupportedSaslMechanismError,
    kafka.errors.IllegalSaslStateError,
    kafka.errors.SecurityDisabledError,
)
# Packages that kafka-python needs for compressed records.
_CODECS = {"snappy": "python-snappy", "lz4": "lz4", "zstd": "zstandard"}


def is_refused(error: BaseException | None) -> bool:
    """Return whether an error or its cause means that the cluster rejects this worker.

    TLS errors appear only in the text of a `KafkaConnectionError`.

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
    """Return whether an error means that the cluster is unreachable or not ready yet.

    Examples
    --------
    >>> is_away(kafka.errors.KafkaConnectionError()), is_away(TimeoutError())
    (True, True)
    >>> is_away(kafka.errors.OffsetNotAvailableError())
    True
    >>> is_away(kafka.errors.UnknownLeaderEpochError())
    True
    >>> is_away(kafka.errors.UnknownTopicOrPartitionError()), is_away(kafka.errors.KafkaError())
    (False, False)
    """
    if isinstance(error, kafka.errors.UnknownTopicOrPartitionError):
        return False  # a deleted topic does not come back
    return isinstance(error, TimeoutError) or bool(getattr(error, "retriable", False))


def is_fenced(error: BaseException | None) -> bool:
    """Return whether an error or its cause means that this worker is fenced.

    kafka-python raises `ProducerFencedError` at a commit and `InvalidProducerEpochError` for a
    record. Later calls raise `KafkaError` with the first error among its arguments.

    Examples
    --------
    >>> is_fenced(kafka.errors.KafkaError("can't send", kafka.errors.ProducerFencedError()))
    True
    >>> is_fenced(kafka.errors.CommitFailedError("IllegalGenerationError"))
    False
    """
    return any(isinstance(each, _FENCED) for each in _causes(error))


def is_replaced(error: BaseException | None) -> bool:
    """Return whether an error or its cause means that a newer member has the same instance id.

    Examples
    --------
    >>> is_replaced(kafka.errors.KafkaError("can't send", kafka.errors.FencedInstanceIdError()))
    True
    """
    return any(isinstance(each, kafka.errors.FencedInstanceIdError) for each in _causes(error))


def is_stale(error: BaseException | None) -> bool:
    """Return whether an error or its cause means that the membership has expired.

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
    """Close a client and ignore its errors."""
    with contextlib.suppress(kafka.errors.KafkaError, TimeoutError):
        client.close(**options)


@contextlib.contextmanager
def translated(what: str) -> Iterator[None]:
    """Convert exceptions of kafka-python into exceptions of this library.

    Raises
    ------
    SettingsError
        If the package of a codec is not installed, or the brokers lack a feature.
    FencedError
        If another process has replaced this one. This process must not take over again.
    LostMemberError
        If a newer member of the group has the same instance id.
    RebalanceError
        If the group has moved partitions.
    RefusedError
        If the cluster rejects the credentials or a permission is missing.
    UnreachableError
        If the cluster does not answer or is not ready yet.
    AbortedError
        For all other errors.
    """
    try:
        yield
    except kafka.errors.UnsupportedCodecError as error:
        packages = [package for codec, package in _CODECS.items() if codec in str(error)]
        raise SettingsError(
            f"{what}: {error}: install {' or '.join(packages or _CODECS.values())}, or all codecs "
            f"with pip install 'streamnb[consumers,kafka]', and start this worker again"
        ) from error
    except kafka.errors.UnsupportedVersionError as error:
        raise SettingsError(f"{what}: {error}. {NO_TRANSACTIONS}") from error
    except (kafka.errors.KafkaError, TimeoutError) as error:
        text = f"{what}: {type(error).__name__}: {error}"[:500]
        if is_fenced(error):
            raise fenced(text) from error
        if is_refused(error):
            raise refused(text) from error
        if is_replaced(error):
            raise LostMemberError(text) from error
        if is_stale(error):
            raise RebalanceError(text) from error
        if isinstance(error, kafka.errors.OffsetOutOfRangeError):
            raise AbortedError(f"{what}: the next offset does not exist: {error}") from error
        if is_away(error):
            raise UnreachableError(text) from error
        raise AbortedError(text) from error
