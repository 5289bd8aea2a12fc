"""The core of a consumer: everything except the public classes and the way they wait.

`ConsumerCore` adds the operations to the parts that `ConsumerParts` connects. It has two sides. Methods below a heading
"The caller's side" run in the caller's thread (for the asyncio consumer on its loop) and never wait. Coroutines, and
the methods that the parts call, run on the client's loop. `Runner` connects the two sides.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable

from kafka.cluster import ClusterAccess
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.config import ConsumerConfig
from kafka.consumer.buffer.partition_state import FetchPosition, PartitionState
from kafka.consumer.commit.commits import Offsets
from kafka.consumer.parts import ConsumerParts, Runner
from kafka.consumer.position.special_timestamps import EARLIEST, LATEST
from kafka.consumer.subscription.subscription_state import SubscriptionType
from kafka.coordinator.offset_arguments import ReadOffsets
from kafka.errors import (
    AssertedStateError,
    IllegalStateError,
    KafkaError,
    KafkaTimeoutError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
    UnsupportedVersionError,
    WakeupError,
)
from kafka.health import meanwhile
from kafka.structs import TopicPartition
from kafka.wire.api.metadata import MetadataRequest, MetadataResponse

log = logging.getLogger(__name__)

LEAVE_TIMEOUT_MS = 5_000
"""How long closing tries to notify the coordinator, which otherwise removes the member when the session expires."""


LEAVE_WAIT_MS = 1_000
"""How long ``unsubscribe()`` waits for the coordinator; Java's consumer does not wait at all."""
_INTERNAL = ("__consumer_offsets", "__transaction_state")
_RANGE_WAIT_MS = 500
"""How long to look up a partition's available offsets for an error message."""
RELEASE_WAIT_MS = 5_000
"""How long ``assign()`` and ``unsubscribe()`` wait for the automatic commit; it continues after that."""


