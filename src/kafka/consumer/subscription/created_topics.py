"""Warns of topics that brokers have created because the consumer asked for them: many of these are misspelt.

Brokers do not report that they create a topic. `TopicWatch` sees that a topic was missing before the request that may
create it, and exists now. `CreatedTopics` then asks a broker whether it creates topics, and for the names of the other
topics. Nothing is requested unless a topic was missing.
"""

import asyncio
import difflib
import logging

from kafka.cluster import BrokerRequests
from kafka.errors import KafkaError
from kafka.wire.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResource

log = logging.getLogger(__name__)

_BROKER = 4
"""The type of a broker among config resources."""
_SETTING = "auto.create.topics.enable"
_SIMILAR = 0.7
"""How similar the name of a topic must be to be suggested, from 0 to 1."""
_MOST_NAMES = 3


class CreatedTopics:
    """Logs a warning for each topic that was created because a consumer asked for it. Runs on the loop.

    Arguments:
        client: provides the metadata, and asks brokers.
    """

    def __init__(self, client: BrokerRequests) -> None:
        self._client = client
        self._tasks: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        """Stop asking brokers."""
        for task in self._tasks:
            task.cancel()

    def report(self, topic: str) -> None:
        """Warn of a topic, unless the brokers do not create topics on request: then someone else has created it."""
        task = asyncio.get_running_loop().create_task(self._report(topic), name="report a created topic")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _report(self, topic: str) -> None:
        creates = await self._brokers_create_topics()
        if creates is False:
            return
        partitions = len(self._client.metadata.partitions_for_topic(topic) or ())
        log.warning(
            "topic %r did not exist; the broker has %screated it with %d partition%s, because this consumer asked for "
            "it (%s); to prevent that, set allow_auto_create_topics=False%s",
            topic,
            "" if creates else "probably ",
            partitions,
            "" if partitions == 1 else "s",
            _SETTING,
            await self._similar(topic),
        )

    async def _brokers_create_topics(self) -> bool | None:
        """Return whether brokers create topics on request; None if the consumer is not allowed to know."""
        nodes = [node.nodeId for node in self._client.metadata.brokers()]
        if not nodes:
            return None
        node_id = min(nodes)
        resource = DescribeConfigsResource(
            resource_type=_BROKER, resource_name=str(node_id), configuration_keys=[_SETTING]
        )
        try:
            response = await self._client.send(node_id, DescribeConfigsRequest(resources=[resource]))
        except KafkaError as error:
            log.debug("the broker's %s is not known: %s", _SETTING, error)
            return None
        values = [config.value for result in response.results for config in result.configs if config.name == _SETTING]
        return values[0] == "true" if values else None

    async def _similar(self, topic: str) -> str:
        """Return a hint with the topics whose names are similar; "" if there are none."""
        try:
            response = await self._client.read_metadata(None)
        except KafkaError as error:
            log.debug("the names of topics are not known: %s", error)
            return ""
        names = sorted(
            each.name for each in response.topics if each.name and not each.is_internal and each.name != topic
        )
        by_letters = {name.lower(): name for name in names}
        found = difflib.get_close_matches(topic.lower(), list(by_letters), n=_MOST_NAMES, cutoff=_SIMILAR)
        return f"; did you mean {' or '.join(repr(by_letters[each]) for each in found)}?" if found else ""
