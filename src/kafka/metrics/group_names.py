"""The names of groups of metrics, as kafka-python has them: behind a dot stands the broker or topic they are about."""

from __future__ import annotations


def parted(group: str) -> tuple[str, dict[str, str]]:
    """A group without what it is about, and that: ``node``, such as "node-1", or ``topic``."""
    name, _, about = group.partition(".")
    if not about:
        return name, {}
    return name, {"node" if name.endswith("-node-metrics") else "topic": about}
