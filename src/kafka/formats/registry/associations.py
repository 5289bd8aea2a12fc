"""Associations: which subjects have the schemas of a resource, such as the keys and values of a topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka.formats.registry.contracts import given
from kafka.formats.registry.schemas import Schema


@dataclass(frozen=True)
class Association:
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

    def to_dict(self) -> dict[str, Any]:
        """As the registry's JSON has it."""
        return given(
            subject=self.subject,
            guid=self.guid,
            resourceName=self.resource_name,
            resourceNamespace=self.resource_namespace,
            resourceId=self.resource_id,
            resourceType=self.resource_type,
            associationType=self.association_type,
            frozen=self.frozen,
            lifecycle=self.lifecycle,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Association:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        return cls(
            src_dict.get("subject"),
            src_dict.get("guid"),
            src_dict.get("resourceName"),
            src_dict.get("resourceNamespace"),
            src_dict.get("resourceId"),
            src_dict.get("resourceType"),
            src_dict.get("associationType"),
            src_dict.get("frozen") is True,
            src_dict.get("lifecycle"),
        )


@dataclass
class AssociationInfo:
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

    def to_dict(self) -> dict[str, Any]:
        """As the registry's JSON has it."""
        return given(
            subject=self.subject,
            associationType=self.association_type,
            lifecycle=self.lifecycle,
            frozen=self.frozen,
            schema=None if self.schema is None else self.schema.to_dict(),
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> AssociationInfo:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        return cls(
            src_dict.get("subject"),
            src_dict.get("associationType"),
            src_dict.get("lifecycle"),
            src_dict.get("frozen") is True,
            _schema(src_dict),
        )


@dataclass
class AssociationCreateOrUpdateInfo:
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

    def to_dict(self) -> dict[str, Any]:
        """As the registry's JSON has it."""
        return given(
            subject=self.subject,
            associationType=self.association_type,
            lifecycle=self.lifecycle,
            frozen=self.frozen,
            schema=None if self.schema is None else self.schema.to_dict(),
            normalize=self.normalize,
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> AssociationCreateOrUpdateInfo:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        return cls(
            src_dict.get("subject"),
            src_dict.get("associationType"),
            src_dict.get("lifecycle"),
            src_dict.get("frozen"),
            _schema(src_dict),
            src_dict.get("normalize"),
        )


@dataclass
class AssociationCreateOrUpdateRequest:
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

    def to_dict(self) -> dict[str, Any]:
        """As the registry's JSON has it."""
        return given(
            resourceName=self.resource_name,
            resourceNamespace=self.resource_namespace,
            resourceId=self.resource_id,
            resourceType=self.resource_type,
            associations=None if self.associations is None else [each.to_dict() for each in self.associations],
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> AssociationCreateOrUpdateRequest:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        listed = src_dict.get("associations")
        return cls(
            src_dict.get("resourceName"),
            src_dict.get("resourceNamespace"),
            src_dict.get("resourceId"),
            src_dict.get("resourceType"),
            None if listed is None else [AssociationCreateOrUpdateInfo.from_dict(each) for each in listed],
        )


@dataclass
class AssociationResponse:
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

    def to_dict(self) -> dict[str, Any]:
        """As the registry's JSON has it."""
        return given(
            resourceName=self.resource_name,
            resourceNamespace=self.resource_namespace,
            resourceId=self.resource_id,
            resourceType=self.resource_type,
            associations=None if self.associations is None else [each.to_dict() for each in self.associations],
        )

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> AssociationResponse:
        """Read the registry's JSON.

        Arguments:
            src_dict: a JSON object.
        """
        listed = src_dict.get("associations")
        return cls(
            src_dict.get("resourceName"),
            src_dict.get("resourceNamespace"),
            src_dict.get("resourceId"),
            src_dict.get("resourceType"),
            None if listed is None else [AssociationInfo.from_dict(each) for each in listed],
        )


def _schema(src_dict: Mapping[str, Any]) -> Schema | None:
    found = src_dict.get("schema")
    return None if found is None else Schema.from_dict(found)
