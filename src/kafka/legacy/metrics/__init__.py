"""kafka-python's statistics, which a `Sensor` of `kafka.metrics.sensor` feeds. No client of today uses them."""
