# Written by scripts/twins.py from kafka/formats/registry/_async/setting_calls.py: change that file, not this one.
"""Methods for compatibility and other settings, modes and contexts; names and arguments are confluent-kafka's."""

from typing import Any, Literal

from kafka.errors import IllegalArgumentError
from kafka.formats.registry._sync.schema_calls import SchemaCalls, quoted
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.formats.registry.responses import settings_of, text_of
from kafka.formats.registry.schema_objects import Schema, ServerConfig, checked_schema

Version = int | Literal["latest"]


class SettingCalls(SchemaCalls):
    """Calls for settings, and for compatibility checks, which depend on settings."""

    def set_compatibility(self, subject_name: str | None = None, level: str | None = None) -> dict[str, Any]:
        """Set which versions a new version must be compatible with; returns the registry's JSON.

        Arguments:
            subject_name: the subject; None: all subjects without their own setting.
            level: a `ConfigCompatibilityLevel` or its name.
        """
        if level is None:
            raise IllegalArgumentError("level is required, such as 'BACKWARD'")
        body = {"compatibility": str(level).upper()}
        return dict(self._asked(dict, "PUT", _setting("config", subject_name), None, body))

    def get_compatibility(self, subject_name: str | None = None, default_to_global: bool = False) -> str:
        """Return the compatibility level: which versions a new version must be compatible with.

        Arguments:
            subject_name: the subject; None: the global setting, for subjects without their own.
            default_to_global: for a subject without its own setting, return the setting that applies to the subject.
                Not in confluent-kafka.
        """
        path = _setting("config", subject_name)
        answer = self._asked(dict, "GET", path, _in_scope(default_to_global))
        return text_of(answer, f"GET /{path}", "compatibilityLevel", "compatibility")

    def test_compatibility(
        self,
        subject_name: str,
        schema: Schema,
        version: Version = "latest",
        normalize: bool = False,
        verbose: bool = False,
    ) -> bool:
        """Return whether a schema is compatible with a given version of a subject.

        Arguments:
            subject_name: the subject.
            schema: the schema.
            version: the version number, or "latest".
            normalize: let the registry normalize the schema first.
            verbose: request the reasons as well; only `compatibility_errors` returns them.
        """
        answer = self._compatibility(subject_name, schema, f"/{quoted(str(version))}", normalize, verbose)
        return answer["is_compatible"] is True

    def test_compatibility_all_versions(
        self, subject_name: str, schema: Schema, normalize: bool = False, verbose: bool = False
    ) -> bool:
        """Return whether a schema is compatible with all versions that the subject's setting requires.

        Arguments:
            subject_name: the subject.
            schema: the schema.
            normalize: let the registry normalize the schema first.
            verbose: request the reasons as well; only `compatibility_errors` returns them.
        """
        answer = self._compatibility(subject_name, schema, "", normalize, verbose)
        return answer["is_compatible"] is True

    def compatibility_errors(self, subject_name: str, schema: Schema, version: Version | None = None) -> list[str]:
        """Return the registry's reasons why a schema is incompatible; empty if it is compatible.

        Not in confluent-kafka.

        Arguments:
            subject_name: the subject.
            schema: the schema.
            version: compare with this version, a number or "latest"; None: with those that the setting requires.
        """
        path = "" if version is None else f"/{quoted(str(version))}"
        answer = self._compatibility(subject_name, schema, path, False, True)
        if answer["is_compatible"] is True:
            return []
        return [str(each) for each in answer.get("messages") or ()] or ["the registry gave no reason"]

    def _compatibility(
        self, subject_name: str, schema: Schema, version: str, normalize: bool, verbose: bool
    ) -> dict[str, Any]:
        path = f"compatibility/subjects/{quoted(subject_name)}/versions{version}"
        query = {"normalize": normalize, "verbose": verbose}
        answer: dict[str, Any] = self._asked(dict, "POST", path, query, checked_schema(schema).to_dict())
        if "is_compatible" not in answer:
            raise SchemaRegistryError(0, -1, "the response lacks 'is_compatible'", f"POST /{path}")
        return answer

    def set_config(self, subject_name: str | None = None, config: ServerConfig | None = None) -> dict[str, Any]:
        """Change the given settings, and leave the others unchanged; returns the registry's JSON.

        Arguments:
            subject_name: the subject; None: the global settings, for subjects without their own.
            config: the settings, for example a modified result of `get_config`.
        """
        if config is None:
            raise IllegalArgumentError("config is required, such as ServerConfig(compatibility=...)")
        body = config.to_dict()
        level = body.pop("compatibilityLevel", None)  # the registry returns this name but does not accept it
        if level is not None:
            body.setdefault("compatibility", level)
        answer = self._asked(dict, "PUT", _setting("config", subject_name), None, body)
        self._forget(subject_name)
        return dict(answer)

    def get_config(self, subject_name: str | None = None, default_to_global: bool = False) -> ServerConfig:
        """Return all settings.

        Arguments:
            subject_name: the subject; None: the global settings, for subjects without their own.
            default_to_global: for a subject without its own settings, return the settings that apply to the subject.
                Not in confluent-kafka.
        """
        path = _setting("config", subject_name)
        return settings_of(self._asked(dict, "GET", path, _in_scope(default_to_global)), f"GET /{path}")

    def delete_config(self, subject_name: str | None = None) -> ServerConfig:
        """Delete settings; returns their previous values.

        Arguments:
            subject_name: the subject; None: the global settings, for subjects without their own.
        """
        path = _setting("config", subject_name)
        answer = self._asked(dict, "DELETE", path)
        self._forget(subject_name)
        return settings_of(answer, f"DELETE /{path}")

    def _forget(self, subject_name: str | None) -> None:
        """Clear cached results that new settings may change, such as lookups through an alias or registrations."""
        if subject_name is None:
            self.clear_caches()
        else:
            self._forget_subject(subject_name)

    # -- modes and contexts -------------------------------------------------------------------------------------------

    def get_mode(self, subject_name: str, default_to_global: bool = False) -> str:
        """Return whether a subject accepts schemas: "READWRITE", "READONLY", "READONLY_OVERRIDE" or "IMPORT".

        Arguments:
            subject_name: the subject.
            default_to_global: for a subject without its own mode, return the mode that applies to the subject. Not in
                confluent-kafka.
        """
        return self._mode("GET", _setting("mode", subject_name), _in_scope(default_to_global))

    def update_mode(self, subject_name: str, mode: str, force: bool = False) -> str:
        """Set whether a subject accepts schemas; returns the mode.

        Arguments:
            subject_name: the subject.
            mode: see `get_mode`.
            force: set the mode even if schemas are registered.
        """
        return self._mode("PUT", _setting("mode", subject_name), {"force": force}, {"mode": mode})

    def delete_mode(self, subject_name: str) -> str:
        """Delete a subject's own mode, so that the registry's mode applies; returns the previous mode.

        Arguments:
            subject_name: the subject.
        """
        return self._mode("DELETE", _setting("mode", subject_name))

    def get_global_mode(self) -> str:
        """Return the mode for subjects without their own, such as "READWRITE"; see `get_mode`."""
        return self._mode("GET", "mode")

    def update_global_mode(self, mode: str, force: bool = False) -> str:
        """Set the mode for subjects without their own; returns the mode.

        Arguments:
            mode: see `get_mode`.
            force: set the mode even if schemas are registered.
        """
        return self._mode("PUT", "mode", {"force": force}, {"mode": mode})

    def _mode(self, method: str, path: str, query: Any = None, body: Any = None) -> str:
        return text_of(self._asked(dict, method, path, query, body), f"{method} /{path}", "mode")

    def get_contexts(self, offset: int = 0, limit: int = -1) -> list[str]:
        """Return the names of contexts. Each context has its own schema ids.

        Arguments:
            offset: number of results to skip.
            limit: maximum number of results; a negative number means no limit.
        """
        return self._listed(str, "GET", "contexts", {"offset": offset, "limit": limit})


def _in_scope(default_to_global: bool) -> dict[str, bool | None]:
    return {"defaultToGlobal": default_to_global or None}


def _setting(kind: str, subject_name: str | None) -> str:
    return kind if subject_name is None else f"{kind}/{quoted(subject_name)}"
