"""What both faces do to the options before they are parsed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

_numbers = itertools.count(1)


def client_configs(configs: Mapping[str, Any]) -> dict[str, Any]:
    """Give a producer without a name one of its own, by which brokers can tell it in their logs."""
    named = dict(configs)
    if named.get("client_id") is None:
        named["client_id"] = f"kafka-columnar-producer-{next(_numbers)}"
    return named
