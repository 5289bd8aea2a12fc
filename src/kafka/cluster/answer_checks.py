"""Checks that the numbers in a broker's answers about the cluster are possible: the rest of a client relies on them."""

from typing import TYPE_CHECKING

from kafka._addresses import format_address

if TYPE_CHECKING:
    from kafka.wire.api.metadata import MetadataResponse

MOST_PARTITIONS = 1_000_000
"""No topic has as many. Callers make tables as long as a topic's highest partition number."""
_LONGEST_NAME = 249
_SHOWN = 5


def remove_impossible(response: "MetadataResponse") -> list[str]:
    """Take out of an answer, in place, what no cluster can have; gives what it was, in words.

    Brokers without an id or a port, topics without a name, partitions with a number that is negative or beyond
    `MOST_PARTITIONS`.
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
