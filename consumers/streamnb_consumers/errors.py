"""Exceptions of the consumers."""

from __future__ import annotations

from streamnb.errors import StreamNBError

NO_TRANSACTIONS = (
    "Brokers and services without transactions cannot be used: docs/how-to/secure-kafka.md lists "
    "the supported ones"
)
LOG_SET_BACK = (
    "the log was set back, for example by a restored backup or an unclean leader election. To "
    "compute the model from this log, set snapshots and shared_snapshots to empty folders and "
    "start all workers again"
)
# Exit status after which a supervisor should restart the process (EX_SOFTWARE).
RESTART = 70


class BadRecordError(StreamNBError, ValueError):
    """A record is neither a message nor a label; it becomes a dead letter."""


class BadInputError(StreamNBError, RuntimeError):
    """Most of the input is invalid, so the daemon stops."""


class AbortedError(StreamNBError, RuntimeError):
    """A transaction was not committed; none of it is visible, and it may be retried."""


class UnreachableError(AbortedError):
    """The cluster does not answer or is not ready yet; retrying only costs time."""


class RebalanceError(AbortedError):
    """The group moved partitions during a transaction, which another worker repeats."""


class LostClientError(AbortedError):
    """A client failed permanently; a new client may continue."""


class LostMemberError(LostClientError, RebalanceError):
    """A newer member of the group has the same `instance_id`; a new member may continue.

    The transactions decide whether this worker or the newer one has to stop (`FencedError`).
    """


class FencedError(StreamNBError, RuntimeError):
    """Another process has replaced this one, which must stop without further writes."""


class BusyError(StreamNBError, RuntimeError):
    """Another process holds a lock; the operation may be retried."""


class SettingsError(StreamNBError, ValueError):
    """A setting is unknown, missing or out of range."""


class RefusedError(SettingsError):
    """The cluster refuses this worker: wrong credentials or missing permissions."""


class SnapshotError(StreamNBError, ValueError):
    """A snapshot is truncated, altered, or from a filter with other settings."""


class ForeignError(SnapshotError):
    """A valid snapshot is from a filter with other settings or from another log."""


class TruncatedError(SnapshotError):
    """Training events were deleted before this worker or its snapshots learned them."""


def exit_status(error: Exception) -> int:
    """Return the exit status for an error that ends the process.

    2: a setting is wrong, or the cluster refuses this worker. 3: another process has replaced this
    one. 70: a restart may help. 1: any other error, which needs attention.

    Examples
    --------
    >>> exit_status(SettingsError()), exit_status(FencedError()), exit_status(OSError())
    (2, 3, 1)
    >>> exit_status(UnreachableError()), exit_status(SnapshotError()), exit_status(RefusedError())
    (70, 1, 2)
    """
    if isinstance(error, SettingsError):
        return 2
    if isinstance(error, AbortedError):
        return RESTART
    return 3 if isinstance(error, FencedError) else 1


def fenced(text: str) -> FencedError:
    """Return the error for a fenced worker, from the text of the client."""
    return FencedError(
        f"{text}. Another worker has this worker's transactional_id or instance_id, or this one "
        f"or its broker stood still for longer than transaction_seconds; it ends here, and nothing "
        f"of its last batch is visible"
    )


def refused(text: str) -> RefusedError:
    """Return the error for a rejected worker, from the text of the client without secrets.

    Examples
    --------
    >>> str(refused("poll: GroupAuthorizationFailedError: streamnb-sms"))
    'the cluster refuses this worker: poll: GroupAuthorizationFailedError: ...'
    """
    return RefusedError(
        f"the cluster refuses this worker: {text}. A retry would not help: check "
        f"security_protocol, sasl_mechanism, STREAMNB_SASL_USERNAME and STREAMNB_SASL_PASSWORD, "
        f"the tls_ files, and the permissions in docs/how-to/secure-kafka.md."
    )
