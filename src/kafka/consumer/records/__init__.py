"""What a caller gets: records made of columns, grouped by partition or one by one, and the errors about a record.

May import `kafka.consumer.handover`; iteration also `kafka.consumer.core`.
"""
