"""kafka-python's import path of `ABCRecord`, which tracing tools name in their annotations."""

import abc
from typing import Any

from kafka.record.records import ConsumerRecord


class ABCRecord(abc.ABC):
    """What every record has; `ConsumerRecord` counts as one."""

    @property
    @abc.abstractmethod
    def offset(self) -> int:
        """The offset in its partition."""

    @property
    @abc.abstractmethod
    def timestamp(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""

    @property
    @abc.abstractmethod
    def key(self) -> Any:
        """The key."""

    @property
    @abc.abstractmethod
    def value(self) -> Any:
        """The value."""

    @property
    @abc.abstractmethod
    def headers(self) -> Any:
        """Pairs of key and value."""


ABCRecord.register(ConsumerRecord)
