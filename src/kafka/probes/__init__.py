"""Liveness, readiness and startup probes for orchestrators such as Kubernetes, based on `health()` of the clients.

    from kafka import KafkaConsumer
    from kafka.probes import Probes, ProbeServer

    with KafkaConsumer("work", group_id="deployed") as consumer:
        probes = Probes(consumer, stalled_after_s=300)
        with ProbeServer(probes, host="0.0.0.0", port=8086):
            for record in consumer:
                work(record)
                probes.progressed()

`verdicts.py` decides whether a probe passes. `probe_server.py` answers HTTP probes, and `probe_file.py` writes a file
for exec probes (``kafka probe file``). A program with its own web server calls `Probes.check` in its own routes. No
probe sends a request to a broker: a probe must not fail because a broker is slow.

docs/KUBERNETES.md explains which probe to use, and has manifests.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka.probes.probe_file import ProbeFile as ProbeFile
    from kafka.probes.probe_server import ProbeServer as ProbeServer
    from kafka.probes.verdicts import HasHealth as HasHealth
    from kafka.probes.verdicts import ProbeName as ProbeName
    from kafka.probes.verdicts import Probes as Probes
    from kafka.probes.verdicts import Verdict as Verdict

__all__ = ["HasHealth", "ProbeFile", "ProbeName", "ProbeServer", "Probes", "Verdict"]

_HOMES = {
    "HasHealth": "kafka.probes.verdicts",
    "ProbeFile": "kafka.probes.probe_file",
    "ProbeName": "kafka.probes.verdicts",
    "ProbeServer": "kafka.probes.probe_server",
    "Probes": "kafka.probes.verdicts",
    "Verdict": "kafka.probes.verdicts",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use (PEP 562), so that a program imports only what it uses."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
