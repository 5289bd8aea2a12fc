"""The SASL mechanisms by name.

To add a mechanism, add a row here, and a class with the methods of `kafka.net.sasl.Mechanism` to a module of that
package. Add its options to `kafka.config.sasl` (see `kafka.config.option`), and the settings of its Java login module
to `kafka.config.jaas`. For the embedded broker, add its exchange to `EXCHANGES` in `kafka.broker.sasl.exchanges`.
"""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

from kafka.errors import KafkaConfigurationError

_PASSWORD_MODULES = ("PlainLoginModule", "ScramLoginModule")
_PASSWORD_OPTIONS = ("sasl_plain_username", "sasl_plain_password")


@dataclasses.dataclass(frozen=True)
class MechanismRow:
    """One SASL mechanism.

    Attributes:
        name: the value of ``sasl_mechanism``.
        implementation: the class with the client's side of the exchange, or its import path, ``module:name``.
        needs: the required options.
        login_modules: names, without packages, of the Java login modules for this mechanism in ``sasl.jaas.config``.
        sends_in_clear: the secret, such as "password", that the mechanism sends unencrypted unless the connection uses
            TLS; None if there is no such secret.
    """

    name: str
    implementation: str | type[Any]
    needs: tuple[str, ...] = ()
    login_modules: tuple[str, ...] = ()
    sends_in_clear: str | None = None

    def load(self) -> Any:
        """Return the class, importing it if necessary."""
        if not isinstance(self.implementation, str):
            return self.implementation
        module, _, name = self.implementation.partition(":")
        return getattr(importlib.import_module(module), name)


_BUILT_IN = (
    MechanismRow("PLAIN", "kafka.net.sasl.plain:Plain", _PASSWORD_OPTIONS, _PASSWORD_MODULES, "password"),
    MechanismRow("SCRAM-SHA-256", "kafka.net.sasl.scram:Scram", _PASSWORD_OPTIONS, _PASSWORD_MODULES),
    MechanismRow("SCRAM-SHA-512", "kafka.net.sasl.scram:Scram", _PASSWORD_OPTIONS, _PASSWORD_MODULES),
    MechanismRow("OAUTHBEARER", "kafka.net.sasl.oauth:OAuthBearer", (), ("OAuthBearerLoginModule",), "token"),
    MechanismRow("GSSAPI", "kafka.net.sasl.gssapi:Gssapi", (), ("Krb5LoginModule",)),
    MechanismRow("AWS_MSK_IAM", "kafka.net.sasl.msk_iam:MskIam", (), ("IAMLoginModule",)),
)
BUILT_IN_NAMES = tuple(row.name for row in _BUILT_IN)
_rows = {row.name: row for row in _BUILT_IN}
"""Mechanisms by name in upper case."""


def mechanism_names() -> tuple[str, ...]:
    """Return the names of the available mechanisms; registered ones come last."""
    return tuple(row.name for row in _rows.values())


def find_mechanism(name: str | None) -> MechanismRow | None:
    """Return the mechanism with the given name, ignoring case; None if it does not exist."""
    return _rows.get(name.upper()) if isinstance(name, str) else None


def mechanism(name: str | None) -> MechanismRow:
    """Return the mechanism with the given name; raise `KafkaConfigurationError` if it does not exist."""
    row = find_mechanism(name)
    if row is None:
        raise KafkaConfigurationError(
            f"sasl_mechanism {name!r} is unknown; supported are {', '.join(mechanism_names())}"
        )
    return row


def mechanisms_of_login_module(module: str) -> list[str]:
    """Return the mechanisms that a Java login module supports."""
    return [row.name for row in _rows.values() if module in row.login_modules]


def register_mechanism(name: str, implementation: type[Any], overwrite: bool = False) -> None:
    """Register a mechanism in this process.

    Arguments:
        name: the mechanism's name. Case is ignored.
        implementation: the class with the client's side of the exchange.
        overwrite: whether to replace the class of an existing mechanism. The new class needs no options; the other
            fields are kept, and so is the spelling of a built-in mechanism's name.

    Raises `ValueError` if the mechanism already exists and ``overwrite`` is false.
    """
    known = find_mechanism(name)
    if known is None:
        row = MechanismRow(name, implementation)
    elif not overwrite:
        raise ValueError(f"the SASL mechanism {known.name!r} is already registered: pass overwrite=True to replace it")
    else:
        spelled = known.name if known.name in BUILT_IN_NAMES else name
        row = dataclasses.replace(known, name=spelled, implementation=implementation, needs=())
    _rows[name.upper()] = row


def unregister_mechanism(name: str) -> None:
    """Remove a registered mechanism, or restore the built-in mechanism with this name."""
    built_in = {row.name: row for row in _BUILT_IN}
    key = name.upper()
    if key in built_in:
        _rows[key] = built_in[key]
    else:
        _rows.pop(key, None)
