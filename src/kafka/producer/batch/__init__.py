"""Batches that are open or wait to be sent: the queues of partitions, their memory, and splitting of batches."""
