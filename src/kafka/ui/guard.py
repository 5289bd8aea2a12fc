"""Protects the UI: rejects requests from other sites, and restricts what browsers may do with the responses."""

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Iterable
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kafka._addresses import AddressError, split_address
from kafka.ui.access.user import current_user

LARGEST_FORM = 64 << 10
_MOST_FIELDS = 100
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Guard:
    """Rejects requests that other sites make a browser send, and adds security headers to the responses.

    Another site can make its own host name resolve to this address (DNS rebinding), and then read the responses. The
    Host header of such requests contains the site's name, so only IP addresses, "localhost" and the configured names
    are accepted.

    Arguments:
        names: the allowed host names.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str] = ()) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject the request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        headers = Headers(scope=scope)
        refusal = self._refusal(headers, scope["method"])
        if refusal is None:
            await self._app(scope, receive, sent)
        else:
            await PlainTextResponse(f"{refusal}\n", status_code=403)(scope, receive, sent)

    def _refusal(self, headers: Headers, method: str) -> str | None:
        host = host_of(headers.get("host", ""))
        if not self._answers(host):
            return (
                f"this page is not served under the name {host!r:.100}: use an address or localhost, or start kafka ui "
                "with --name"
            )
        if method in ("GET", "HEAD"):
            if headers.get("sec-fetch-site") in ("cross-site", "same-site") and (
                headers.get("sec-fetch-mode") != "navigate"
            ):
                return "other sites may link to this page, but not load parts of it"  # a part could start a search
            return None
        origin = headers.get("origin")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "this request came from another site"
        if origin is not None and _netloc(origin) != headers.get("host"):
            return "this request came from another site"
        return None

    def _answers(self, host: str) -> bool:
        if host.lower() in self._names or host.lower() == "localhost":
            return True
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return False
        return True


def _netloc(origin: str) -> str:
    """Return the host and port in an Origin header; "" if the header is invalid."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def host_of(header: str) -> str:
    """Return the host in a Host header, without the port and brackets; "" if the header is invalid."""
    try:
        host, _ = split_address(header)
    except AddressError:
        return ""
    return host if header.startswith("[") == (":" in host) else ""


class Forms:
    """Accepts only forms that were created by this UI for the same session: their token is known to no other site."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    @property
    def token(self) -> str:
        """The token for forms of the current user's session."""
        return hmac.digest(self._key, current_user().session.encode(), hashlib.sha256).hex()

    async def read(self, request: Request, largest: int = LARGEST_FORM) -> dict[str, str]:
        """Return a form's fields without checking the token.

        Arguments:
            largest: maximum size of the form in bytes.

        Raises `ValueError` if the form is too long.
        """
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > largest:
                raise ValueError(f"expected a form of at most {largest:,} bytes")
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        return {name: values[-1] for name, values in fields.items()}

    async def fields(self, request: Request, largest: int = LARGEST_FORM) -> dict[str, str] | None:
        """Return a form's fields; None if the token is wrong. Raises `ValueError` if the form is too long."""
        given = await self.read(request, largest)
        token = given.pop("token", "")
        return given if hmac.compare_digest(token.encode(), self.token.encode()) else None
