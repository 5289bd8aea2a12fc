"""Requests metadata from a broker, and merges the response into the known metadata.

Impossible numbers are removed from a response first, because the client relies on valid ones.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from uuid import UUID

from kafka._addresses import format_address
from kafka.cluster.metadata_snapshot import ClusterMetadata
from kafka.errors import MetadataEmptyBrokerList, UnknownTopicOrPartitionError
from kafka.net import Connection
from kafka.wire.api.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponseTopic

if TYPE_CHECKING:
    from kafka.wire.api.metadata import MetadataResponse

log = logging.getLogger(__name__)
T = TypeVar("T")


MOST_PARTITIONS = 1_000_000
"""More partitions than any real topic has. Callers allocate tables as long as a topic's highest partition number."""
_LONGEST_NAME = 249
_SHOWN = 5


def remove_impossible(response: "MetadataResponse") -> list[str]:
    """Remove impossible entries from a response, in place. Returns descriptions of the removed entries.

    These are brokers without an id or a port, topics without a name, and partitions whose number is negative or at
    least `MOST_PARTITIONS`.
    """
    found = []
    brokers = [each for each in response.brokers if each.node_id >= 0 and 0 < each.port < 65_536]
    if len(brokers) < len(response.brokers):
        odd = [
            f"{each.node_id} at {format_address(each.host, each.port)}"
            for each in response.brokers
            if each not in brokers
        ][:_SHOWN]
        found.append(f"brokers {', '.join(odd)}")
        response.brokers = brokers
    topics = [each for each in response.topics if each.name is None or 0 < len(each.name) <= _LONGEST_NAME]
    if len(topics) < len(response.topics):
        found.append(f"{len(response.topics) - len(topics)} topics without a possible name")
        response.topics = topics
    for topic in topics:
        numbers = [each.partition_index for each in topic.partitions]
        if numbers and (min(numbers) < 0 or max(numbers) >= MOST_PARTITIONS):
            odd = [str(number) for number in numbers if not 0 <= number < MOST_PARTITIONS][:_SHOWN]
            found.append(f"partitions {', '.join(odd)} of topic {topic.name!r}")
            topic.partitions = [each for each in topic.partitions if 0 <= each.partition_index < MOST_PARTITIONS]
    return found


CREATION_CHOSEN_SINCE = 4
"""The first version of Metadata in which clients choose whether topics may be created (Kafka 0.11)."""
_OPERATIONS_SINCE = 8
"""The first version that returns the operations that the client may perform on a topic (KIP-430)."""
_IDS_SINCE = 12
"""The first version that accepts topic ids (KIP-516)."""


class MetadataAnswer(NamedTuple):
    """A broker's response.

    Attributes:
        error_code: the error code of the whole response.
        has_brokers: whether the response named any brokers.
        metadata: the known metadata with the response merged in.
        impossible: descriptions of the entries that were removed.
    """

    error_code: int
    has_brokers: bool
    metadata: ClusterMetadata
    impossible: list[str]


def metadata_request(topics: set[str] | None, version: int, may_create: bool) -> MetadataRequest:
    """Create a request for some topics, or for all (None).

    Brokers before 0.11 create missing topics that a request names. To prevent that, such brokers are asked for all
    topics; topics that they do not list are then reported as unknown, as later brokers report them.
    """
    named = [MetadataRequestTopic(name=name) for name in sorted(topics or ())]
    if version >= CREATION_CHOSEN_SINCE:
        return MetadataRequest(topics=None if topics is None else named, allow_auto_topic_creation=may_create)
    if topics is None or (topics and not may_create):
        return MetadataRequest(topics=None if version > 0 else [])
    return MetadataRequest(topics=named)


async def ask_metadata(
    connection: Connection, topics: set[str] | None, may_create: bool, known: ClusterMetadata, *, keep_others: bool
) -> MetadataAnswer:
    """Request metadata for some topics, or for all (None), from one broker. Raises the errors of `Connection.send`.

    Arguments:
        may_create: whether brokers may create missing topics that the request names, if they are configured to do so.
        known: the metadata into which the response is merged, in a thread if it is large.
        keep_others: whether to keep topics that the response does not name.
    """

    def take_in(response: "MetadataResponse") -> MetadataAnswer:
        impossible = remove_impossible(response)
        metadata = (
            known
            if response.error_code
            else known.updated(response, keep_others=keep_others, is_complete=topics is None)
        )
        return MetadataAnswer(response.error_code, bool(response.brokers), metadata, impossible)

    answer = await _ask(connection, topics, may_create, take_in)
    _judge(connection, answer.has_brokers, answer.impossible)
    return answer


async def read_metadata(
    connection: Connection, topics: "set[str] | set[str | UUID] | None", authorized_operations: bool = False
) -> "MetadataResponse":
    """Like `ask_metadata`, but return the response itself, and create no topics.

    Topics may also be given by id.
    """
    impossible: list[str] = []

    def check(response: "MetadataResponse") -> "MetadataResponse":
        impossible.extend(remove_impossible(response))
        return response

    ids = sorted(each for each in topics or () if isinstance(each, UUID))
    names = None if topics is None else {each for each in topics if isinstance(each, str)}
    version = connection.api_versions.version_for(MetadataRequest, min_version=_IDS_SINCE if ids else 0)
    request = metadata_request(names, version, False)
    if ids and request.topics is not None:
        request.topics += [MetadataRequestTopic(name=None, topic_id=each) for each in ids]
    request.include_topic_authorized_operations = authorized_operations and version >= _OPERATIONS_SINCE
    response = await _send(connection, request, version, names, check)
    _judge(connection, bool(response.brokers), impossible)
    return response


async def _ask(
    connection: Connection, topics: set[str] | None, may_create: bool, digest: Callable[["MetadataResponse"], T]
) -> T:
    version = connection.api_versions.version_for(MetadataRequest)
    return await _send(connection, metadata_request(topics, version, may_create), version, topics, digest)


async def _send(
    connection: Connection,
    request: MetadataRequest,
    version: int,
    topics: set[str] | None,
    digest: Callable[["MetadataResponse"], T],
) -> T:
    def of_those_asked(response: "MetadataResponse") -> T:
        if topics is not None and version < CREATION_CHOSEN_SINCE:
            response.topics = [each for each in response.topics if each.name in topics]
            missing = topics.difference(each.name for each in response.topics if each.name is not None)
            unknown = UnknownTopicOrPartitionError.errno
            response.topics += [MetadataResponseTopic(name=name, error_code=unknown) for name in sorted(missing)]
        return digest(response)

    return await connection.send_digested(request, version, of_those_asked)


def _judge(connection: Connection, has_brokers: bool, impossible: list[str]) -> None:
    if impossible:
        what = "; ".join(impossible[:_SHOWN])
        log.warning("%s returned impossible metadata, which is ignored: %s", connection.described_as, what)
    if not has_brokers:
        raise MetadataEmptyBrokerList(f"{connection.described_as} knows no brokers (yet)")
