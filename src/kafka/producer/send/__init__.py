"""From the queues to the brokers, on the loop: what may be sent when, the requests, and what comes of them."""
