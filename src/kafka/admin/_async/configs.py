"""Configurations."""

from collections.abc import Iterable

from kafka.admin import arguments
from kafka.admin import configs as _configs
from kafka.admin._async import AsyncAdminCalls
from kafka.admin.config_resource import ConfigFilterType, ConfigResource, ConfigResourceType, check_brokers
from kafka.admin.results import AlterConfigsResult, DescribedConfigs


class AsyncConfigCalls(AsyncAdminCalls):
    """What is done with configurations."""

    async def describe_configs(
        self,
        config_resources: Iterable[ConfigResource],
        include_synonyms: bool = False,
        config_filter: ConfigFilterType | str | int = "modified",
        include_documentation: bool = False,
        raise_errors: bool = True,
    ) -> DescribedConfigs:
        """Describe configurations: one result for all topics and the like, and one for each broker named.

        Arguments:
            config_resources: what is asked about; a `ConfigResource` with ``configs`` asks for those settings alone.
            include_synonyms: also tell which other settings a value may come from.
            config_filter: what the result shows as a mapping, ``result["topic"]["t"]["retention.ms"]["value"]``:
                the settings that were "modified", "all", "dynamic" ones, "default" or "static" values. As a list of
                responses it has all.
            include_documentation: also tell what each setting does (KIP-569, Kafka 2.6).
            raise_errors: raise the error of the first resource that failed; False leaves the errors in the responses.

        Raises `IllegalArgumentError`, a `ValueError`, for a broker that is named by no id.
        """
        resources = arguments.instances("config_resources", ConfigResource, config_resources)
        check_brokers(resources)
        shown = arguments.member("config_filter", ConfigFilterType, config_filter)
        return await self._run(
            _configs.describe_configs(
                self._requests, resources, include_synonyms, shown, include_documentation, raise_errors
            )
        )

    async def alter_configs(
        self,
        config_resources: Iterable[ConfigResource],
        validate_only: bool = False,
        raise_on_unknown: bool | None = None,
        incremental: bool | None = None,
        raise_errors: bool = True,
    ) -> AlterConfigsResult:
        """Alter configurations.

        Arguments:
            config_resources: what is configured, each a `ConfigResource` with its settings, by name, in ``configs``.
            validate_only: only check whether it could be done.
            raise_on_unknown: look first whether all settings exist and can be altered, and raise
                `IllegalArgumentError` if not; None: where the change is incremental by ``incremental=None``.
            incremental: False replaces the whole configuration of each resource: a setting that is not given falls
                back to its default. True changes only those given (KIP-339, Kafka 2.3): None deletes one, a pair of
                an `AlterConfigOp`, or its name, and a value does what that says. None: as True where there is such
                a pair, else as False.
            raise_errors: raise the error of the first resource that failed; others may be altered. False leaves the
                errors in the result.
        """
        resources = arguments.instances("config_resources", ConfigResource, config_resources)
        has_operations = any(
            isinstance(value, tuple)
            for each in resources
            if isinstance(each.configs, dict)
            for value in each.configs.values()
        )
        in_part = has_operations if incremental is None else incremental
        check = has_operations and incremental is None if raise_on_unknown is None else raise_on_unknown
        if check:
            await self._run(_configs.check_known(self._requests, resources))
        return await self._run(_configs.alter_configs(self._requests, resources, validate_only, in_part, raise_errors))

    async def reset_configs(
        self,
        config_resources: Iterable[ConfigResource],
        validate_only: bool = False,
        raise_on_unknown: bool = True,
        incremental: bool | None = None,
        raise_errors: bool = True,
    ) -> AlterConfigsResult:
        """Let settings fall back to their defaults: those that a resource names, all where it names none.

        Arguments:
            config_resources: what is configured, each a `ConfigResource` with its settings, by name, in ``configs``.
            validate_only: only check whether it could be done.
            raise_on_unknown: look first whether all settings exist and can be altered, and raise
                `IllegalArgumentError` if not.
            incremental: False writes the other settings again, for brokers before 2.3; None: as True.
            raise_errors: raise the error of the first resource that failed; others may be altered. False leaves the
                errors in the result.
        """
        resources = arguments.instances("config_resources", ConfigResource, config_resources)
        if raise_on_unknown:
            await self._run(_configs.check_known(self._requests, resources))
        in_part = incremental is not False
        return await self._run(_configs.reset_configs(self._requests, resources, validate_only, in_part, raise_errors))

    async def list_config_resources(
        self, resource_types: Iterable[ConfigResourceType | str | int] | None = None
    ) -> dict[str, list[str]]:
        """The names of what has a configuration by kind, such as "client_metrics"; None: of all kinds (Kafka 4.1).

        Arguments:
            resource_types: the kinds, each a `ConfigResourceType` or its name.
        """
        kinds = [
            arguments.member("resource_types", ConfigResourceType, each)
            for each in arguments.elements("resource_types", resource_types or ())
        ]
        return await self._run(_configs.list_config_resources(self._requests, kinds))

    async def list_client_metrics_resources(self) -> list[str]:
        """The names of the subscriptions to clients' metrics (KIP-714, Kafka 3.7)."""
        found = await self.list_config_resources([ConfigResourceType.CLIENT_METRICS])
        return found.get("client_metrics", [])
