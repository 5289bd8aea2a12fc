"""What somebody sends who does not speak Kafka's protocol, by the size that the first bytes would be."""


def describe_size(size: int, least: int, limit: int) -> str:
    """Why a request is refused that announces this many bytes.

    Arguments:
        least, limit: how many it may have.
    """
    head = size.to_bytes(4, "big", signed=True)
    if head.startswith((b"\x15\x03", b"\x16\x03")):
        return (
            "it speaks TLS, and this listener does not: the client needs security_protocol PLAINTEXT or SASL_PLAINTEXT"
        )
    if head.isascii() and head.decode().isprintable():
        return f"it does not speak Kafka's protocol, but sent {head.decode()!r}: a browser, or another client of HTTP?"
    return f"a request has {least} to {limit} bytes, this one says {size}"
