"""The API SaslAuthenticate (key 36, versions 0 to 2): exchange the messages of a SASL mechanism."""

from __future__ import annotations

from kafka.wire.fields import binary, int16, int64, string
from kafka.wire.message import Request, Response


class SaslAuthenticateRequest(Request["SaslAuthenticateResponse"], api_key=36, versions=(0, 2), flexible_since=2):
    """Exchange the messages of a SASL mechanism."""

    auth_bytes: bytes = binary()

    def __repr__(self) -> str:
        """Leave out the value, which may contain a password."""
        return f"{type(self).__name__}(auth_bytes=(not shown))"


class SaslAuthenticateResponse(Response, request=SaslAuthenticateRequest):
    """The response to `SaslAuthenticateRequest`."""

    error_code: int = int16()
    error_message: str | None = string(nullable=True)
    auth_bytes: bytes = binary()
    session_lifetime_ms: int = int64(since=1, ignorable=True)
