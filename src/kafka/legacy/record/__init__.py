"""Batches of records one by one, as kafka-python built and read them from 1.4 on: views of `kafka.record`."""
