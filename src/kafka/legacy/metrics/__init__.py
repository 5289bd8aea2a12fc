"""kafka-python's statistics, for sensors (`kafka.metrics.sensor`) in programs. Today's clients do not use them."""
