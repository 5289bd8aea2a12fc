"""Associations: which subjects have the schemas of a resource, such as the keys and values of a topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kafka.formats.registry.json_objects import JsonObject, Readers, is_true, listed, optional
from kafka.formats.registry.schema_objects import Schema


@dataclass(frozen=True)
class Association(JsonObject):
    """A subject of a resource. What the registry did not say is None.

    Attributes:
        subject: has the schemas.
        guid: the association's UUID.
        resource_name: such as the name of a topic.
        resource_namespace: what the name is unique in, such as the id of a Kafka cluster.
        resource_id: the resource's own id.
        resource_type: such as "topic".
        association_type: what of the resource the schemas are of: "key" or "value".
        frozen: whether the subject takes no more schemas.
        lifecycle: "STRONG": the subject is deleted with the resource; "WEAK". Not in confluent-kafka.
    """

    subject: str | None
    guid: str | None
    resource_name: str | None
    resource_namespace: str | None
    resource_id: str | None
    resource_type: str | None
    association_type: str | None
    frozen: bool = False
    lifecycle: str | None = None

    _READ: ClassVar[Readers] = {"frozen": is_true}


@dataclass
class AssociationInfo(JsonObject):
    """A subject of a resource, in the answer to a request that made it.

    Attributes:
        subject: has the schemas.
        association_type: "key" or "value".
        lifecycle: "STRONG" or "WEAK".
        frozen: whether the subject takes no more schemas.
        schema: the schema that was registered with it.
    """

    subject: str | None = None
    association_type: str | None = None
    lifecycle: str | None = None
    frozen: bool = False
    schema: Schema | None = None

    _READ: ClassVar[Readers] = {
        "frozen": is_true,
        "schema": optional(Schema.from_dict),
    }


@dataclass
class AssociationCreateOrUpdateInfo(JsonObject):
    """A subject that a resource is to get.

    Attributes:
        subject: has the schemas, or is to have them.
        association_type: "key" or "value".
        lifecycle: "STRONG": the subject is deleted with the resource; "WEAK".
        frozen: let the subject take no more schemas.
        schema: register it in the subject.
        normalize: bring the schema into a normal form first.
    """

    subject: str | None = None
    association_type: str | None = None
    lifecycle: str | None = None
    frozen: bool | None = None
    schema: Schema | None = None
    normalize: bool | None = None

    _READ: ClassVar[Readers] = {"schema": optional(Schema.from_dict)}


@dataclass
class AssociationCreateOrUpdateRequest(JsonObject):
    """The subjects that a resource is to get.

    Attributes:
        resource_name: such as the name of a topic.
        resource_namespace: what the name is unique in, such as the id of a Kafka cluster.
        resource_id: the resource's own id.
        resource_type: such as "topic".
        associations: the subjects.
    """

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    associations: list[AssociationCreateOrUpdateInfo] | None = None

    _READ: ClassVar[Readers] = {"associations": optional(listed(AssociationCreateOrUpdateInfo.from_dict))}


@dataclass
class AssociationResponse(JsonObject):
    """The subjects that a resource got.

    Attributes:
        resource_name: such as the name of a topic.
        resource_namespace: what the name is unique in, such as the id of a Kafka cluster.
        resource_id: the resource's own id.
        resource_type: such as "topic".
        associations: the subjects.
    """

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    associations: list[AssociationInfo] | None = None

    _READ: ClassVar[Readers] = {"associations": optional(listed(AssociationInfo.from_dict))}
