"""kafka-python's record batches since 1.4, which are built and read record by record, based on `kafka.record`."""
