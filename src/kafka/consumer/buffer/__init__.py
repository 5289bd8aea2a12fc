"""The way of fetched bytes from the loop to the caller: they wait here, are decoded, and are handed out as columns.

May import `kafka.record` and what lies below it, and nothing else of the consumer.
"""
