"""Associations between resources and subjects, such as the subjects for the keys and values of a topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kafka.formats.registry.json_objects import JsonObject, Readers, is_true, listed, optional
from kafka.formats.registry.schema_objects import Schema


@dataclass(frozen=True)
class Association(JsonObject):
    """An association between a resource and a subject. Values missing from the response are None.

    Attributes:
        subject: the subject that contains the schemas.
        guid: the association's UUID.
        resource_name: the resource's name, such as the name of a topic.
        resource_namespace: the scope in which the name is unique, such as the id of a Kafka cluster.
        resource_id: the resource's id.
        resource_type: the resource's type, such as "topic".
        association_type: the part of the resource that the schemas describe: "key" or "value".
        frozen: whether the subject no longer accepts new schemas.
        lifecycle: "STRONG" if the subject is deleted with the resource, otherwise "WEAK". Not in confluent-kafka.
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
    """An association in the response to the request that created it.

    Attributes:
        subject: the subject that contains the schemas.
        association_type: "key" or "value".
        lifecycle: "STRONG" or "WEAK".
        frozen: whether the subject no longer accepts new schemas.
        schema: the schema that was registered with the association.
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
    """An association to create or update.

    Attributes:
        subject: the subject that contains the schemas; it need not exist yet.
        association_type: "key" or "value".
        lifecycle: "STRONG" if the subject is deleted with the resource, otherwise "WEAK".
        frozen: whether the subject no longer accepts new schemas.
        schema: a schema to register in the subject.
        normalize: let the registry normalize the schema first.
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
    """A request to associate a resource with subjects.

    Attributes:
        resource_name: the resource's name, such as the name of a topic.
        resource_namespace: the scope in which the name is unique, such as the id of a Kafka cluster.
        resource_id: the resource's id.
        resource_type: the resource's type, such as "topic".
        associations: the associations to create or update.
    """

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    associations: list[AssociationCreateOrUpdateInfo] | None = None

    _READ: ClassVar[Readers] = {"associations": optional(listed(AssociationCreateOrUpdateInfo.from_dict))}


@dataclass
class AssociationResponse(JsonObject):
    """The response with a resource's new associations.

    Attributes:
        resource_name: the resource's name, such as the name of a topic.
        resource_namespace: the scope in which the name is unique, such as the id of a Kafka cluster.
        resource_id: the resource's id.
        resource_type: the resource's type, such as "topic".
        associations: the associations created or updated.
    """

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    associations: list[AssociationInfo] | None = None

    _READ: ClassVar[Readers] = {"associations": optional(listed(AssociationInfo.from_dict))}
