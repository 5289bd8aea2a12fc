"""The calls about associations of resources with subjects, with confluent-kafka's names, arguments and results."""

from collections.abc import Sequence

from kafka.formats.registry._async.schema_calls import AsyncSchemaCalls, quoted
from kafka.formats.registry.associations import Association, AssociationCreateOrUpdateRequest, AssociationResponse
from kafka.formats.registry.responses import associated, association_of


class AsyncAssociationCalls(AsyncSchemaCalls):
    """What a registry is asked about the subjects of resources. Registries without associations answer with 404."""

    async def get_associations_by_resource_name(
        self,
        resource_name: str,
        resource_namespace: str,
        resource_type: str | None = None,
        association_types: Sequence[str] | None = None,
        offset: int = 0,
        limit: int = -1,
    ) -> list[Association]:
        """The subjects of a resource.

        Arguments:
            resource_name: such as the name of a topic.
            resource_namespace: what the name is unique in, such as the id of a Kafka cluster; "-": any.
            resource_type: such as "topic".
            association_types: only these: "key", "value".
            offset: how many to leave out.
            limit: how many to give; less than 0: all.
        """
        query = {
            "resourceType": resource_type,
            "associationType": None if association_types is None else list(association_types),
            "offset": offset,
            "limit": limit,
        }
        path = f"associations/resources/{quoted(resource_namespace)}/{quoted(resource_name)}"
        return [association_of(each, f"GET /{path}") for each in await self._asked(list, "GET", path, query)]

    async def create_association(self, request: AssociationCreateOrUpdateRequest) -> AssociationResponse:
        """Give a resource subjects; what was made.

        Arguments:
            request: the resource, and the subjects with what they are to have.
        """
        answer = await self._asked(dict, "POST", "associations", None, request.to_dict())
        for each in request.associations or ():
            if each.subject is not None:
                self._forget_subject(each.subject)
        return associated(answer, "POST /associations")

    async def delete_associations(
        self,
        resource_id: str,
        resource_type: str | None = None,
        association_types: Sequence[str] | None = None,
        cascade_lifecycle: bool = False,
    ) -> None:
        """Take subjects away from a resource.

        Arguments:
            resource_id: the resource's own id.
            resource_type: such as "topic".
            association_types: only these: "key", "value"; None: all.
            cascade_lifecycle: delete the subjects that are to be deleted with the resource.
        """
        query = {
            "resourceType": resource_type,
            "associationType": None if association_types is None else list(association_types),
            "cascadeLifecycle": cascade_lifecycle,
        }
        path = f"associations/resources/{quoted(resource_id)}"
        await self._send("DELETE", path, {name: value for name, value in query.items() if value is not None})
        if cascade_lifecycle:
            self.clear_caches()  # which subjects were deleted is not said
