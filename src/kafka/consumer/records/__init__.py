"""The results for the caller: records built from columns, by partition or one by one, and deserialization errors.

May import `kafka.consumer.buffer`.
"""
