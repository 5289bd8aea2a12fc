"""What `KafkaAdminClient.create_partitions` makes of a topic."""

from collections.abc import Sequence

from kafka.admin.arguments import elements, numbers


class NewPartitions:
    """How many partitions a topic shall have.

    Arguments:
        total_count: the number afterwards; it can only grow.
        new_assignments: for each added partition the ids of the brokers that shall hold it, the first one preferred
            as leader; None leaves it to the cluster.
    """

    def __init__(self, total_count: int, new_assignments: Sequence[Sequence[int]] | None = None) -> None:
        self.total_count = total_count
        self.new_assignments = (
            None
            if new_assignments is None
            else [numbers("new_assignments", brokers) for brokers in elements("new_assignments", new_assignments)]
        )

    def __repr__(self) -> str:
        return f"NewPartitions({self.total_count}, {self.new_assignments})"
