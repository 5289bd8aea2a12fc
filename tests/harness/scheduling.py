"""How the processes of pytest-xdist share the integration tests."""

from __future__ import annotations

import contextlib
from typing import Any

from xdist.scheduler import LoadScopeScheduling

AHEAD = 3
"""A process runs a test once it knows the next one. It gets more where it has fewer than this many left."""


SHARED_BY_A_FILE = frozenset(
    {
        "admin_access",
        "admin_cluster",
        "aio_programs",
        "beside_kafka_python",
        "cluster",
        "command_line",
        "demo",
        "lagging_replicas",
        "logins",
        "packaging",
        "schema_registry_contract",
        "telemetry",
        "three_brokers",
        "tls_stores",
    }
)
"""Files whose tests share brokers with settings of their own, a built wheel, or what long programs have printed. Each
process that runs one of these tests would start or make that again."""
SHARED_BY_A_BROKER = frozenset({"generations", "interop"})
"""Files whose tests share what programs have printed or written, for each broker."""


class KeepTogether(LoadScopeScheduling):  # type: ignore[misc]  # which has no types
    """One process runs the tests that share something costly; each other test goes to whichever process is free."""

    def _split_scope(self, nodeid: str) -> str:
        return kept_together(nodeid)

    def remove_node(self, node: Any) -> str | None:
        """Share out what a process that has died had still to run, and return the test that it died of.

        xdist's own method also shares out the tests that the process had finished. Then a process that is given such a
        test waits for a next one, which never comes, and the run does not end.
        """
        unfinished: dict[str, dict[str, bool]] = {}
        died_of = None
        for scope, tests in self.assigned_work.pop(node).items():
            left = {nodeid: False for nodeid, is_done in tests.items() if not is_done}
            if left and died_of is None:
                died_of = next(iter(left))
                del left[died_of]
            if left:
                unfinished[scope] = left
        self.workqueue.update(unfinished)
        for other in self.assigned_work:
            self._reschedule(other)
        return died_of

    def _assign_work_unit(self, node: Any) -> None:
        """Give a process a scope. If the process has just died, `remove_node` gives the scope to another one."""
        with contextlib.suppress(OSError):
            super()._assign_work_unit(node)

    def _reschedule(self, node: Any) -> None:
        """Give a process as many tests as it needs to go on, where xdist's own method gives one scope at most.

        A process that replaces a dead one gets none until it has collected the tests, even if the others are given more
        in the meantime.
        """
        if node.shutting_down or node not in self.registered_collections:
            return
        while self.workqueue and self._pending_of(self.assigned_work[node]) < AHEAD:
            self._assign_work_unit(node)
        if not self.workqueue:
            node.shutdown()


def kept_together(nodeid: str) -> str:
    """Return what the tests of one process share: a Spark session, or programs; otherwise the test itself."""
    if "/integration/spark/test_pipeline_targets" in nodeid or "/integration/spark/test_pipeline_steps" in nodeid:
        return "pipelines, other servers"
    if "/integration/spark/test_pipeline" in nodeid:
        return "pipelines"
    if "/integration/spark/" in nodeid:
        return "spark"
    file = nodeid.partition("::")[0]
    name = file.rpartition("/")[2].removeprefix("test_").removesuffix(".py")
    if name in SHARED_BY_A_BROKER:
        return f"{name}, embedded" if "[embedded" in nodeid else f"{name}, apache"
    return file if name in SHARED_BY_A_FILE else nodeid
