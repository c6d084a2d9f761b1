"""Convert settings and secrets to Kafka addresses, names, topics, TLS and SASL."""

from __future__ import annotations

import dataclasses
import importlib.util
import logging
import secrets
import ssl
from collections.abc import Mapping
from typing import Any

from streamnb_consumers.daemon.settings import AUTO, SECRETS, Settings
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.kafka.cluster import Cluster, TokenProvider, Topics

_LOG = logging.getLogger(__name__)


class _Hidden(dict[str, Any]):
    """A mapping whose values are hidden in logs and tracebacks."""

    def __repr__(self) -> str:
        return f"<{', '.join(self) or 'nothing'}: hidden>"

    __str__ = __repr__


def make_topics(kind: str, settings: Settings) -> Topics:
    """Return the topics of a filter.

    Examples
    --------
    >>> make_topics("sms", Settings(bootstrap_servers="kafka:9092")).decisions
    'sms-decisions'
    """
    names = (field.name for field in dataclasses.fields(Topics))
    return Topics(*(getattr(settings, f"{name}_topic").replace("{kind}", kind) for name in names))


def chosen_client(name: str) -> str:
    """Return the client for the setting `client`: `auto` prefers confluent-kafka.

    Examples
    --------
    >>> chosen_client("kafka-python"), chosen_client("auto") in ("kafka-python", "confluent")
    ('kafka-python', True)
    """
    if name != AUTO:
        return name
    return "confluent" if importlib.util.find_spec("confluent_kafka") else "kafka-python"


def make_cluster(kind: str, settings: Settings, environment: Mapping[str, str]) -> Cluster:
    """Return the connection data of the cluster.

    Raises
    ------
    SettingsError
        If a secret is missing or a TLS file cannot be read.
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
        client=chosen_client(settings.client),
        skip_missing=settings.missing_records == "skip",
        skip_unreadable=settings.unreadable_batches == "skip",
        create_topics=settings.create_topics,
    )


def _security(settings: Settings, environment: Mapping[str, str]) -> Mapping[str, Any]:
    found = {name: environment.get(f"STREAMNB_{name.upper()}") or None for name in SECRETS}
    made = _Hidden(security_protocol=settings.security_protocol)
    if settings.security_protocol == "SASL_PLAINTEXT":
        _LOG.warning(
            "security_protocol is SASL_PLAINTEXT: the connection is not encrypted, so the network "
            "can read messages%s; use SASL_SSL",
            " and the password" if settings.sasl_mechanism in ("PLAIN", "OAUTHBEARER") else "",
        )
    if settings.security_protocol.startswith("SASL_"):
        made["sasl_mechanism"] = settings.sasl_mechanism
    if settings.sasl_token_provider:
        made["sasl_token_provider"] = _token_provider(settings.sasl_token_provider)
    elif settings.security_protocol.startswith("SASL_"):
        missing = [name for name in ("sasl_username", "sasl_password") if found[name] is None]
        if missing:
            raise SettingsError(
                f"security_protocol {settings.security_protocol} needs "
                + " and ".join(f"STREAMNB_{name.upper()}" for name in missing)
                + " in the environment"
            )
        made["sasl_plain_username"] = found["sasl_username"]
        made["sasl_plain_password"] = found["sasl_password"]
    if settings.security_protocol.endswith("SSL"):
        _check_tls(settings, found["tls_key_password"] or "")
        for setting, argument in _TLS_FILES.items():
            if getattr(settings, setting):
                made[argument] = getattr(settings, setting)
        if found["tls_key_password"] is not None:
            made["ssl_password"] = found["tls_key_password"]
    return made


def _token_provider(name: str) -> TokenProvider:
    """Return the function that a setting names, after it has returned a token.

    Raises
    ------
    SettingsError
        If it does not exist or returns something else.
    """
    module, _, function = name.partition(":")
    try:
        provide: TokenProvider = getattr(importlib.import_module(module), function)
        token, end = provide()
        if not isinstance(token, str) or not isinstance(end, (int, float)):
            raise TypeError("it must return a text and a number")
    except Exception as error:
        raise SettingsError(
            f"sasl_token_provider: {name} can't be used: {type(error).__name__}: {error}. It must "
            f"be module:function, and return a token and its end in milliseconds since 1970"
        ) from error
    return provide


def _check_tls(settings: Settings, password: str) -> None:
    """Load the TLS files like the client does, so that mistakes fail at the start.

    Without a password OpenSSL would wait for one at the terminal.
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
