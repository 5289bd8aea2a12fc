"""Numbers about a client by group and name. Layer 0.

Whoever has a number counts it, once a batch or a request, never once a record; it is read when somebody looks, from any
thread.
"""

from kafka.metrics.registry import Metrics

__all__ = ["Metrics"]
