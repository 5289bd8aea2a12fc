"""Queries about the cluster: topics, partitions, and whether a broker is connected."""

from kafka.cluster import ClusterAccess
from kafka.errors import UnsupportedVersionError
from kafka.wire.api.metadata import MetadataRequest, MetadataResponse

_INTERNAL = ("__consumer_offsets", "__transaction_state")


class MetadataQueries:
    """Answers queries about the cluster. Runs on the loop.

    Arguments:
        client: holds the metadata and the connections.
    """

    def __init__(self, client: ClusterAccess) -> None:
        self._client = client

    async def partitions_for_topic(self, topic: str) -> set[int]:
        """The partitions of a topic; empty if there is no such topic."""
        found = self._client.metadata.partitions_for_topic(topic)
        if found is None:
            found = (await self._client.refresh_metadata([topic])).partitions_for_topic(topic)
        return found or set()

    async def all_topics(self) -> set[str]:
        """The names of all topics except internal ones."""
        response: MetadataResponse
        try:
            response = await self._client.send_any(MetadataRequest(topics=None), min_version=1)
        except UnsupportedVersionError:  # before Kafka 0.10: an empty list means all, and internal ones are not marked
            response = await self._client.send_any(MetadataRequest(topics=[]), max_version=0)
        return {
            each.name
            for each in response.topics
            if each.name and not each.error_code and not each.is_internal and each.name not in _INTERNAL
        }

    async def find(self, timeout_ms: float | None, renew: bool) -> None:
        """Wait until the brokers are known, or with ``renew`` until they are requested again.

        Arguments:
            timeout_ms: None: try for ever.
            renew: request the metadata even if they are known.

        Raises `KafkaTimeoutError`, with what the servers answered.
        """
        if renew or not self._client.metadata.brokers():
            await self._client.retry("looking up the brokers", self._client.refresh_metadata, timeout_ms)

    async def is_connected(self) -> bool:
        """Whether a broker is connected."""
        nodes = self._client.metadata.brokers()
        return any(self._client.ready_connection(node.nodeId) is not None for node in nodes)
