"""From the queues to the brokers, on the loop: what may be sent when, and the requests that carry it."""
