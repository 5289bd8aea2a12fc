"""The base classes of what users write."""

import abc
from collections.abc import Mapping
from typing import Any

from kafka.structs import TopicPartition


class ConsumerRebalanceListener(abc.ABC):
    """Told when partitions come and go. Its methods may be functions or coroutines.

    They are called whether anybody polls or not. What they raise is logged.
    """

    @abc.abstractmethod
    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> Any:
        """Called before ``revoked`` go to other members: the last chance to commit for them."""

    @abc.abstractmethod
    def on_partitions_assigned(self, assigned: set[TopicPartition]) -> Any:
        """Called when ``assigned`` are this consumer's, before anything of them is handed out: the place to seek."""

    def on_partitions_lost(self, lost: set[TopicPartition]) -> Any:
        """Called when ``lost`` may be other members' already; calls `on_partitions_revoked` unless it is overridden."""
        return self.on_partitions_revoked(lost)


class AbstractTokenProvider(abc.ABC):
    """Gives bearer tokens for OAUTHBEARER."""

    @abc.abstractmethod
    async def token(self) -> str:
        """A token that has not expired; called for each authentication."""

    def extensions(self) -> Mapping[str, str]:
        """SASL extensions to send with it."""
        return {}
