"""kafka-python's statistics, for sensors (`kafka.metrics.sensor`) of programs. Today's clients do not use them."""
