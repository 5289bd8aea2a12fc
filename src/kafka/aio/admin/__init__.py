"""aiokafka's admin client: an `AsyncKafkaAdminClient` that leaves errors of single topics and groups in its answers."""

from kafka.admin import NewPartitions, NewTopic
from kafka.aio.admin.client import AIOKafkaAdminClient, RecordsToDelete

__all__ = ["AIOKafkaAdminClient", "NewPartitions", "NewTopic", "RecordsToDelete"]
