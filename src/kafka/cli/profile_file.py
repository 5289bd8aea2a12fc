"""Edits the profiles file: settings of profiles, and the name of the default profile.

Only the lines concerned change, so comments and the order remain. The result is parsed again before it is written: if
it does not have the wanted content, for example because of an unusual layout, nothing is written.
"""

import contextlib
import json
import os
import pathlib
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from kafka.errors import KafkaConfigurationError

PROFILES = "KAFKA_PROFILES"
"""The environment variable with the path of the profiles file."""
Setting = str | int | float | bool
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HEADER = re.compile(r"\s*\[")


def profiles_file(environ: Mapping[str, str] = os.environ) -> pathlib.Path:
    """Return the path of the profiles file, which need not exist."""
    if environ.get(PROFILES):
        return pathlib.Path(environ[PROFILES])
    home = environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return pathlib.Path(home) / "kafka" / "profiles.toml"


class ProfileFile:
    """The profiles file, in memory until `save` is called.

    Arguments:
        path: the file, which need not exist.

    Attributes:
        path: the file.
        content: its parsed content.

    Raises `KafkaConfigurationError` if it cannot be read.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._lines: list[str] = []
        try:
            if path.exists():
                self._lines = path.read_text(encoding="utf-8-sig").splitlines()
            self.content: dict[str, Any] = tomllib.loads("\n".join(self._lines))
        except OSError as error:
            raise KafkaConfigurationError(
                f"the profiles file cannot be read: {path}: {error.strerror or error}"
            ) from None
        except UnicodeDecodeError:
            raise KafkaConfigurationError(f"{path} is not text in UTF-8, as TOML files are") from None
        except tomllib.TOMLDecodeError as error:
            raise KafkaConfigurationError(f"{path} is not a TOML file: {error}") from None

    @property
    def profiles(self) -> dict[str, dict[str, Any]]:
        """The profiles by name."""
        return {name: value for name, value in self.content.items() if isinstance(value, dict)}

    @property
    def default(self) -> str | None:
        """The name of the default profile."""
        name = self.content.get("default")
        return name if isinstance(name, str) else None

    def change(self, profile: str, settings: Mapping[str, Setting | None]) -> None:
        """Create a profile, or change settings in it; None removes a setting."""
        begin, end = self._section(profile)
        if begin is None:
            if self._lines and self._lines[-1].strip():
                self._lines.append("")
            self._lines.append(f"[{_key(profile)}]")
            begin = end = len(self._lines)
        for name, value in settings.items():
            end += self._set(begin, end, name, value)
        wanted = {**self.profiles.get(profile, {}), **settings}
        self.content[profile] = {name: value for name, value in wanted.items() if value is not None}

    def remove(self, profile: str) -> None:
        """Remove a profile; if it is the default, there is no default any more."""
        begin, end = self._section(profile)
        if begin is not None:
            while end > begin and (not self._lines[end - 1].strip() or self._lines[end - 1].lstrip().startswith("#")):
                end -= 1  # comments at the end may be about the next profile
            del self._lines[begin - 1 : end]
        self.content.pop(profile, None)
        if self.default == profile:
            self.set_default(None)

    def set_default(self, profile: str | None) -> None:
        """Set the name of the default profile, or remove it."""
        end = next((at for at, line in enumerate(self._lines) if _HEADER.match(line)), len(self._lines))
        added = self._set(0, end, "default", profile)
        if added > 0 and end == 0 and len(self._lines) > 1:
            self._lines.insert(1, "")
        self.content.pop("default", None)
        if profile is not None:
            self.content["default"] = profile

    def save(self) -> None:
        """Write the file, readable only by its owner. Raises `KafkaConfigurationError`."""
        text = "\n".join(self._lines).strip("\n") + "\n"
        try:
            is_right = tomllib.loads(text) == self.content
        except tomllib.TOMLDecodeError:
            is_right = False
        if not is_right:
            raise KafkaConfigurationError(
                f"{self.path} has a layout that this command cannot change; use an editor. Nothing was changed"
            )
        target = self.path.resolve()  # a link remains a link
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _replace(target, text)
        except OSError as error:
            raise KafkaConfigurationError(f"cannot write {target}: {error.strerror or error}") from None

    def _section(self, profile: str) -> tuple[int | None, int]:
        """Return the index after a profile's header, and the end of its settings; None if it has no header."""
        begin: int | None = None
        for at, line in enumerate(self._lines):
            if not _HEADER.match(line):
                continue
            if begin is not None:
                return begin, at
            with contextlib.suppress(tomllib.TOMLDecodeError):
                if tomllib.loads(line) == {profile: {}}:
                    begin = at + 1
        return begin, len(self._lines)

    def _set(self, begin: int, end: int, name: str, value: Setting | None) -> int:
        """Set a setting between two lines; return the number of lines added."""
        line = None if value is None else f"{_key(name)} = {_literal(value)}"
        for at in range(begin, end):
            with contextlib.suppress(tomllib.TOMLDecodeError):
                if name in tomllib.loads(self._lines[at]):
                    self._lines[at : at + 1] = [] if line is None else [line]
                    return -1 if line is None else 0
        if line is None:
            return 0
        while end > begin and not self._lines[end - 1].strip():
            end -= 1
        self._lines.insert(end, line)
        return 1


def _replace(target: pathlib.Path, text: str) -> None:
    """Write a file with mode 600 and put it in the place of another one, so that readers see one of the two."""
    name = target.with_name(f".{target.name}.{os.urandom(8).hex()}")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)  # only the owner may read it
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(handle)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _literal(name)


def _literal(value: Setting) -> str:
    """Return a value in TOML."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
