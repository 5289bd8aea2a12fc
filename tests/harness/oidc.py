"""A small OAuth 2 server: keys, and tokens for client credentials or signed assertions."""

from __future__ import annotations

import base64
import json
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

CLIENTS = {"alice": "alice: secret%"}
"""Client ids and their secrets, with characters that an encoding may stumble over."""
_JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class OidcServer:
    """Serves `/jwks` and `/token` on a free port of 127.0.0.1 in a thread, from `with` on.

    Attributes:
        claims: put into every token, over the usual ones.
        life_s: of the tokens.
        replies: what is answered instead, each once: an HTTP status and a body.
        missing: how many bytes of an answer do not come, though it has announced them.
        asked: the forms that came in.
        assertion_key: what assertions are to be signed with (PEM text of it: `assertion_pem`).
    """

    issuer = "https://issuer.test"
    audience = "kafka"

    def __init__(self, life_s: int = 600) -> None:
        self.claims: dict[str, Any] = {}
        self.life_s = life_s
        self.missing = 0
        self.replies: list[tuple[int, bytes]] = []
        self.asked: list[dict[str, str]] = []
        self._key = RSAKey.generate_key(2048, {"kid": "k1", "use": "sig", "alg": "RS256"})
        self.assertion_key = RSAKey.generate_key(2048)
        self.port = 0

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def assertion_pem(self, password: str | None = None) -> str:
        """The private key of assertions."""
        return self.assertion_key.as_pem(private=True, password=password).decode()

    def token(self, subject: str, **claims: Any) -> str:
        """A signed token."""
        now = int(time.time())
        usual = {"iss": self.issuer, "aud": self.audience, "sub": subject, "iat": now, "exp": now + self.life_s}
        header = {"alg": "RS256", "kid": "k1", "typ": "JWT"}
        return jwt.encode(header, {**usual, "scope": "kafka", **self.claims, **claims}, self._key)

    def answer(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """What the token endpoint says."""
        if form.get("grant_type") == _JWT_BEARER:
            try:
                claims = jwt.decode(form["assertion"], self.assertion_key).claims
            except JoseError as error:
                return 400, {"error": "invalid_grant", "error_description": str(error)}
            return 200, {"access_token": self.token(claims["sub"]), "expires_in": self.life_s, "token_type": "Bearer"}
        client, _, secret = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        if CLIENTS.get(client) != secret:
            return 401, {"error": "invalid_client", "error_description": f"no client with the secret {secret}"}
        return 200, {"access_token": self.token(client), "expires_in": self.life_s, "token_type": "Bearer"}

    def __enter__(self) -> OidcServer:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._say(200, json.dumps({"keys": [server._key.as_dict(private=False)]}).encode())

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = dict(urllib.parse.parse_qsl(body))
                server.asked.append(form)
                if server.replies:
                    self._say(*server.replies.pop(0))
                    return
                status, answer = server.answer(form, self.headers.get("Authorization", ""))
                self._say(status, json.dumps(answer).encode())

            def _say(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body) + server.missing))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
