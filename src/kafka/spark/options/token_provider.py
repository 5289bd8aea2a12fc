"""A user's token provider, named in an option and imported in each process that connects. Pure."""

import dataclasses
import functools
import importlib
import re
from typing import Any

from kafka.config.option import invalid
from kafka.errors import KafkaConfigurationError

_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclasses.dataclass(frozen=True)
class NamedTokenProvider:
    """The option's value: names an object with ``token()``, or a callable without arguments that returns one.

    It is imported at the first login of each process that connects, and cached.

    Arguments:
        reference: ``module:attribute``.
    """

    reference: str

    def token(self) -> str:
        """A bearer token that has not expired."""
        token: str = _load(self.reference).token()
        return token

    def extensions(self) -> dict[str, str]:
        """The SASL extensions to send with the token."""
        extensions = getattr(_load(self.reference), "extensions", None)
        found: dict[str, str] = extensions() if callable(extensions) else {}
        return found


@functools.cache
def _load(reference: str) -> Any:
    module, _, path = reference.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError) as error:
        raise KafkaConfigurationError(
            f"option 'kafka.sasl.oauth.token.provider' names {reference!r}, which cannot be imported in Spark's "
            f"processes: {error}"
        ) from error
    if isinstance(found, type) or (callable(found) and not callable(getattr(found, "token", None))):
        found = found()
    if not callable(getattr(found, "token", None)):
        raise KafkaConfigurationError(
            f"option 'kafka.sasl.oauth.token.provider' names {reference!r}, which has no method token()"
        )
    return found


def named_token_provider(name: str, value: str) -> NamedTokenProvider:
    """``module:attribute``; raises `KafkaConfigurationError` for other text. Does not import anything yet."""
    if not _REFERENCE.fullmatch(value.strip()):
        raise invalid(name, "a name such as 'my_package.tokens:Provider'", "text of another form")
    return NamedTokenProvider(value.strip())
