"""Schema registry client and serializers under confluent-kafka's names; to migrate a program, change its imports.

Layer 7: imports the layers below it. Importing it does not load an HTTP library; the first request does.
"""

from kafka.formats.registry.associations import (
    Association,
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
    AssociationInfo,
    AssociationResponse,
)
from kafka.formats.registry.errors import SchemaRegistryConnectionError, SchemaRegistryError
from kafka.formats.registry.registry_clients import AsyncSchemaRegistryClient, SchemaRegistryClient
from kafka.formats.registry.schema_objects import (
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    MetadataTags,
    RegisteredSchema,
    Rule,
    RuleKind,
    RuleMode,
    RuleParams,
    RuleSet,
    Schema,
    SchemaEntity,
    SchemaReference,
    SchemaTags,
    SchemaVersion,
    ServerConfig,
)
from kafka.schema_registry.schema_ids import (
    SchemaId,
    dual_schema_id_deserializer,
    header_schema_id_serializer,
    prefix_schema_id_deserializer,
    prefix_schema_id_serializer,
    record_subject_name_strategy,
    reference_subject_name_strategy,
    topic_record_subject_name_strategy,
    topic_subject_name_strategy,
)

__all__ = [
    "Association",
    "AssociationCreateOrUpdateInfo",
    "AssociationCreateOrUpdateRequest",
    "AssociationInfo",
    "AssociationResponse",
    "AsyncSchemaRegistryClient",
    "ConfigCompatibilityLevel",
    "Metadata",
    "MetadataProperties",
    "MetadataTags",
    "RegisteredSchema",
    "Rule",
    "RuleKind",
    "RuleMode",
    "RuleParams",
    "RuleSet",
    "Schema",
    "SchemaEntity",
    "SchemaId",
    "SchemaReference",
    "SchemaRegistryClient",
    "SchemaRegistryConnectionError",
    "SchemaRegistryError",
    "SchemaTags",
    "SchemaVersion",
    "ServerConfig",
    "dual_schema_id_deserializer",
    "header_schema_id_serializer",
    "prefix_schema_id_deserializer",
    "prefix_schema_id_serializer",
    "record_subject_name_strategy",
    "reference_subject_name_strategy",
    "topic_record_subject_name_strategy",
    "topic_subject_name_strategy",
]
