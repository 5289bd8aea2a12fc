"""The principal of a forwarded request."""

from __future__ import annotations

from kafka.wire.fields import boolean, string
from kafka.wire.message import Message


class DefaultPrincipalData(Message, versions=(0, 0), flexible_since=0):
    """The principal in an Envelope request."""

    type: str = string()
    name: str = string()
    token_authenticated: bool = boolean()
