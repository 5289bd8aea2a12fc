"""aiokafka's admin client: an `AsyncKafkaAdminClient` that returns the errors of topics and groups in its results."""

from kafka.admin import NewPartitions, NewTopic
from kafka.aio.admin.client import AIOKafkaAdminClient, RecordsToDelete

__all__ = ["AIOKafkaAdminClient", "NewPartitions", "NewTopic", "RecordsToDelete"]
