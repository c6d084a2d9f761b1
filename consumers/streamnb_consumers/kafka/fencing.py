"""Errors for workers that are fenced or rejected by the cluster."""

from __future__ import annotations

from streamnb_consumers.errors import FencedError, RefusedError

__all__ = ["fenced", "refused"]


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
    'the cluster rejects this worker: poll: GroupAuthorizationFailedError: ... permissions.'
    """
    return RefusedError(
        f"the cluster refuses this worker: {text}. Trying again would change nothing: check "
        f"security_protocol, sasl_mechanism, STREAMNB_SASL_USERNAME and STREAMNB_SASL_PASSWORD, "
        f"the tls_ files, and the rights that docs/how-to/secure-kafka.md says this worker needs."
    )
