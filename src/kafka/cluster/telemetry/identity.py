"""What a client is called in telemetry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple


class Identity(NamedTuple):
    """See the module.

    Arguments:
        kind: the names of its metrics begin with it: "producer", "consumer" or "admin-client".
        prefix: the names of its groups of metrics begin with this instead.
        labels: gives what is said of the client as a whole, such as ``group_id``; what is None or empty is left out.
    """

    kind: str
    prefix: str
    labels: Callable[[], Mapping[str, str | None]] = dict
