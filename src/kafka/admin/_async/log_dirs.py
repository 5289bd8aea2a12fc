"""Methods for log directories."""

from collections.abc import Iterable, Mapping

from kafka.admin import arguments
from kafka.admin import cluster as _cluster
from kafka.admin import log_dirs as _log_dirs
from kafka.admin._async import AsyncAdminCalls
from kafka.admin.log_dirs import ReplicaLogDir
from kafka.admin.results import LogDirsResult
from kafka.errors import IllegalArgumentError, KafkaError
from kafka.structs import TopicPartitionReplica


class AsyncLogDirCalls(AsyncAdminCalls):
    """Methods for the log directories of brokers (KIP-113)."""

    async def describe_log_dirs(
        self,
        topic_partitions: Mapping[str, Iterable[int]] | Iterable[str] | None = None,
        brokers: Iterable[int] | None = None,
        raise_errors: bool = True,
    ) -> LogDirsResult:
        """Describe the log directories of brokers and the replicas in them.

        Arguments:
            topic_partitions: partitions by topic, or topics; None: all partitions.
            brokers: the brokers to query; None: all brokers.
            raise_errors: raise the first error; False returns each error as the ``error`` of its broker.

        Like Java's `Admin.describeLogDirs`. Requires Kafka 1.0.
        """
        nodes = None if brokers is None else arguments.numbers("brokers", brokers)
        if topic_partitions is None or isinstance(topic_partitions, Mapping):
            wanted = arguments.indexes("topic_partitions", topic_partitions)
        else:
            names = arguments.names("topic_partitions", topic_partitions)
            wanted = await self._run(_cluster.all_partitions(self._requests, names))
        return await self._run(_log_dirs.describe_log_dirs(self._requests, wanted, nodes, raise_errors))

    async def describe_replica_log_dirs(
        self, replicas: Iterable[TopicPartitionReplica], raise_errors: bool = True
    ) -> dict[TopicPartitionReplica, ReplicaLogDir]:
        """Find the log directory of each replica, and the directory it is moving to.

        Arguments:
            replicas: the replicas.
            raise_errors: raise the first error; if False, the result contains a `KafkaError` for each replica that
                failed.

        Like Java's `Admin.describeReplicaLogDirs`. Requires Kafka 1.0.
        """
        wanted = [_replica("replicas", each) for each in arguments.elements("replicas", replicas)]
        return await self._run(_log_dirs.describe_replica_log_dirs(self._requests, wanted, raise_errors))

    async def alter_replica_log_dirs(
        self, replica_assignments: Mapping[TopicPartitionReplica, str]
    ) -> dict[TopicPartitionReplica, type[KafkaError]]:
        """Move replicas to other log directories on their brokers (KIP-113).

        Arguments:
            replica_assignments: a mapping of replica to the absolute path of its new directory.

        Returns an error class for each replica; `NoError` means success.

        Like Java's `Admin.alterReplicaLogDirs`. Requires Kafka 1.0. The embedded broker does not support it.
        """
        what = "replica_assignments"
        wanted = {
            _replica(what, replica): arguments.name(what, path)
            for replica, path in arguments.mapping(what, replica_assignments).items()
        }
        return await self._run(_log_dirs.alter_replica_log_dirs(self._requests, wanted))


def _replica(what: str, given: object) -> TopicPartitionReplica:
    if not isinstance(given, tuple) or len(given) != 3:
        raise IllegalArgumentError(f"{what}: expected a TopicPartitionReplica, got {given!r:.80}")
    topic, partition, broker_id = given
    return TopicPartitionReplica(
        arguments.name(what, topic), arguments.number(what, partition), arguments.number(what, broker_id)
    )
