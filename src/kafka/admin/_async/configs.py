"""Methods for configurations."""

from collections.abc import Iterable

from kafka.admin import arguments
from kafka.admin import configs as _configs
from kafka.admin._async import AsyncAdminCalls
from kafka.admin.config_resource import ConfigFilterType, ConfigResource, ConfigResourceType, check_brokers
from kafka.admin.results import AlterConfigsResult, DescribedConfigs


class AsyncConfigCalls(AsyncAdminCalls):
    """Methods for configurations."""

    async def describe_configs(
        self,
        config_resources: Iterable[ConfigResource],
        include_synonyms: bool = False,
        config_filter: ConfigFilterType | str | int = "modified",
        include_documentation: bool = False,
        raise_errors: bool = True,
    ) -> DescribedConfigs:
        """Describe the configurations of topics, brokers and other resources.

        Arguments:
            config_resources: the resources; a `ConfigResource` with ``configs`` limits the result to those settings.
            include_synonyms: include the other settings from which a value may come.
            config_filter: the settings that the result shows when it is read as a mapping, such as
                ``result["topic"]["t"]["retention.ms"]["value"]``: "modified", "all", "dynamic", "default" or
                "static". When read as a list of responses, the result contains all settings.
            include_documentation: include the description of each setting (KIP-569, Kafka 2.6).
            raise_errors: raise the first error; False leaves errors in the responses.

        Returns one response for each named broker, and one for all other resources. Raises `IllegalArgumentError`, a
        `ValueError`, for a broker whose name is not an id.

        Like Java's `Admin.describeConfigs`. Requires Kafka 0.11.
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
        """Alter the configurations of topics, brokers and other resources.

        Arguments:
            config_resources: the resources to alter; the ``configs`` of each contain the settings by name.
            validate_only: only check whether the change would succeed.
            raise_on_unknown: first check that all settings exist and can be altered, and raise
                `IllegalArgumentError` if not; None: only if ``incremental=None`` selects an incremental change.
            incremental: False replaces the whole configuration of each resource: missing settings return to their
                defaults. True changes only the given settings (KIP-339, Kafka 2.3): the value None deletes a setting,
                and a pair of an `AlterConfigOp` (or its name) and a value applies that operation. None means True if
                any value is a pair, otherwise False.
            raise_errors: raise the first error; other resources may have been altered. False leaves errors in the
                result.

        Returns an `AlterConfigsResult`: "OK" or an error message, by type and name of the resource.

        Like Java's `Admin.alterConfigs` and `Admin.incrementalAlterConfigs`. Requires Kafka 0.11.
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
        """Reset settings to their defaults: those listed in ``configs``, or all settings of a resource that lists none.

        Arguments:
            config_resources: the resources to alter; the ``configs`` of each contain the settings by name.
            validate_only: only check whether the change would succeed.
            raise_on_unknown: first check that all settings exist and can be altered, and raise
                `IllegalArgumentError` if not.
            incremental: False rewrites the other settings as well, for brokers before 2.3; None means True.
            raise_errors: raise the first error; other resources may have been altered. False leaves errors in the
                result.

        Returns an `AlterConfigsResult`: "OK" or an error message, by type and name of the resource.

        Like Java's `Admin.incrementalAlterConfigs`. Requires Kafka 2.3.
        """
        resources = arguments.instances("config_resources", ConfigResource, config_resources)
        if raise_on_unknown:
            await self._run(_configs.check_known(self._requests, resources))
        in_part = incremental is not False
        return await self._run(_configs.reset_configs(self._requests, resources, validate_only, in_part, raise_errors))

    async def list_config_resources(
        self, resource_types: Iterable[ConfigResourceType | str | int] | None = None
    ) -> dict[str, list[str]]:
        """List the names of resources that have a configuration, by type such as "client_metrics" (Kafka 4.1).

        Arguments:
            resource_types: the types, each a `ConfigResourceType` or its name; None: all.

        Like Java's `Admin.listConfigResources`. Requires Kafka 4.1.
        """
        kinds = [
            arguments.member("resource_types", ConfigResourceType, each)
            for each in arguments.elements("resource_types", resource_types or ())
        ]
        return await self._run(_configs.list_config_resources(self._requests, kinds))

    async def list_client_metrics_resources(self) -> list[str]:
        """List the names of client metrics subscriptions (KIP-714, Kafka 3.7).

        Like Java's `Admin.listClientMetricsResources`. Requires Kafka 3.7.
        """
        found = await self.list_config_resources([ConfigResourceType.CLIENT_METRICS])
        return found.get("client_metrics", [])
