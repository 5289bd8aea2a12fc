"""The calls about compatibility, other settings, modes and contexts, with confluent-kafka's names and arguments."""

from typing import Any, Literal

from kafka.errors import IllegalArgumentError
from kafka.formats.registry._async.schema_calls import AsyncSchemaCalls, quoted
from kafka.formats.registry.errors import SchemaRegistryError
from kafka.formats.registry.responses import settings_of, text_of
from kafka.formats.registry.schema_objects import Schema, ServerConfig, checked_schema

Version = int | Literal["latest"]


class AsyncSettingCalls(AsyncSchemaCalls):
    """What a registry is asked about settings, and about compatibility, which they rule."""

    async def set_compatibility(self, subject_name: str | None = None, level: str | None = None) -> dict[str, Any]:
        """Set which versions a new one has to be compatible with; the setting as the registry's JSON has it.

        Arguments:
            subject_name: the subject; None: for all that have no setting of their own.
            level: a `ConfigCompatibilityLevel` or its name.
        """
        if level is None:
            raise IllegalArgumentError("level has to be given, such as 'BACKWARD'")
        body = {"compatibility": str(level).upper()}
        return dict(await self._asked(dict, "PUT", _setting("config", subject_name), None, body))

    async def get_compatibility(self, subject_name: str | None = None, default_to_global: bool = False) -> str:
        """Which versions a new one has to be compatible with.

        Arguments:
            subject_name: the subject; None: what holds for those that have no setting of their own.
            default_to_global: for a subject without a setting of its own, give what holds for it. Not in
                confluent-kafka.
        """
        path = _setting("config", subject_name)
        answer = await self._asked(dict, "GET", path, _in_scope(default_to_global))
        return text_of(answer, f"GET /{path}", "compatibilityLevel", "compatibility")

    async def test_compatibility(
        self,
        subject_name: str,
        schema: Schema,
        version: Version = "latest",
        normalize: bool = False,
        verbose: bool = False,
    ) -> bool:
        """Whether a schema is compatible with one version of a subject.

        Arguments:
            subject_name: the subject.
            schema: the schema.
            version: its number, or "latest".
            normalize: have the registry bring the schema into a normal form first.
            verbose: have the registry name reasons, which `compatibility_errors` gives.
        """
        answer = await self._compatibility(subject_name, schema, f"/{quoted(str(version))}", normalize, verbose)
        return answer["is_compatible"] is True

    async def test_compatibility_all_versions(
        self, subject_name: str, schema: Schema, normalize: bool = False, verbose: bool = False
    ) -> bool:
        """Whether a schema is compatible with the versions of a subject that its setting names.

        Arguments:
            subject_name: the subject.
            schema: the schema.
            normalize: have the registry bring the schema into a normal form first.
            verbose: have the registry name reasons, which `compatibility_errors` gives.
        """
        answer = await self._compatibility(subject_name, schema, "", normalize, verbose)
        return answer["is_compatible"] is True

    async def compatibility_errors(
        self, subject_name: str, schema: Schema, version: Version | None = None
    ) -> list[str]:
        """Why a schema is not compatible, in the registry's words; nothing where it is. Not in confluent-kafka.

        Arguments:
            subject_name: the subject.
            schema: the schema.
            version: compare with this version, a number or "latest"; None: with those that the setting names.
        """
        path = "" if version is None else f"/{quoted(str(version))}"
        answer = await self._compatibility(subject_name, schema, path, False, True)
        if answer["is_compatible"] is True:
            return []
        return [str(each) for each in answer.get("messages") or ()] or ["the registry gave no reason"]

    async def _compatibility(
        self, subject_name: str, schema: Schema, version: str, normalize: bool, verbose: bool
    ) -> dict[str, Any]:
        path = f"compatibility/subjects/{quoted(subject_name)}/versions{version}"
        query = {"normalize": normalize, "verbose": verbose}
        answer: dict[str, Any] = await self._asked(dict, "POST", path, query, checked_schema(schema).to_dict())
        if "is_compatible" not in answer:
            raise SchemaRegistryError(0, -1, "the answer lacks 'is_compatible'", f"POST /{path}")
        return answer

    async def set_config(self, subject_name: str | None = None, config: ServerConfig | None = None) -> dict[str, Any]:
        """Set the settings that are given, and leave the others as they are; as the registry's JSON has them.

        Arguments:
            subject_name: the subject; None: for all that have none of their own.
            config: the settings, also those that `get_config` returned.
        """
        if config is None:
            raise IllegalArgumentError("config has to be given, as ServerConfig(compatibility=...)")
        body = config.to_dict()
        level = body.pop("compatibilityLevel", None)  # the name under which a registry returns it, and does not take it
        if level is not None:
            body.setdefault("compatibility", level)
        answer = await self._asked(dict, "PUT", _setting("config", subject_name), None, body)
        self._forget(subject_name)
        return dict(answer)

    async def get_config(self, subject_name: str | None = None, default_to_global: bool = False) -> ServerConfig:
        """All settings.

        Arguments:
            subject_name: the subject; None: those that hold for subjects without.
            default_to_global: for a subject without settings of its own, give those that hold for it. Not in
                confluent-kafka.
        """
        path = _setting("config", subject_name)
        return settings_of(await self._asked(dict, "GET", path, _in_scope(default_to_global)), f"GET /{path}")

    async def delete_config(self, subject_name: str | None = None) -> ServerConfig:
        """Delete settings; what they were.

        Arguments:
            subject_name: the subject; None: those that hold for subjects without.
        """
        path = _setting("config", subject_name)
        answer = await self._asked(dict, "DELETE", path)
        self._forget(subject_name)
        return settings_of(answer, f"DELETE /{path}")

    def _forget(self, subject_name: str | None) -> None:
        """Forget what may be another now: what an alias stands for, what a schema becomes when it is registered."""
        if subject_name is None:
            self.clear_caches()
        else:
            self._forget_subject(subject_name)

    # -- modes and contexts -------------------------------------------------------------------------------------------

    async def get_mode(self, subject_name: str, default_to_global: bool = False) -> str:
        """Whether a subject takes schemas: "READWRITE", "READONLY", "READONLY_OVERRIDE" or "IMPORT".

        Arguments:
            subject_name: the subject.
            default_to_global: for a subject without a mode of its own, give the one that holds for it. Not in
                confluent-kafka.
        """
        return await self._mode("GET", _setting("mode", subject_name), _in_scope(default_to_global))

    async def update_mode(self, subject_name: str, mode: str, force: bool = False) -> str:
        """Set whether a subject takes schemas; the mode.

        Arguments:
            subject_name: the subject.
            mode: see `get_mode`.
            force: even where schemas are registered.
        """
        return await self._mode("PUT", _setting("mode", subject_name), {"force": force}, {"mode": mode})

    async def delete_mode(self, subject_name: str) -> str:
        """Have a subject go by the registry's mode; the mode that it had.

        Arguments:
            subject_name: the subject.
        """
        return await self._mode("DELETE", _setting("mode", subject_name))

    async def get_global_mode(self) -> str:
        """The mode of subjects that have none of their own, see `get_mode`."""
        return await self._mode("GET", "mode")

    async def update_global_mode(self, mode: str, force: bool = False) -> str:
        """Set the mode of subjects that have none of their own; the mode.

        Arguments:
            mode: see `get_mode`.
            force: even where schemas are registered.
        """
        return await self._mode("PUT", "mode", {"force": force}, {"mode": mode})

    async def _mode(self, method: str, path: str, query: Any = None, body: Any = None) -> str:
        return text_of(await self._asked(dict, method, path, query, body), f"{method} /{path}", "mode")

    async def get_contexts(self, offset: int = 0, limit: int = -1) -> list[str]:
        """The names of contexts, in each of which ids are of their own.

        Arguments:
            offset: how many to leave out.
            limit: how many to give; less than 0: all.
        """
        return await self._listed(str, "GET", "contexts", {"offset": offset, "limit": limit})


def _in_scope(default_to_global: bool) -> dict[str, bool | None]:
    return {"defaultToGlobal": default_to_global or None}


def _setting(kind: str, subject_name: str | None) -> str:
    return kind if subject_name is None else f"{kind}/{quoted(subject_name)}"
