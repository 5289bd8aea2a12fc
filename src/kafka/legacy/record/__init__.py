"""Record batches as kafka-python has built and read them since 1.4, record by record, based on `kafka.record`."""
