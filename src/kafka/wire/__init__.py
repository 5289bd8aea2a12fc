"""Kafka's messages: bytes to objects and back, every message and every version. Layer 1; imports `kafka.errors` only.

A message is declared once, in `api/` (one module an API), as a class whose fields say since and until which version
they exist; `kinds`, `structs`, `fields` and `message` are what it is declared with. `plan` turns the declarations of
one version into a plan, `decoder` and `encoder` run plans, `jsonform` gives Kafka's JSON, `framing` adds headers and
sizes. Nothing here does I/O or knows what a message means.
"""

from __future__ import annotations

from kafka.wire.fields import NO_UUID, RecordBytes
from kafka.wire.index import message_class, message_names, request_class
from kafka.wire.message import Message, Request, Response
from kafka.wire.structs import Struct

__all__ = [
    "NO_UUID",
    "Message",
    "RecordBytes",
    "Request",
    "Response",
    "Struct",
    "message_class",
    "message_names",
    "request_class",
]
