"""Formats text and bytes received from a peer for errors and logs."""

_TLS_ALERT = b"\x15\x03"
_TLS_HANDSHAKE = b"\x16\x03"
_RIGHT_PORT = "is it the right port?"


def describe_no_frame(head: bytes, size: int, limit: int) -> str:
    """Describe a peer that does not send Kafka frames, or sends a frame that is too large.

    Arguments:
        head: the first bytes.
        size: the frame size in these bytes, read as a size field.
        limit: the maximum frame size.
    """
    if head.startswith((_TLS_ALERT, _TLS_HANDSHAKE)):
        return "the peer speaks TLS on this port; set security_protocol to 'SSL' or 'SASL_SSL'"
    if head.startswith((b"HTTP/", b"<htm", b"<!DO")):
        return f"the peer is an HTTP server, not a Kafka broker; {_RIGHT_PORT}"
    if head[:4].isascii() and head[:4].decode().isprintable():
        return f"the peer is not a Kafka broker (it sent {shown_text(head.decode('latin-1'))!r}); {_RIGHT_PORT}"
    if size < 0:
        return f"expected a frame of Kafka's protocol, got a size of {size} (bytes {head!r}); is it a Kafka broker?"
    return (
        f"a frame of {size} bytes is announced, but 'receive_message_max_bytes' allows {limit}; raise that if "
        f"this is a Kafka broker (the frame begins with the bytes {head!r})"
    )


def shown_text(text: str, limit: int = 300) -> str:
    """Return the text, shortened, without control characters, line breaks and unprintable characters."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text[:limit])
