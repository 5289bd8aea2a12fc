"""Merges client settings from all sources: options, properties files, environment variables and profiles."""

import contextlib
import os
import pathlib
from collections.abc import Mapping
from typing import Any

from kafka.cli.profile_file import PROFILES, profiles_file
from kafka.config import load_properties, option_table
from kafka.config.java_names import from_java_names, from_text
from kafka.config.option import nearest
from kafka.config.secrecy import shown_name, shown_setting
from kafka.config.table import is_given
from kafka.errors import KafkaConfigurationError

_PREFIX = "KAFKA_"
_NAMES = {
    "bootstrap_servers": "bootstrap_servers",
    "security_protocol": "security_protocol",
    "sasl_mechanism": "sasl_mechanism",
    "sasl_user": "sasl_plain_username",
    "sasl_password": "sasl_plain_password",
}
"""Maps the common options to the settings that they stand for."""
_OTHER_MEANING = frozenset({"KAFKA_CONFIG", "KAFKA_LOG_LEVEL", "KAFKA_PROFILE", PROFILES})


def settings(given: Mapping[str, Any], environ: Mapping[str, str] = os.environ, prefix: str = "--") -> dict[str, Any]:
    """Return the keyword arguments for all kinds of clients together.

    The command line takes precedence over environment variables, and these over the default profile. On the command
    line, single options take precedence over ``-X``, ``-X`` over the properties file, and the file over the profile.

    Raises `KafkaConfigurationError`.
    """
    named = given["profile"]
    layers = [] if named else [_profile(None, environ)]
    layers.append(_variables(environ))
    if environ.get("KAFKA_CONFIG") and not given["config_file"]:
        layers.append(_properties(environ["KAFKA_CONFIG"], "KAFKA_CONFIG"))
    if named:
        layers.append(_profile(named, environ))
    if given["config_file"]:
        layers.append(_properties(given["config_file"], "--config"))
    layers.append(single_settings(given["extra_config"]))
    layers.append(_checked_options(given, prefix))
    merged: dict[str, Any] = {}
    for layer in layers:
        merged |= layer
    if "sasl_plain_username" in merged and "sasl_mechanism" not in merged:
        merged["sasl_mechanism"] = "PLAIN"
    takes_password = str(merged.get("sasl_mechanism")).upper().startswith(("PLAIN", "SCRAM"))
    if takes_password and given["sasl_user"] is not None and merged.get("sasl_plain_password") is None:
        raise KafkaConfigurationError(
            f"user {given['sasl_user']!r} has no password: set KAFKA_SASL_PLAIN_PASSWORD, or use -P"
        )
    return merged


