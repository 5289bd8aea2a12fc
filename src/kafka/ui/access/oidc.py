"""Login at an OpenID Connect provider, with Authlib: the authorization code flow with PKCE, state and nonce.

This is the only module that imports Authlib. `oidc_rules.py` decides which users get which role.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from authlib.integrations.base_client import MismatchingStateError, OAuthError
from authlib.integrations.starlette_client import OAuth
from joserfc.errors import JoseError
from starlette.requests import Request
from starlette.responses import Response

from kafka.ui.access.oidc_rules import LoginRefusedError, OidcSettings, name_of
from kafka.ui.access.user import Role

_TIMEOUT_S = 10
_NOT_SIGNED = ("none", "HS256", "HS384", "HS512")
"""Algorithms of ID tokens that are not accepted, because they do not prove that the provider signed the token."""


class OidcUser(NamedTuple):
    """A user who logged in at the provider."""

    name: str
    role: Role


class OidcLogin:
    """Sends users to a provider, and receives them back.

    Raises `ValueError` if the provider's URL is not https.
    """

    def __init__(self, settings: OidcSettings) -> None:
        self._settings = settings
        self._app = OAuth().register(
            "kafka",
            client_id=settings.client_id,
            client_secret=settings.client_secret or None,
            server_metadata_url=settings.discovery_url,
            client_kwargs={
                "scope": settings.scope,
                "code_challenge_method": "S256",
                "timeout": _TIMEOUT_S,
                **({} if settings.client_secret else {"token_endpoint_auth_method": "none"}),
            },
        )

    async def start(self, request: Request, returns_to: str) -> Response:
        """Return a redirect to the provider. What the return needs is added to the request's session.

        Arguments:
            returns_to: the URL to which the provider sends the user back.

        Raises `LoginRefusedError` if the provider does not respond.
        """
        try:
            await self._metadata()
            answer: Response = await self._app.authorize_redirect(request, returns_to)
        except Exception as error:
            raise _refused(error) from error
        return answer

    async def finish(self, request: Request) -> OidcUser:
        """Return the user whom the provider sent back. Raises `LoginRefusedError`."""
        try:
            metadata = await self._metadata()
            required = {
                "iss": {"essential": True, "value": metadata["issuer"]},
                "aud": {"essential": True, "value": self._settings.client_id},  # Authlib alone does not check it
                "exp": {"essential": True},
            }
            token: dict[str, Any] = await self._app.authorize_access_token(request, claims_options=required)
        except Exception as error:
            raise _refused(error) from error
        claims = token.get("userinfo")
        if not claims:
            raise LoginRefusedError("the provider sent no ID token; the scope must contain openid")
        role = self._settings.role_of(claims)
        if role is None:
            raise LoginRefusedError(
                f"{name_of(claims)!r:.100} may not use this UI: no rule of --oidc-viewers or --oidc-operators fits"
            )
        return OidcUser(name_of(claims), role)

    async def _metadata(self) -> dict[str, Any]:
        """Return the discovery document, without the algorithms that are not accepted."""
        found: dict[str, Any] = await self._app.load_server_metadata()
        offered = found.get("id_token_signing_alg_values_supported") or ["RS256"]
        found["id_token_signing_alg_values_supported"] = [each for each in offered if each not in _NOT_SIGNED]
        return found


def _refused(error: Exception) -> LoginRefusedError:
    """Return an error for the page. Raises errors again that are bugs of this program."""
    if isinstance(error, MismatchingStateError):
        return LoginRefusedError("this browser has not begun this login, or too long ago: log in again")
    if isinstance(error, OAuthError):
        return LoginRefusedError(f"the provider refused the login: {error.description or error.error}"[:300])
    if isinstance(error, JoseError):
        return LoginRefusedError(f"the provider's ID token is not valid: {error}"[:300])
    if type(error).__module__.partition(".")[0] in ("httpx", "httpx2"):
        return LoginRefusedError(f"the provider does not answer: {type(error).__name__} {error}"[:300])
    if isinstance(error, RuntimeError | ValueError | KeyError | TypeError):
        return LoginRefusedError(f"the provider's response is not valid: {error}"[:300])
    raise error
