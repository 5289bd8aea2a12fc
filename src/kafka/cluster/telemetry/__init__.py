"""Pushes a client's metrics to brokers, if the cluster subscribes to them (KIP-714).

`Telemetry` is the interface for clients. It asks a broker that supports the APIs for its subscription,
`MetricsCollector` collects the metrics, and `otlp` encodes them. If no broker supports the APIs, nothing is sent, and
only `client_telemetry` and `collector` are loaded.
"""