class ConsumerCore(ConsumerParts):
    """The operations of one consumer; see the module.

    Arguments:
        config: all options.
        runner: connects the loop and the caller.
        loop: the loop on which this runs.
        client: the cluster client; None: create one from the options.
    """

    def __init__(
        self,
        config: ConsumerConfig,
        runner: Runner,
        loop: asyncio.AbstractEventLoop,
        client: ClusterAccess | None = None,
    ) -> None:
        super().__init__(config, runner, loop, client)
        self.cluster = MetadataQueries(self.client)
        self.close_begun = False
        """Whether `close` has been called. It is completed even if no caller waits for it any more."""
        self.poll_along: Callable[[], object] | None = None
        """Polls the `_client` that a program has requested from its consumer, with each poll of the consumer."""
        self._raised = False
        self._positions_wanted = False
        self._warned_idle = False
        self._topics_looked_up = False

    # The loop's side: lifecycle ---------------------------------------------------------------------------------------

    async def start(self, *, in_background: bool = False) -> None:
        """Find the cluster. Raises `NoBrokersAvailable` unless ``in_background``; see `ClusterClient.start`."""
        await self._client_core.start(in_background=in_background)
        self.client.on_metadata(self._metadata_changed)
        self.commits.start()

    async def close(self, timeout_ms: float) -> None:
        """Leave the group and close the connections, once. Does not raise."""
        if self.close_begun:
            return
        self.close_begun = True
        self.closed = self.events.pending = True
        self._runner.notify()
        deadline = self._loop.time() + timeout_ms / 1000
        self.fetcher.close()
        self.positions.close()
        self.topics.close()
        try:
            try:
                await self.commits.close()
            finally:  # done even if waiting was interrupted
                left_ms = (deadline - self._loop.time()) * 1000
                await self.membership.close(min(max(left_ms, 100.0), LEAVE_TIMEOUT_MS))
        finally:
            try:
                await self._client_core.close(deadline - self._loop.time())
            finally:
                await self._statistics.close(deadline)

    def drop_fetched(self) -> None:
        """Release fetched data that was not returned. Called after `close`, when no one polls."""
        self.buffer.close(self.subscription.states())

    # The loop's side: calls that wait ---------------------------------------------------------------------------------

    async def position(self, tp: TopicPartition, timeout_ms: float) -> int:
        """Return the position of ``tp``, looking it up if necessary. Raises `KafkaTimeoutError`."""
        state = self.subscription.assigned(tp)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                while state.position is None:
                    await self.positions.outcome(state)
                    state = self.subscription.assigned(tp)
        except NoOffsetForPartitionError as error:
            error.group_id = self.config.group.group_id
            raise
        except TimeoutError:
            raise KafkaTimeoutError(
                f"the position of partition {tp.partition} of topic {tp.topic!r} was not found within {timeout_ms} ms"
                + meanwhile(self._client_core.current_failures.failing())
            ) from None
        finally:
            self._positions_wanted = self.events.pending = True  # poll() continues the lookup in any case
        return state.position.offset

    async def look_up_topics(self, timeout_ms: float) -> None:
        """Load the metadata of the subscribed topics; after a failure, `poll()` tries again."""
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await self.cluster.find(timeout_ms, renew=False)
                await self.client.refresh_metadata()
        except (KafkaError, TimeoutError) as error:
            log.debug("the topics could not be looked up ahead of poll(): %s", error)

    async def leave_group(self) -> None:
        """Give up the membership, and wait briefly for the coordinator. Does not raise."""
        await self.membership.leave("the consumer has unsubscribed", LEAVE_WAIT_MS)

    def begin_to_leave_group(self) -> None:
        """Give up the membership, and notify the coordinator in the background."""
        self.membership.begin_to_leave("the consumer has unsubscribed")

    # The caller's side: polling ---------------------------------------------------------------------------------------

    def begin_poll(self, now: float) -> None:
        """Begin a poll, which lasts until `PollClock.end`. Raises `IllegalStateError` if the consumer is closed."""
        if self.closed:
            raise IllegalStateError("the consumer is closed")
        if self.poll_along is not None:
            self.events.pending = True
        self.clock.begin(now)

    def raise_wakeup(self) -> None:
        """Raise `WakeupError`, once, if the caller was woken."""
        if self.events.woken() and not self.closed:
            raise WakeupError("wakeup() was called")

    def begin_processing_events(self) -> None:
        """Begin to handle background events. From here on, `events.pending` covers only later events."""
        self.events.pending = False
        try:
            self.truncations.act()
        except BaseException:
            self.events.pending = True  # the next call handles the rest
            raise
        self.raise_error()
        if self._positions_wanted:
            self._positions_wanted = False
            self._runner.submit(self.positions.resolve)
        self.commits.begin_due()

    def raise_error(self) -> None:
        """Raise background errors, one per call. The first call without an error resumes the work that was stopped."""
        while (failure := self.events.next_error()) is not None:
            error = self._still_true(failure)
            self._raised = True
            if error is not None:
                self.events.pending = True
                raise error
        if self._raised:
            self._raised = False
            self._runner.submit(self.positions.resolve)

    def _still_true(self, error: Exception) -> Exception | None:
        """Return the error without the partitions that no longer need a position, or None if that leaves none."""
        if not isinstance(error, NoOffsetForPartitionError):
            return error
        states = (self.subscription.state_of(tp) for tp in error.args[0])
        lacking = [state.tp for state in states if state is not None and state.position is None and state.reset is None]
        return NoOffsetForPartitionError(lacking, group_id=self.config.group.group_id) if lacking else None

    async def find_ranges(self, error: OffsetOutOfRangeError) -> None:
        """Add the available offsets to an error, if brokers return them quickly."""
        offsets = error.args[0] if error.args else None
        if not isinstance(offsets, dict) or error.ranges or self.closed:
            return
        try:
            first = await self.offsets_for_times.find(dict.fromkeys(offsets, EARLIEST), _RANGE_WAIT_MS)
            end = await self.offsets_for_times.find(dict.fromkeys(offsets, LATEST), _RANGE_WAIT_MS)
        except KafkaError as failure:
            log.debug("the range of offsets was not found for an error: %s", failure)
            return
        error.ranges = {tp: (first[tp].offset, end[tp].offset) for tp in offsets}

    def check_wanted(self) -> None:
        """Raise `IllegalStateError` without a subscription or assignment, because iteration would never end."""
        if self.subscription.type is SubscriptionType.NONE:
            raise AssertedStateError("nothing is subscribed to or assigned: call subscribe() or assign() first")

    def warn_if_idle(self) -> None:
        """Log, once, that `poll()` cannot return anything."""
        if self.subscription.type is SubscriptionType.NONE and not self._warned_idle:
            self._warned_idle = True
            log.warning(
                "poll() cannot return anything: nothing is subscribed to or assigned; call subscribe() or assign()"
            )

    # The caller's side: subscribing and seeking -----------------------------------------------------------------------

    def subscribed(self) -> None:
        """Update the parts of the consumer after the subscription changed."""
        self.rebalance.subscription_changed()
        self._left.forget()
        self._topics_looked_up = False
        self.events.pending = True
        self._runner.submit(self._resubscribe)

    def take_ahead(self) -> None:
        """Without a group, assign the known partitions of the subscription before the next `poll()`."""
        if self._takes_ahead:
            self.rebalance.take_ahead(self.client.metadata.version)

    def topics_unknown(self) -> bool:
        """Return whether to look up topics for `take_ahead`; only once for each subscription."""
        if not self._takes_ahead or self._topics_looked_up:
            return False
        self._topics_looked_up = True
        topics, metadata = self.subscription.topics, self.client.metadata
        return not topics or any(metadata.partitions_for_topic(topic) is None for topic in topics)

    @property
    def _takes_ahead(self) -> bool:
        return self.config.group.group_id is None and self.subscription.is_automatic and not self.closed

    def enforce_rebalance(self, reason: str) -> None:
        """Make the group rebalance with the next `poll()`. Raises `IllegalStateError` without a group."""
        group = self.config.group
        if group.group_id is None:
            raise AssertedStateError("only a consumer in a group can rebalance: set group_id")
        if group.group_protocol == "consumer":
            log.warning("enforce_rebalance() has no effect with group_protocol='consumer': the coordinator assigns")
        elif self.subscription.is_automatic:
            self._runner.submit(self.membership.subscription_changed, reason)

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Assign partitions manually."""
        self._drop(self.subscription.assign_from_user(partitions))
        self._runner.submit(self._wants_others)
        # Positions are not looked up before the next poll(), because a seek usually comes first.
        self._positions_wanted = self.events.pending = True

    def unsubscribe(self) -> None:
        """Unsubscribe from all topics and unassign all partitions; `leave_group` leaves the group."""
        self._drop(self.subscription.unsubscribe())
        self._runner.submit(self._wants_others)

    def seek(self, state: PartitionState, offset: int) -> None:
        """Move the position to ``offset``."""
        unplaced = state.position is None
        self.read_from(state, FetchPosition(offset))
        if unplaced:
            self._runner.submit(self.positions.moved, state)

    def pause(self, state: PartitionState) -> None:
        """Stop returning records from a partition until `resume`; fetched data is kept."""
        self.buffer.pause(state)
        self._runner.submit(self.fetcher.refresh, state)

    def resume(self, state: PartitionState) -> None:
        """Resume returning records from a partition."""
        self.buffer.resume(state)
        self._runner.submit(self.fetcher.refresh, state)

    def consumed_offsets(self) -> Offsets:
        """Return the positions to commit."""
        return self.subscription.all_consumed_offsets()

    def given_offsets(self, offsets: Offsets) -> Offsets:
        """Return offsets passed by the program, with topic ids added to detect positions in deleted topics."""
        given = ReadOffsets()
        given.update(offsets)
        for tp in offsets:
            state = self.subscription.state_of(tp)
            topic_id = None if state is None else state.topic_id
            if topic_id is not None:
                given.topic_ids[tp] = topic_id
        return given

    # Internals --------------------------------------------------------------------------------------------------------

    def _wants_others(self) -> None:
        self.topics.update()
        self.history.subscription_changed()
        self.history.metadata_changed(self.client.metadata)

    def _resubscribe(self) -> None:
        try:
            self._wants_others()
            self.membership.subscription_changed("the subscription has changed")
        finally:  # otherwise no further step would be carried out
            self.rebalance.subscription_heard()

    def _metadata_changed(self, metadata: ClusterMetadata) -> None:
        if self.closed:
            return
        others_match = self.topics.metadata_changed(metadata)
        self.history.metadata_changed(metadata)
        self.fetcher.refresh_all()
        if not self.subscription.is_automatic:
            return
        if others_match:
            self.membership.subscription_changed("other topics match the pattern now")
        self.membership.metadata_changed(metadata)


class MetadataQueries:
    """Answers queries about the cluster. Runs on the loop.

    Arguments:
        client: provides the metadata and the connections.
    """

    def __init__(self, client: ClusterAccess) -> None:
        self._client = client

    async def partitions_for_topic(self, topic: str) -> set[int]:
        """Return the partitions of a topic; empty if there is no such topic."""
        found = self._client.metadata.partitions_for_topic(topic)
        if found is None:
            found = (await self._client.refresh_metadata([topic])).partitions_for_topic(topic)
        return found or set()

    async def all_topics(self) -> set[str]:
        """Return the names of all topics except internal ones."""
        response: MetadataResponse
        try:
            response = await self._client.send_any(MetadataRequest(topics=None), min_version=1)
        except UnsupportedVersionError:  # before Kafka 0.10, an empty list means all topics; none is marked internal
            response = await self._client.send_any(MetadataRequest(topics=[]), max_version=0)
        return {
            each.name
            for each in response.topics
            if each.name and not each.error_code and not each.is_internal and each.name not in _INTERNAL
        }

    async def find(self, timeout_ms: float | None, renew: bool) -> None:
        """Wait until the brokers are known.

        Arguments:
            timeout_ms: how long to try; None: no limit.
            renew: request the metadata again, even if the brokers are known.

        Raises `KafkaTimeoutError` with the error of each server in its message.
        """
        if renew or not self._client.metadata.brokers():
            await self._client.retry("looking up the brokers", self._client.refresh_metadata, timeout_ms)

    async def is_connected(self) -> bool:
        """Return whether the client is connected to a broker."""
        nodes = self._client.metadata.brokers()
        return any(self._client.ready_connection(node.nodeId) is not None for node in nodes)
