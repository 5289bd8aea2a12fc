# Written by scripts/twins.py from kafka/admin/_async/quotas.py: change that file, not this one.
"""Methods for client quotas."""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka.admin import arguments
from kafka.admin import quotas as _quotas
from kafka.admin._sync import AdminCalls
from kafka.errors import BrokerResponseError, IllegalArgumentError


class QuotaCalls(AdminCalls):
    """Methods for client quotas (KIP-546, Kafka 2.6). kafka-python has no methods for them."""

    def describe_client_quotas(
        self, entities: Mapping[str, str | None] | Iterable[str] = (), strict: bool = False
    ) -> list[dict[str, Any]]:
        """Describe the quotas of users, client ids and IP addresses.

        Arguments:
            entities: a mapping of entity type ("user", "client-id", "ip") to name, or to None for the default of the
                type; or types only, which match any name. If empty, all quotas are described.
            strict: exclude entities that also have other types.

        Returns a list of dicts with ``entity`` and ``values``.

        Like Java's `Admin.describeClientQuotas`. Requires Kafka 2.6. The embedded broker does not support it.
        """
        if isinstance(entities, Mapping):
            return self._run(_quotas.describe_client_quotas(self._requests, _entity(entities), [], strict))
        kinds = arguments.names("entities", entities)
        return self._run(_quotas.describe_client_quotas(self._requests, {}, kinds, strict))

    def alter_client_quotas(
        self,
        changes: Iterable[tuple[Mapping[str, str | None], Mapping[str, float | None]]],
        validate_only: bool = False,
    ) -> list[tuple[dict[str, str | None], type[BrokerResponseError]]]:
        """Alter the quotas of users, client ids and IP addresses.

        Arguments:
            changes: pairs of an entity, such as ``{"user": "alice"}``, and a mapping of quotas to values, such as
                ``{"producer_byte_rate": 1e6}``; None removes a quota.
            validate_only: only check whether the change would succeed.

        Returns pairs of an entity and an error class; `NoError` means success.

        Like Java's `Admin.alterClientQuotas`. Requires Kafka 2.6. The embedded broker does not support it.
        """
        wanted = []
        for change in arguments.elements("changes", changes):
            if not isinstance(change, tuple) or len(change) != 2:
                raise IllegalArgumentError(f"changes: expected pairs of an entity and quotas, got {change!r:.80}")
            wanted.append((_entity(change[0]), _values(change[1])))
        return self._run(_quotas.alter_client_quotas(self._requests, wanted, validate_only))


def _entity(given: object) -> dict[str, str | None]:
    return {
        arguments.name("entity", kind): None if name is None else arguments.name("entity", name)
        for kind, name in arguments.mapping("entity", given).items()
    }


def _values(given: object) -> dict[str, float | None]:
    values = {}
    for key, value in arguments.mapping("quotas", given).items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise IllegalArgumentError(f"quotas: expected a number or None for {key!r}, got {value!r:.80}")
        values[arguments.name("quotas", key)] = value if value is None else float(value)
    return values
