"""The admin client: topics, partitions, configurations, groups, records.

Layer 6. Each operation is a coroutine that sends requests through `kafka.cluster`; a module holds the operations on one
subject. `client` has the synchronous methods, which run a coroutine and wait for it.
"""

from kafka.admin.client import KafkaAdminClient
from kafka.admin.config_resource import AlterConfigOp, ConfigResource, ConfigResourceType
from kafka.admin.new_partitions import NewPartitions
from kafka.admin.new_topic import NewTopic

__all__ = ["AlterConfigOp", "ConfigResource", "ConfigResourceType", "KafkaAdminClient", "NewPartitions", "NewTopic"]
