"""Pushes a client's metrics to brokers, if the cluster subscribes to them (KIP-714).

`Telemetry` is the interface for clients. It requests the subscription from a broker that supports the telemetry APIs,
`MetricsCollector` collects the metrics, and `otlp` encodes them. If no broker supports the APIs, nothing is sent, and
only `client_telemetry` and `collector` are loaded.
"""
