"""aiokafka's admin client: an `AsyncKafkaAdminClient` whose results contain the errors for topics and groups."""

from kafka.admin import NewPartitions, NewTopic
from kafka.aio.admin.client import AIOKafkaAdminClient, RecordsToDelete

__all__ = ["AIOKafkaAdminClient", "NewPartitions", "NewTopic", "RecordsToDelete"]
