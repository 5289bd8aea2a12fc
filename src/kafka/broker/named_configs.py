"""Configs of named resources, such as groups, in one small file. The resources themselves need not exist."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from kafka.broker.disk_files import keep_damaged, replace_file
from kafka.broker.error_codes import ErrorCode, RequestFailed
from kafka.broker.topic_configs import TopicOption

log = logging.getLogger(__name__)


class NamedConfigs:
    """The configs of all resources of one kind.

    Arguments:
        path: the file.
        sync: whether to sync the file to disk.
        options: the known configs by name.
        kind: the kind of resource, for messages.
        unknown: the error code for an unknown config.
    """

    def __init__(
        self, path: Path, sync: bool, options: Mapping[str, TopicOption], kind: str, unknown: ErrorCode
    ) -> None:
        self._path = path
        self._sync = sync
        self._kind = kind
        self._unknown = unknown
        self.options = options
        self.altered_as = options
        """The options for IncrementalAlterConfigs, which can append to those of the type list."""
        self._set: dict[str, dict[str, str]] = self._load()

    def _load(self) -> dict[str, dict[str, str]]:
        try:
            read = json.loads(self._path.read_bytes())
            return {str(name): {str(key): str(value) for key, value in row.items()} for name, row in read.items()}
        except FileNotFoundError:
            return {}
        except (ValueError, AttributeError) as error:
            kept = keep_damaged(self._path).name
            log.error(
                "%s is damaged (%s); it is kept as %s, the %s configs are lost", self._path, error, kept, self._kind
            )
            return {}

    def names(self) -> list[str]:
        """Return the names of the resources that have configs."""
        return list(self._set)

    def of(self, name: str) -> Mapping[str, str]:
        """Return the configs that are set for a resource."""
        return self._set.get(name, {})

    def value(self, name: str, key: str) -> str:
        """Return the effective value of a config."""
        return self.of(name).get(key) or self.options[key].default

    def number(self, name: str, key: str) -> int:
        """Return the effective value of a numeric config."""
        return int(self.value(name, key))

    def check(self, key: str, value: str | None) -> str:
        """Return the value if it is valid for the config `key`; otherwise raise `RequestFailed`."""
        option = self.options.get(key)
        if option is None:
            raise RequestFailed(self._unknown, f"Unknown {self._kind} config name: {key}")
        if value is None:
            raise RequestFailed(ErrorCode.INVALID_CONFIG, f"Null value not supported for {self._kind} configs: {key}")
        wrong = option.check(value)
        if wrong is not None:
            raise RequestFailed(ErrorCode.INVALID_CONFIG, f"Invalid value {value!r} for configuration {key}: {wrong}")
        return value

    def replace(self, name: str, configs: Mapping[str, str]) -> None:
        """Set the configs of a resource. If writing fails, nothing changes, and `RequestFailed` is raised."""
        changed = {**self._set, name: dict(configs)}
        if not configs:
            del changed[name]
        try:
            replace_file(self._path, json.dumps(changed).encode(), sync_name=self._sync)
        except OSError as error:
            raise RequestFailed(ErrorCode.KAFKA_STORAGE_ERROR, f"{self._path}: {error}") from error
        self._set = changed
