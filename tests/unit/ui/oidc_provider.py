"""A small OpenID Connect provider: discovery, authorization, token and keys, for one user.

`Provider.claims` and the other attributes decide what it answers, so that tests can make it wrong. It checks what a
real provider checks: the client, the redirect URI, PKCE, and that a code is used once.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT, SECRET = "kafka-ui", "s3cret of the client"


class Provider:
    """The provider's state.

    Attributes:
        claims: what the ID token says, in addition to what belongs in each one.
        key: the key that signs ID tokens.
        shown_key: the key that the provider publishes.
        issuer: the issuer in ID tokens; None for the right one.
        nonce: the nonce in ID tokens; None for the right one.
    """

    def __init__(self) -> None:
        self.url = ""
        self.key = self.shown_key = RSAKey.generate_key(2048, {"kid": "first"})
        self.claims: dict[str, Any] = {"sub": "1", "preferred_username": "ada", "groups": ["staff"]}
        self.issuer: str | None = None
        self.nonce: str | None = None
        self.audience = CLIENT
        self.lifetime_s = 300
        self._codes: dict[str, dict[str, str]] = {}

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._discovery),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
                Route("/keys", self._keys),
            ]
        )

    async def _discovery(self, _: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "id_token_signing_alg_values_supported": ["RS256", "none", "HS256"],
            }
        )

    async def _authorize(self, request: Request) -> Response:
        """Log the user in without asking, and send the browser back with a code."""
        given = dict(request.query_params)
        assert given["client_id"] == CLIENT
        assert given["response_type"] == "code"
        assert given["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(8)
        self._codes[code] = given
        return RedirectResponse(f"{given['redirect_uri']}?{urlencode({'code': code, 'state': given['state']})}")

    async def _token(self, request: Request) -> Response:
        given = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        basic = base64.b64decode(request.headers.get("authorization", "Basic ").partition(" ")[2]).decode()
        asked = self._codes.pop(given.get("code", ""), None)
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if asked is None or basic != f"{CLIENT}:{SECRET}" or challenge != asked["code_challenge"]:
            return JSONResponse({"error": "invalid_grant", "error_description": "this code is not valid"}, 400)
        assert given["redirect_uri"] == asked["redirect_uri"]
        now = int(time.time())
        claims = {
            "iss": self.issuer or self.url,
            "aud": self.audience,
            "iat": now,
            "exp": now + self.lifetime_s,
            "nonce": self.nonce or asked["nonce"],
            **self.claims,
        }
        token = jwt.encode({"alg": "RS256", "kid": "first"}, claims, self.key)
        return JSONResponse({"access_token": "x", "token_type": "Bearer", "id_token": token})

    async def _keys(self, _: Request) -> Response:
        return JSONResponse({"keys": [self.shown_key.as_dict(private=False)]})


@contextmanager
def provider() -> Iterator[Provider]:
    """Run a provider in a thread for the duration of the block."""
    made = Provider()
    config = uvicorn.Config(made.app(), port=0, log_level="critical", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    listening = config.bind_socket()
    made.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield made
    finally:
        server.should_exit = True
        thread.join(60)
