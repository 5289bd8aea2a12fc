"""The path of fetched data from the loop to the caller: it is buffered, decoded, and returned as columns.

May import `kafka.record` and what lies below it, and nothing else of the consumer.
"""
