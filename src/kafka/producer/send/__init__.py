"""Sends batches from the queues to the brokers, on the loop: schedules batches, builds requests, handles results."""
