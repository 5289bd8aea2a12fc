"""Checks what the pipeline's user may do with topics, groups and transactional ids, as far as brokers tell.

Brokers without authorization allow everything. Kafka has no request that tells whether a transaction may be started
without starting one, so that only the permission to describe a transactional id is checked.
"""

from __future__ import annotations

from kafka.pipelines.checks.cluster_state import ClusterState
from kafka.pipelines.checks.problem import Findings
from kafka.pipelines.checks.topics import DEAD, SINK, locations_of
from kafka.pipelines.declaration import Declaration, Location


def groups_of(declaration: Declaration) -> dict[str, Location]:
    """Return the groups to which the pipeline commits, with the location on which each depends."""
    from kafka.spark.exactly_once.decision import decision_group

    found: dict[str, Location] = {declaration.pipeline: ("pipeline",)}  # to which runs commit, for tools that show lag
    if _has_transactions(declaration):
        found[decision_group(declaration.pipeline, 0)] = ("sink", "exactly_once")
    if declaration.dead_letters is not None:
        found[f"{declaration.pipeline}-replay"] = ("dead_letters",)
    for name, source in declaration.all_sources.items():
        for option, group in source.options.items():
            if option.lower() == "commitgroup":
                found[group] = ("sources", name, "options", option)
    return found


def transactional_id_of(declaration: Declaration) -> str | None:
    """Return the transactional id with which the driver fences others; None without transactions."""
    from kafka.spark.exactly_once.decision import driver_id

    return driver_id(declaration.pipeline) if _has_transactions(declaration) else None


def _has_transactions(declaration: Declaration) -> bool:
    """Return whether the pipeline writes in transactions: to its sink, or the dead letters of another target."""
    sink = declaration.topic_sink
    return declaration.dead_letters is not None if sink is None else sink.exactly_once


def check_permissions(findings: Findings, declaration: Declaration, state: ClusterState) -> None:
    """Check the permissions.

    Arguments:
        findings: collects the problems.
        declaration: the declaration.
        state: what the brokers answered.
    """
    for name, source in declaration.all_sources.items():
        for topic, location in locations_of(source, name).items():
            _check_topic(findings, location, topic, "READ", state)
    if declaration.topic_sink is not None:
        _check_topic(findings, SINK, declaration.topic_sink.topic, "WRITE", state)
    if declaration.dead_letters is not None:
        topic = declaration.dead_letters.topic
        _check_topic(findings, DEAD, topic, "WRITE", state)
        operations = state.topics[topic].operations if topic in state.topics else None
        if operations is not None and "READ" not in operations:
            findings.warning(DEAD, f"no permission READ for topic {topic!r}: you cannot list or replay dead letters")
    for group, location in groups_of(declaration).items():
        granted = state.groups.get(group)
        if granted is not None and "READ" not in granted:
            if location == ("sink", "exactly_once"):
                findings.error(location, f"no permission READ for group {group!r}, to which the pipeline commits")
            else:
                findings.warning(
                    location, f"no permission READ for group {group!r}: tools for lag will not show progress"
                )
    if state.transactional_id_denied:
        findings.error(
            ("sink", "exactly_once"),
            f"no permission DESCRIBE for transactional ids that begin with {declaration.pipeline!r}: grant DESCRIBE "
            "and WRITE with the pattern type PREFIXED, or set exactly_once to false",
        )


def _check_topic(findings: Findings, location: Location, topic: str, operation: str, state: ClusterState) -> None:
    if topic in state.denied:
        findings.error(
            location, f"no permission DESCRIBE for topic {topic!r}, so that it cannot be seen: grant {operation}"
        )
    elif topic in state.topics:
        operations = state.topics[topic].operations
        if operations is None:
            return
        if operation in operations:
            findings.passed(location, f"permission {operation} for topic {topic!r}")
        else:
            findings.error(location, f"no permission {operation} for topic {topic!r}")
