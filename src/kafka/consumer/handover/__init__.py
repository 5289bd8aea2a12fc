"""From the loop to the caller: fetched bytes wait here, are decoded, and are handed out as columns.

May import `kafka.record` and what lies below it, and nothing else of the consumer.
"""
