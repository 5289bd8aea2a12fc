"""The types of keys and values, for type checkers: `KafkaConsumer[str, Order]` gives `ConsumerRecord[str, Order]`.

Where a program names none, both are `Any` (PEP 696), also for a checker that wants every parameter named.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Key = TypeVar("Key", default=Any)
    Value = TypeVar("Value", default=Any)
else:
    from typing import TypeVar

    Key = TypeVar("Key")
    Value = TypeVar("Value")
