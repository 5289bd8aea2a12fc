"""What connections of old programs exchange, shown in the registry of metrics that the program gives."""

from __future__ import annotations

import time
import weakref

from kafka.config import ConnectionOptions
from kafka.metrics import Metrics
from kafka.metrics.client_metrics import ClientMetrics
from kafka.net.callback_thread import WorkerThread
from kafka.net.statistics import NetworkTraffic

_shown: weakref.WeakValueDictionary[tuple[int, str], NetworkTraffic] = weakref.WeakValueDictionary()
"""By registry and prefix: a registry holds what is shown in it, so none outlives its registry."""


def traffic_in(registry: Metrics | None, prefix: str, options: ConnectionOptions) -> NetworkTraffic:
    """What counts for all connections that are shown in a registry under a prefix; None: they are shown nowhere."""
    if registry is None:
        return NetworkTraffic()
    found = _shown.get((id(registry), prefix))
    if found is None:
        metrics = ClientMetrics(options, time.monotonic, registry=registry)
        found = _shown[id(registry), prefix] = NetworkTraffic(metrics, prefix)
        metrics.call_reporters_by(WorkerThread("kafka-metrics").submit)
    return found
