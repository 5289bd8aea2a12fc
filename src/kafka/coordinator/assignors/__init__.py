"""Assignors: ways to distribute partitions among the members of a group. The leader of a group runs one of them.

To add an assignor to this package, add a module with a subclass of `AbstractPartitionAssignor`, and add the class to
`ASSIGNORS`. It declares whether it is fast enough to run `on_loop`, and whether consumers offer it `by_default`. If
Java has the same assignor, add the name of Java's class to `JAVA_ASSIGNORS` in `kafka.config.java_names`. Tests are in
tests/unit/coordinator/assignors. A program's own assignor needs none of this: it is passed as an option.
"""

from typing import Any

from kafka import _old_names
from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

ASSIGNORS: tuple[type[AbstractPartitionAssignor], ...] = (
    RangePartitionAssignor,
    RoundRobinPartitionAssignor,
    StickyPartitionAssignor,
    CooperativeStickyAssignor,
)
"""The assignors in this package, which options can name. Those offered by default are in order of preference."""


def __getattr__(name: str) -> Any:
    """Load a submodule on first access (PEP 562). In kafka-python, importing the package imports its submodules."""
    return _old_names.of_a_package(__name__, name, {})
