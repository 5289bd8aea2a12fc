"""The names that belong to a `transactionalIdPrefix`. Pure.

A task's transactional id belongs to one worker process alone, never to a task: a task that was given up, but still
runs somewhere, has another process's name and cannot fence the task in its place.
"""

import re


def driver_id(prefix: str) -> str:
    """The transactional id of the driver, by which drivers fence one another."""
    return f"{prefix}-driver"


def decision_group(prefix: str, part: int) -> str:
    """The group in whose offsets the decision is kept; a long one takes several."""
    return f"{prefix}-decision" + (f".{part}" if part else "")


def is_decision(group: str, metadata: str | None) -> bool:
    """Whether what a group has committed is a decision of this sink: the number of a batch, and no place in a topic."""
    return re.search(r"-decision(\.\d+)?$", group) is not None and re.match(r"\d+/\d+/", metadata or "") is not None


def batch_group(prefix: str, batch_id: str) -> str:
    """The group that remembers a batch write with a `transactionalBatchId`."""
    return f"{prefix}-batch-{batch_id}"


def task_id(prefix: str, slot: str) -> str:
    """The transactional id of a slot: a worker process and a number in it."""
    return f"{prefix}-{slot}"


def slot_of(prefix: str, transactional_id: str) -> str | None:
    """The slot of a task's transactional id; None: it is another's."""
    found = re.fullmatch(re.escape(prefix) + r"-([0-9a-f]{10}\.[0-9]+)", transactional_id)
    return found[1] if found else None
