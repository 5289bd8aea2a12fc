"""A principal as brokers forward it."""

from __future__ import annotations

from kafka.wire.fields import boolean, string
from kafka.wire.message import Message


class DefaultPrincipalData(Message, versions=(0, 0), flexible_since=0):
    """A principal as it is forwarded within an envelope."""

    type: str = string()
    name: str = string()
    token_authenticated: bool = boolean()
