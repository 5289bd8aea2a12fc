"""Batches that are being filled or wait to be sent: the queue of each partition, their memory, splitting them."""
