"""What `KafkaAdminClient.create_topics` creates."""

from collections.abc import Mapping, Sequence

from kafka.admin.arguments import as_text, mapping, numbers
from kafka.admin.arguments import name as check_name
from kafka.errors import IllegalArgumentError


class NewTopic:
    """A topic to create.

    Arguments:
        name: name of the topic.
        num_partitions: -1 for the cluster's default (KIP-464), or as many as ``replica_assignments`` has.
        replication_factor: -1 for the cluster's default.
        replica_assignments: partition number to the ids of the brokers that shall hold it, the first one preferred as
            leader. Not together with the two numbers.
        topic_configs: names of topic settings to their values, such as ``{"retention.ms": "60000"}``.

    Raises `IllegalArgumentError` for numbers together with assignments, and for a name that is no str.
    """

    def __init__(
        self,
        name: str,
        num_partitions: int = -1,
        replication_factor: int = -1,
        replica_assignments: Mapping[int, Sequence[int]] | None = None,
        topic_configs: Mapping[str, object] | None = None,
    ) -> None:
        if replica_assignments and (num_partitions != -1 or replication_factor != -1):
            raise IllegalArgumentError(
                "replica_assignments says how many partitions and replicas there are: leave out num_partitions "
                f"({num_partitions}) and replication_factor ({replication_factor})"
            )
        self.name = check_name("name", name)
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        assignments = mapping("replica_assignments", replica_assignments or {})
        self.replica_assignments = {
            partition: numbers("replica_assignments", brokers) for partition, brokers in assignments.items()
        }
        configs = mapping("topic_configs", topic_configs or {})
        self.topic_configs = {config: as_text(value) for config, value in configs.items()}

    def __repr__(self) -> str:
        return f"NewTopic({self.name!r}, {self.num_partitions}, {self.replication_factor})"
