"""The list of assignors, and the names that options have for them."""

from __future__ import annotations

from kafka.config import from_java_names
from kafka.coordinator.assignors import ASSIGNORS


def test_each_assignor_has_the_name_that_options_give_its_java_class() -> None:
    for assignor in ASSIGNORS:
        java = f"org.apache.kafka.clients.consumer.{assignor.java_name}"
        found = from_java_names({"partition.assignment.strategy": java})
        assert found == {"partition_assignment_strategy": (assignor.name,)}
