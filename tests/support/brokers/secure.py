"""A broker with TLS, mutual TLS and SASL, and its own certificates."""

from __future__ import annotations

import dataclasses
import datetime
from pathlib import Path
from typing import Any

from support.broker import Broker, free_ports

SECRET = "hunter2-is-the-secret"
KEY_SECRET = "swordfish-opens-the-key"
_LISTENERS = ("SASL_SSL", "SASL_PLAINTEXT", "SSL")
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
_PLAIN = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    f'user_worker="{SECRET}" user_stranger="{SECRET}";'
)


@dataclasses.dataclass(frozen=True)
class SecureBroker:
    """A broker, its listeners, and the files of a client.

    `worker` has all rights, `stranger` none; both have the password `SECRET`. The test itself uses
    the plain-text listener.
    """

    broker: Broker
    ports: dict[str, int]
    folder: Path
    authority: Any

    def file(self, name: str) -> str:
        return str(self.folder / f"{name}.pem")

    def settings(self, protocol: str, **more: str) -> dict[str, str]:
        """Return a worker's environment for one listener."""
        found = {
            "BOOTSTRAP_SERVERS": f"127.0.0.1:{self.ports[protocol]}",
            "SECURITY_PROTOCOL": protocol,
        }
        if protocol.endswith("SSL"):
            found["TLS_CA_FILE"] = self.file("ca")
        if protocol == "SSL":
            found |= {
                "TLS_CERT_FILE": self.file("client"),
                "TLS_KEY_FILE": self.file("client-key"),
                "TLS_KEY_PASSWORD": KEY_SECRET,
            }
        else:
            found |= {"SASL_USERNAME": "worker", "SASL_PASSWORD": SECRET}
        return {f"STREAMNB_{name}": value for name, value in (found | more).items()}

    def write_certificate(self, name: str, seconds: float) -> None:
        """Write a client's certificate that ends after this number of seconds, with its key."""
        end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
        made = self.authority.issue_cert("w@streamnb.example", common_name="worker", not_after=end)
        Path(self.file(name)).write_bytes(made.private_key_and_cert_chain_pem.bytes())

    def set_password(self, user: str, password: str) -> None:
        """Set the password of a user for both SCRAM mechanisms. Open connections stay open."""
        _set_password(self.broker, user, password)


def make_certificates(folder: Path) -> Any:
    """Write the certificates: of the broker, of a client with an encrypted key, of another
    authority. Return the authority of the first two.
    """
    import trustme
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        NoEncryption,
        PrivateFormat,
        load_pem_private_key,
    )

    def key(certificate: Any, encryption: Any) -> bytes:
        loaded = load_pem_private_key(certificate.private_key_pem.bytes(), None)
        return loaded.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)

    def chain(certificate: Any) -> bytes:
        return b"".join(each.bytes() for each in certificate.cert_chain_pems)

    own, other = trustme.CA(), trustme.CA()
    server = own.issue_cert("127.0.0.1", "localhost")
    client = own.issue_cert("worker@streamnb.example", common_name="worker")
    unknown = other.issue_cert("worker@streamnb.example", common_name="worker")
    for name, data in {
        "ca": own.cert_pem.bytes(),
        "other": other.cert_pem.bytes(),
        "server": key(server, NoEncryption()) + chain(server),
        "client": chain(client),
        "client-key": key(client, BestAvailableEncryption(KEY_SECRET.encode())),
        "unknown": key(unknown, NoEncryption()) + chain(unknown),
    }.items():
        (folder / f"{name}.pem").write_bytes(data)
    return own


def make_secure_broker(folder: Path) -> SecureBroker:
    """Start a broker; the caller closes it."""
    authority = make_certificates(folder)
    ports = dict(zip(_LISTENERS, free_ports(len(_LISTENERS)), strict=True))
    more = ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items())
    plain = f"PLAINTEXT://127.0.0.1:{{port}},{more}"
    properties = {
        "listeners": f"{plain},CONTROLLER://127.0.0.1:{{controller}}",
        "advertised.listeners": plain,
        "listener.security.protocol.map": ",".join(
            f"{name}:{name}" for name in ("PLAINTEXT", *_LISTENERS)
        )
        + ",CONTROLLER:PLAINTEXT",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "server.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
        "ssl.principal.mapping.rules": "RULE:^.*CN=([^,]+).*$/$1/,DEFAULT",
        "listener.name.ssl.ssl.client.auth": "required",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:worker",
    }
    for name in ("sasl_ssl", "sasl_plaintext"):
        begin = f"listener.name.{name}"
        properties[f"{begin}.plain.sasl.jaas.config"] = _PLAIN
        properties[f"{begin}.scram-sha-256.sasl.jaas.config"] = _SCRAM
        properties[f"{begin}.scram-sha-512.sasl.jaas.config"] = _SCRAM
    broker = Broker(properties=properties)
    try:
        broker.start()
        for user in ("worker", "stranger"):
            _set_password(broker, user, SECRET)
    except BaseException:
        broker.close()
        raise
    return SecureBroker(broker, ports, folder, authority)


def _set_password(broker: Broker, user: str, password: str) -> None:
    from kafka.admin import UserScramCredentialUpsertion

    from kafka import KafkaAdminClient

    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap)
    try:
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):  # one of a user in one request
            done = admin.alter_user_scram_credentials(
                [UserScramCredentialUpsertion(user, mechanism, password)]
            )
            assert not any(done.values()), done
    finally:
        admin.close()
