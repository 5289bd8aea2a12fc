"""What a caller gets: records made of columns, by partition or one by one, and the errors that concern a record.

May import `kafka.consumer.buffer`; iteration also `kafka.consumer.core`.
"""