def single_settings(texts: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings given with ``-X``. Raises `KafkaConfigurationError`."""
    return typed(_pairs(texts))


def given_settings(given: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the settings in the options themselves, by the name used there: the text, and the typed value.

    The properties file is not included. Settings are not checked: the check may depend on others of the profile.
    """
    found: dict[str, tuple[Any, Any]] = {}
    for name, text in {**_pairs(given["extra_config"]), **_options(given)}.items():
        value = text
        with contextlib.suppress(KafkaConfigurationError, ValueError):
            [value] = typed({name: text}).values()
        found[name] = (text, value)
    return found


def check_profile(file: pathlib.Path, name: str, profile: Mapping[str, Any]) -> None:
    """Raise `KafkaConfigurationError` if a profile has an invalid setting."""
    _of_profile(file, name, profile)


def of_client(merged: Mapping[str, Any], client: str) -> dict[str, Any]:
    """Return the settings for one kind of client: "consumer", "producer", "admin" or "share consumer"."""
    table = option_table()
    return {name: value for name, value in merged.items() if client in table[name].clients}


def typed(texts: Mapping[str, Any]) -> dict[str, Any]:
    """Convert settings to this package's names and types.

    Names may be this package's or Java's; strings are parsed.
    """
    table = option_table()
    java = {name: value for name, value in texts.items() if name not in table}
    for name in java:
        if "." not in name:
            raise KafkaConfigurationError(f"no client has an option {shown_name(name)}{nearest(name, table)}")
    found = from_java_names(java)
    for name in texts.keys() - java.keys():
        value = texts[name]
        if isinstance(value, str):
            value = None if value == "None" else from_text(name, table[name], value)
        found[name] = value
    return _checked(found)


def _checked(found: dict[str, Any]) -> dict[str, Any]:
    """Check that all values are valid for their options, whichever clients the command creates; return the settings."""
    table = option_table()
    for name, value in found.items():
        if is_given(name, value):
            table[name].parse(name, value)
    return found


def _checked_options(given: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the settings that have their own options; an error has the option's name on the command line."""
    found, table = _options(given), option_table()
    for option, name in _NAMES.items():
        if name in found:
            table[name].parse(prefix + option.replace("_", "-"), found[name])
    return found


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that have their own options."""
    found = {
        ours: given[option]
        for option, ours in _NAMES.items()
        if option != "bootstrap_servers" and given[option] is not None
    }
    if given["bootstrap_servers"]:
        found["bootstrap_servers"] = ",".join(given["bootstrap_servers"])
    return found


def _pairs(texts: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise KafkaConfigurationError(f"expected a setting of the form NAME=VALUE, got {shown_setting(text)}")
        found[name.strip()] = value
    return found


def _variables(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings in variables such as ``KAFKA_BOOTSTRAP_SERVERS``; other variables are ignored."""
    table = option_table()
    named = {
        name.removeprefix(_PREFIX).lower(): value
        for name, value in environ.items()
        if name.startswith(_PREFIX) and name not in _OTHER_MEANING and value
    }
    found: dict[str, Any] = {}
    for name, value in named.items():
        if name in table and not table[name].inert:
            try:
                found |= typed({name: value})
            except KafkaConfigurationError as error:
                raise KafkaConfigurationError(f"variable {_PREFIX}{name.upper()}: {error}") from None
    return found


def _profile(name: str | None, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return a profile's settings. The name comes from `name`, ``KAFKA_PROFILE`` or the file's ``default``."""
    file = profiles_file(environ)
    wanted = name or environ.get("KAFKA_PROFILE")
    if not file.exists():
        if wanted:
            raise KafkaConfigurationError(f"there is no profile {wanted!r}: {file} does not exist")
        if environ.get(PROFILES):
            raise KafkaConfigurationError(f"{PROFILES} names a file that does not exist: {file}")
        return {}
    import tomllib

    try:
        content = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise KafkaConfigurationError(f"the profiles file cannot be read: {file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise KafkaConfigurationError(f"{file} is not text in UTF-8, as TOML files are") from None
    except tomllib.TOMLDecodeError as error:
        raise KafkaConfigurationError(f"{file} is not a TOML file: {error}") from None
    wanted = wanted or content.get("default")
    if wanted is None:
        return {}
    if not isinstance(wanted, str):
        raise KafkaConfigurationError(f"{file}: default must be the name of a profile, not {wanted!r}")
    profile = content.get(wanted)
    if not isinstance(profile, dict):
        known = [each for each, value in content.items() if isinstance(value, dict)]
        raise KafkaConfigurationError(
            f"{file} has no profile {wanted!r}; it has {', '.join(known) or 'none'}{nearest(wanted, known)}"
        )
    return _of_profile(file, wanted, profile)


def _properties(file: str | pathlib.Path, named_by: str) -> dict[str, Any]:
    """Return the settings in a properties file for Java clients."""
    try:
        return _checked(load_properties(file))
    except OSError as error:
        raise KafkaConfigurationError(
            f"{named_by} names a file that cannot be read: {file}: {error.strerror or error}"
        ) from None


def _of_profile(file: pathlib.Path, name: str, profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return a profile's settings; ``config`` names a properties file, relative to the profiles file's folder."""
    rest = dict(profile)
    try:
        named = rest.pop("config", "")
        if not isinstance(named, str) or "\0" in named:
            raise KafkaConfigurationError(f"config must be the name of a properties file, not {named!r}")
        found = _properties(file.parent / named, "config") if named else {}
        return found | typed(rest)
    except KafkaConfigurationError as error:
        raise KafkaConfigurationError(f"profile {name!r} of {file}: {error}") from None
