"""Numbers about a client by group and name. Layer 0.

Each part of a client counts what it does itself, per batch or request and never per record. The numbers are read when
a program asks for them, from any thread.
"""

from kafka.metrics.registry import Metrics

__all__ = ["Metrics"]
