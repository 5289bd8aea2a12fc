"""Abstract base classes for users to subclass."""

import abc
from collections.abc import Mapping
from typing import Any

from kafka.structs import TopicPartition


class ConsumerRebalanceListener(abc.ABC):
    """Receives the partitions that a rebalance assigns or revokes. Its methods may be functions or coroutines.

    The methods are called even if the consumer is not polled. Errors that they raise are logged.
    """

    @abc.abstractmethod
    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> Any:
        """Called before ``revoked`` are assigned to other members. This is the last chance to commit their offsets."""

    @abc.abstractmethod
    def on_partitions_assigned(self, assigned: set[TopicPartition]) -> Any:
        """Called when ``assigned`` belong to this consumer, before it returns their records. Seek here if necessary."""

    def on_partitions_lost(self, lost: set[TopicPartition]) -> Any:
        """Called when other members may already own ``lost``; by default calls `on_partitions_revoked`."""
        return self.on_partitions_revoked(lost)


class AbstractTokenProvider(abc.ABC):
    """Provides bearer tokens for OAUTHBEARER."""

    @abc.abstractmethod
    async def token(self) -> str:
        """Return a token that has not expired. Called for each authentication."""

    def extensions(self) -> Mapping[str, str]:
        """Return SASL extensions to send with the token."""
        return {}
