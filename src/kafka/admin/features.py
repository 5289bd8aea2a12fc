"""What the cluster supports: features (KIP-584), and the API versions of brokers."""

from enum import IntEnum
from typing import Any

from kafka.admin.enums import EnumHelper
from kafka.admin.requests import AdminRequests, own_error_code, raise_first
from kafka.errors import UnsupportedVersionError, for_code
from kafka.version import __version__
from kafka.wire.api.api_versions import ApiVersionsRequest
from kafka.wire.api.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kafka.wire.index import API_NAMES

_FEATURES_SINCE = 3
_UPGRADE_TYPE_SINCE = 1


class UpdateFeatureType(EnumHelper, IntEnum):
    """Which way the level of a feature goes."""

    UNKNOWN = 0
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


ApiKey = IntEnum("ApiKey", {name: key for key, name in API_NAMES.items()})  # type: ignore[misc]  # from a table
"""The APIs by name."""


class BrokerVersionData:
    """The versions of APIs that a broker serves.

    Attributes:
        api_versions: API key to the lowest and the highest version.
    """

    def __init__(self, api_versions: dict[int, tuple[int, int]]) -> None:
        self.api_versions = api_versions

    def api_version(self, operation: Any, min_version: int = 0, max_version: int | None = None) -> int:
        """The highest version of a request that broker and client have; `UnsupportedVersionError` if there is none."""
        low, high = self.api_versions.get(operation.API_KEY, (0, -1))
        limits = [high, operation.MAX_VERSION, *([] if max_version is None else [max_version])]
        if min(limits) < max(low, min_version, operation.MIN_VERSION):
            raise UnsupportedVersionError(f"the broker serves no fitting version of {operation.__name__}")
        return int(min(limits))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BrokerVersionData) and self.api_versions == other.api_versions

    __hash__ = None  # type: ignore[assignment]  # it holds a dict


async def api_versions(requests: AdminRequests, node_id: int | None) -> dict[int, tuple[int, int]]:
    """The versions that a broker serves; None: any broker."""
    cluster = requests.cluster
    connection = await (cluster.any_connection() if node_id is None else cluster.connection(node_id))
    return dict(connection.api_versions.items())


async def describe_features(requests: AdminRequests, to_controller: bool) -> dict[str, dict[str, Any]]:
    """See `KafkaAdminClient.describe_features`."""
    request = ApiVersionsRequest(client_software_name="kafka-columnar", client_software_version=__version__)
    node_id = await requests.cluster.controller() if to_controller else None
    response = await requests.any_broker(request, node_id, min_version=_FEATURES_SINCE, error_codes=own_error_code)
    raise_first([("describing features", response.error_code, None)])
    epoch = response.finalized_features_epoch
    features: dict[str, dict[str, Any]] = {}
    for each in response.supported_features:
        features.setdefault(each.name, {})["supported"] = (each.min_version, each.max_version)
    for each in response.finalized_features:
        feature = features.setdefault(each.name, {})
        feature["finalized"] = (each.min_version_level, each.max_version_level)
        feature["finalized_epoch"] = epoch if epoch >= 0 else None
    return features


async def update_features(
    requests: AdminRequests,
    updates: dict[str, tuple[UpdateFeatureType, int]],
    validate_only: bool,
    timeout_ms: int | None,
) -> dict[str, str]:
    """See `KafkaAdminClient.update_features`."""
    request = UpdateFeaturesRequest(
        timeout_ms=requests.limit_ms(timeout_ms),
        feature_updates=[
            FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=kind)
            for feature, (kind, level) in updates.items()
        ],
        validate_only=validate_only,
    )
    response = await requests.controller(
        request, lambda response: [response.error_code], timeout_ms, min_version=_UPGRADE_TYPE_SINCE
    )
    raise_first([("updating features", response.error_code, response.error_message)])
    results = dict.fromkeys(updates, "OK")
    for each in response.results:
        if each.error_code:
            results[each.feature] = str(for_code(each.error_code)(each.error_message))
    return results
