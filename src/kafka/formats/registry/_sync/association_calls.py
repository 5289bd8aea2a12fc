# Written by scripts/twins.py from kafka/formats/registry/_async/association_calls.py: change that file, not this one.
"""Calls for associating resources with subjects, with confluent-kafka's names, arguments and results."""

from collections.abc import Sequence

from kafka.formats.registry._sync.schema_calls import SchemaCalls, quoted
from kafka.formats.registry.associations import Association, AssociationCreateOrUpdateRequest, AssociationResponse
from kafka.formats.registry.responses import associated, association_of


class AssociationCalls(SchemaCalls):
    """Calls for associations between resources and subjects. Registries that do not support them respond with 404."""

    def get_associations_by_resource_name(
        self,
        resource_name: str,
        resource_namespace: str,
        resource_type: str | None = None,
        association_types: Sequence[str] | None = None,
        offset: int = 0,
        limit: int = -1,
    ) -> list[Association]:
        """Return the associations between a resource and subjects.

        Arguments:
            resource_name: the resource's name, such as the name of a topic.
            resource_namespace: the scope in which the name is unique, such as the id of a Kafka cluster; "-" for any.
            resource_type: the resource's type, such as "topic".
            association_types: the types to return, "key" or "value"; None: all.
            offset: number of results to skip.
            limit: maximum number of results; a negative number means no limit.
        """
        query = {
            "resourceType": resource_type,
            "associationType": None if association_types is None else list(association_types),
            "offset": offset,
            "limit": limit,
        }
        path = f"associations/resources/{quoted(resource_namespace)}/{quoted(resource_name)}"
        return [association_of(each, f"GET /{path}") for each in self._asked(list, "GET", path, query)]

    def create_association(self, request: AssociationCreateOrUpdateRequest) -> AssociationResponse:
        """Associate a resource with subjects; returns the associations created.

        Arguments:
            request: the resource and its subjects.
        """
        answer = self._asked(dict, "POST", "associations", None, request.to_dict())
        for each in request.associations or ():
            if each.subject is not None:
                self._forget_subject(each.subject)
        return associated(answer, "POST /associations")

    def delete_associations(
        self,
        resource_id: str,
        resource_type: str | None = None,
        association_types: Sequence[str] | None = None,
        cascade_lifecycle: bool = False,
    ) -> None:
        """Delete associations between a resource and subjects.

        Arguments:
            resource_id: the resource's id.
            resource_type: the resource's type, such as "topic".
            association_types: the types to delete, "key" or "value"; None: all.
            cascade_lifecycle: also delete the subjects whose lifecycle is tied to the resource.
        """
        query = {
            "resourceType": resource_type,
            "associationType": None if association_types is None else list(association_types),
            "cascadeLifecycle": cascade_lifecycle,
        }
        path = f"associations/resources/{quoted(resource_id)}"
        self._send("DELETE", path, {name: value for name, value in query.items() if value is not None})
        if cascade_lifecycle:
            self.clear_caches()  # the response does not say which subjects were deleted
