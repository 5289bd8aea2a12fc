"""Numbers about a client: counters, averages, maxima and gauges by group and name. Layer 0.

They are recorded once a batch or a request, never once a record, by one thread (the loop's); `Metrics.snapshot` may be
called from any thread.
"""

from kafka.metrics.registry import Average, Counter, Maximum, Metrics, Rate

__all__ = ["Average", "Counter", "Maximum", "Metrics", "Rate"]
