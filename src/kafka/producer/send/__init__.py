"""From the queues to the brokers, on the loop: when to send which batches, the requests, and their results."""
