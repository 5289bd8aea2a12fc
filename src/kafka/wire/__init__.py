"""Conversion between bytes and Kafka's messages, for every message and version. Layer 1; imports `kafka.errors` only.

Each message is declared once, in `api/` (one module per API), as a class whose fields define in which versions they
exist. `kinds`, `structs`, `fields` and `message` provide the parts of declarations. `plan` compiles the declarations of
one version into a plan, `decoder` and `encoder` execute plans, `jsonform` converts to Kafka's JSON, and `framing` adds
headers and sizes. Nothing in this package does I/O or interprets messages.
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
