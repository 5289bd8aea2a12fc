"""The API SaslHandshake (key 17, versions 0 to 1): agree on a SASL mechanism."""

from __future__ import annotations

from kafka.wire.fields import array, int16, string
from kafka.wire.message import Request, Response


class SaslHandshakeRequest(Request["SaslHandshakeResponse"], api_key=17, versions=(0, 1)):
    """Agree on a SASL mechanism."""

    mechanism: str = string()


class SaslHandshakeResponse(Response, request=SaslHandshakeRequest):
    """The response to `SaslHandshakeRequest`."""

    error_code: int = int16()
    mechanisms: list[str] = array(string)
