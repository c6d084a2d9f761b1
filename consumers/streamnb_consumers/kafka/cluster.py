"""What a Kafka cluster is to a filter: addresses, topics, names, secrets; without its client."""

from __future__ import annotations

import dataclasses
import secrets
import ssl
from collections.abc import Mapping
from typing import Any

from streamnb_consumers.daemon.settings_fields import Settings
from streamnb_consumers.errors import SettingsError

__all__ = ["SECRETS", "Cluster", "TopicLayout", "Topics", "make_cluster", "make_topics"]

SECRETS = ("sasl_username", "sasl_password", "tls_key_password")

# What a topic that a filter makes must hold besides others' messages: features as JSON, which may
# take six bytes a character, and dead letters with their headers. Bytes.
MAX_RECORD_BYTES = 2**25
# A window's log is read from its beginning by whoever is given its partition, and the segment that
# is being written is never compacted: so segments are small. Bytes.
_WINDOW_SEGMENT_BYTES = 2**25


@dataclasses.dataclass(frozen=True, slots=True)
class TopicLayout:
    """How to make a topic: the cluster's own replication, and these partitions and configs."""

    name: str
    partitions: int
    configs: Mapping[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Topics:
    """The topics of one filter.

    Attributes
    ----------
    messages
        Messages, with labels or without; shared out in the group.
    feedback
        Labels by id, with the keys and as many partitions as `messages`; empty: none.
    decisions
        One decision for each message.
    lessons
        The log of labelled messages, which every worker reads whole.
    windows
        The join windows as a changelog, compacted, with as many partitions as `messages`.
    dead_letters
        Records that could not be used, as they came.
    """

    messages: str
    feedback: str
    decisions: str
    lessons: str
    windows: str
    dead_letters: str

    def layouts(self, partitions: int) -> list[TopicLayout]:
        """Return how to make each topic.

        Lessons have one partition, so that all workers learn them in the same order, and are kept
        for ever: the model is made of them.

        Examples
        --------
        >>> topics = Topics("sms", "", "decisions", "lessons", "windows", "dead")
        >>> [(each.name, each.partitions) for each in topics.layouts(4)]
        [('sms', 4), ('decisions', 4), ('lessons', 1), ('windows', 4), ('dead', 1)]
        """
        size = {"max.message.bytes": str(MAX_RECORD_BYTES)}
        kept = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
        compacted = {
            "cleanup.policy": "compact",
            "segment.bytes": str(_WINDOW_SEGMENT_BYTES),
            "min.cleanable.dirty.ratio": "0.3",
        }
        made = [
            TopicLayout(self.messages, partitions, {}),
            TopicLayout(self.feedback, partitions, {}),
            TopicLayout(self.decisions, partitions, size),
            TopicLayout(self.lessons, 1, size | kept),
            TopicLayout(self.windows, partitions, size | compacted),
            TopicLayout(self.dead_letters, 1, size),
        ]
        return [each for each in made if each.name]


@dataclasses.dataclass(frozen=True, slots=True)
class Cluster:
    """How to reach a cluster, and under which names.

    Attributes
    ----------
    bootstrap_servers
        Addresses (host:port) of brokers, separated by commas.
    group
        The consumer group.
    instance_id
        The worker's name in the group that stays its own over restarts; None: a new member
        each time.
    transactional_id
        The name of its transactions: of two processes with the same name the older is fenced.
    named
        Whether another process may have this name. A name that is no other's is fenced only when
        the broker ends a transaction that was open for too long, and goes on.
    session_seconds
        Time without a heartbeat after which the group gives a worker's partitions to others.
    transaction_seconds
        Time after which the broker aborts a transaction of a process that died.
    security
        Arguments of kafka-python's clients for TLS and SASL; not shown, for passwords are in it.
    """

    bootstrap_servers: str
    group: str
    instance_id: str | None
    transactional_id: str
    session_seconds: float = 10.0
    transaction_seconds: float = 30.0
    named: bool = True
    security: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)


class _Hidden(dict[str, Any]):
    """A mapping whose values no log and no traceback shows."""

    def __repr__(self) -> str:
        return f"<{', '.join(self) or 'nothing'}: hidden>"

    __str__ = __repr__


def make_topics(kind: str, settings: Settings) -> Topics:
    """Return the topics of the filter of a kind of message.

    Examples
    --------
    >>> make_topics("sms", Settings(feedback_topic="labels")).decisions
    'sms-decisions'
    """
    names = (field.name for field in dataclasses.fields(Topics))
    return Topics(*(getattr(settings, f"{name}_topic").replace("{kind}", kind) for name in names))


def make_cluster(kind: str, settings: Settings, environment: Mapping[str, str]) -> Cluster:
    """Return how to reach the cluster that settings and secrets describe.

    Raises
    ------
    SettingsError
        If a secret is missing or a file of TLS can't be read.
    """
    group = settings.group.replace("{kind}", kind)
    worker = settings.instance_id or secrets.token_hex(8)
    return Cluster(
        bootstrap_servers=settings.bootstrap_servers,
        group=group,
        instance_id=settings.instance_id or None,
        transactional_id=settings.transactional_id or f"{group}-{worker}",
        named=bool(settings.instance_id or settings.transactional_id),
        session_seconds=settings.session_seconds,
        transaction_seconds=settings.transaction_seconds,
        security=_security(settings, environment),
    )


def _security(settings: Settings, environment: Mapping[str, str]) -> Mapping[str, Any]:
    found = {name: environment.get(f"STREAMNB_{name.upper()}") or None for name in SECRETS}
    made = _Hidden(security_protocol=settings.security_protocol)
    if settings.security_protocol.startswith("SASL_"):
        missing = [name for name in SECRETS[:2] if found[name] is None]
        if missing:
            raise SettingsError(
                f"security_protocol {settings.security_protocol} needs "
                + " and ".join(f"STREAMNB_{name.upper()}" for name in missing)
                + " in the environment"
            )
        made.update(
            sasl_mechanism=settings.sasl_mechanism,
            sasl_plain_username=found["sasl_username"],
            sasl_plain_password=found["sasl_password"],
        )
    if settings.security_protocol.endswith("SSL"):
        _check_tls(settings, found["tls_key_password"] or "")
        for setting, argument in _TLS_FILES.items():
            if getattr(settings, setting):
                made[argument] = getattr(settings, setting)
        if found["tls_key_password"] is not None:
            made["ssl_password"] = found["tls_key_password"]
    return made


def _check_tls(settings: Settings, password: str) -> None:
    """Load the files of TLS as the client will, so that a mistake in them ends the start.

    Without a password at hand OpenSSL would ask for one at the terminal, and wait.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    certificate, key = settings.tls_cert_file, settings.tls_key_file or None
    try:
        if settings.tls_ca_file:
            context.load_verify_locations(settings.tls_ca_file)
    except (OSError, ValueError) as error:
        raise SettingsError(f"tls_ca_file: {settings.tls_ca_file} can't be used: {error}") from None
    try:
        if certificate:
            context.load_cert_chain(certificate, key, password)
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"tls_cert_file, tls_key_file: {certificate}{f' and {key}' if key else ''} can't be "
            f"used (if the key is encrypted, STREAMNB_TLS_KEY_PASSWORD must be set): {error}"
        ) from None


_TLS_FILES = {
    "tls_ca_file": "ssl_cafile",
    "tls_cert_file": "ssl_certfile",
    "tls_key_file": "ssl_keyfile",
}
