"""A client's metrics, pushed to the broker where the cluster subscribes to them (KIP-714).

`Telemetry` is what a client has of it. A broker that lists the APIs is asked what it wants, `MetricsCollector` gathers
that, and `otlp` writes it. Where no broker lists them nothing is sent, and only `telemetry` and `state` are loaded.
"""
