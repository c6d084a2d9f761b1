"""A broker that asks for OAUTHBEARER tokens, which it does not verify, and a token provider."""

from __future__ import annotations

import base64
import json
import time

from support.broker import Broker, free_ports

_LOGIN = (
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
    'unsecuredLoginStringClaim_sub="admin";'
)
SECONDS = 60  # lifetime of a token


def token() -> tuple[str, float]:
    """Return an unsigned token and its end."""

    def part(fields: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")

    now = int(time.time())
    claims = part({"sub": "worker", "iat": now, "exp": now + SECONDS})
    return f"{part({'alg': 'none'})}.{claims}.", (now + SECONDS) * 1000


def make_token_broker() -> tuple[Broker, int]:
    """Start a broker; return it with the port that asks for tokens. The caller closes it."""
    (port,) = free_ports(1)
    listeners = f"PLAINTEXT://127.0.0.1:{{port}},SASL_PLAINTEXT://127.0.0.1:{port}"
    broker = Broker(
        properties={
            "listeners": f"{listeners},CONTROLLER://127.0.0.1:{{controller}}",
            "advertised.listeners": listeners,
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,"
            "CONTROLLER:PLAINTEXT",
            "sasl.enabled.mechanisms": "OAUTHBEARER",
            "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config": _LOGIN,
        }
    )
    broker.start()
    return broker, port
