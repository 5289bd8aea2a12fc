"""The outcome of sending records: decisions about responses, futures and callbacks.

Imports no other package of the producer.
"""
