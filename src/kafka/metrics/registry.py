"""The registry of a client's metrics."""

from __future__ import annotations

from collections.abc import Callable


class Metrics:
    """All metrics of one client: functions that tell the present value, called when somebody looks.

    Arguments:
        enabled: False makes `snapshot` empty; metrics are registered as ever, so that nobody has to ask.
    """

    def __init__(self, enabled: bool = True) -> None:
        self._enabled = enabled
        self._groups: dict[str, dict[str, Callable[[], float]]] = {}

    def gauge(self, group: str, name: str, read: Callable[[], float]) -> None:
        """Register a function under a group and a name. Raises `ValueError` if the name is taken."""
        names = self._groups.setdefault(group, {})
        if name in names:
            raise ValueError(f"there is a metric {name!r} in group {group!r} already")
        names[name] = read

    def snapshot(self) -> dict[str, dict[str, float]]:
        """Present values by group and name, as `metrics()` of the clients gives them."""
        if not self._enabled:
            return {}
        return {
            group: {name: read() for name, read in list(names.items())} for group, names in list(self._groups.items())
        }
