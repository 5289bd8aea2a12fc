"""The admin client: topics, partitions, configurations, groups, records.

Layer 6. The operations are coroutines over `kafka.cluster` in one module per subject; `client` is the thin synchronous
face that waits for them.
"""

from kafka.admin.client import KafkaAdminClient
from kafka.admin.config_resource import AlterConfigOp, ConfigResource, ConfigResourceType
from kafka.admin.new_partitions import NewPartitions
from kafka.admin.new_topic import NewTopic

__all__ = ["AlterConfigOp", "ConfigResource", "ConfigResourceType", "KafkaAdminClient", "NewPartitions", "NewTopic"]
