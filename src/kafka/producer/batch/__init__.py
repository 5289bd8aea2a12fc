"""Batches that are open or waiting to be sent: the partitions' queues, their memory, and the splitting of batches."""
