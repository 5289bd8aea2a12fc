"""The path of fetched data from the loop to the caller: data is buffered, decoded, and returned as columns.

May import `kafka.record` and the layers below it, and no other part of the consumer.
"""
