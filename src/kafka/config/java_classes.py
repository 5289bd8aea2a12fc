"""Java classes that properties of Java clients name, and what stands for them here."""

from collections.abc import Collection
from importlib import import_module
from typing import Any

from kafka.config.secrecy import shown
from kafka.errors import KafkaConfigurationError


def _to_text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def _to_bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


_BYTES = ("ByteArray", "Bytes", "ByteBuffer")
_CONVERSIONS: dict[str, Any] = {
    **{f"{kind}{end}": None for kind in _BYTES for end in ("Serializer", "Deserializer")},
    "StringSerializer": _to_bytes,
    "StringDeserializer": _to_text,
}
_CALLABLE = "a Python function or object as the keyword argument"


def conversion(name: str, value: str) -> Any:
    """What stands for a serializer or deserializer: a function, or None where bytes stay as they are."""
    return _CONVERSIONS[_known(name, value, _CONVERSIONS, _CALLABLE)]


def assignors(name: str, value: str) -> tuple[str, ...]:
    """The names of the assignors of these classes, as the assignors declare them."""
    listed = import_module("kafka.coordinator.assignors").ASSIGNORS  # of a higher layer: loaded only for such options
    names: dict[str, str] = {assignor.java_name: assignor.name for assignor in listed if assignor.java_name is not None}
    return tuple(names[_known(name, each, names, _CALLABLE)] for each in value.split(",") if each.strip())


def allow(name: str, value: str, allowed: Collection[str], instead: str) -> None:
    """Raise `KafkaConfigurationError` for a class that is none of these, which stand for what is done anyway."""
    for each in value.split(","):
        if each.strip():
            _known(name, each, allowed, instead)


_INSTEAD = {
    "GcpLoginCallbackHandler": (
        "'sasl.mechanism' PLAIN with the service account's e-mail address as 'sasl_plain_username' and its "
        "base64-encoded key as 'sasl_plain_password', or 'sasl_oauth_token_provider'"
    ),
}
"""What stands for classes of cloud providers that are not built in."""


def _known(name: str, value: str, known: Collection[str], instead: str) -> str:
    """The class's name without its package, which shaded copies of the Java client rename."""
    found = value.strip().rpartition(".")[2]
    if found not in known:
        there = f" (known: {', '.join(sorted(known))})" if known else ""
        instead = _INSTEAD.get(found, instead)
        raise KafkaConfigurationError(
            f"option {name!r} names the Java class {shown(name, value.strip())}{there}: use {instead}"
        )
    return found
