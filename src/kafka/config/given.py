"""The options of a client as it shows them."""

from typing import Any

from kafka.config.secrecy import is_secret, shown


class GivenConfigs(dict[str, Any]):
    """A client's ``config``: a dictionary with all values, of whose secrets its text form shows the type alone."""

    def __repr__(self) -> str:
        pairs = (
            f"{name!r}: {f'<{shown(name, value)}>' if is_secret(name) and value is not None else repr(value)}"
            for name, value in self.items()
        )
        return f"{{{', '.join(pairs)}}}"
