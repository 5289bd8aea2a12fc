"""The deserializers of a consumer, whatever kind of object the user has given."""

from typing import Any

from kafka.serializer import adapt_deserializer


class Deserializers:
    """That of keys and that of values; None for what is kept as bytes.

    Arguments:
        key, value: what the user has given.
    """

    def __init__(self, key: Any, value: Any) -> None:
        self.key = adapt_deserializer(key, "key")
        self.value = adapt_deserializer(value)

    def close(self) -> None:
        """Close both, and raise what one of them raises."""
        try:
            if self.key is not None:
                self.key.close()
        finally:
            if self.value is not None:
                self.value.close()
