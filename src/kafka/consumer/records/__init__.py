"""The results for the caller: records built from columns, by partition or one by one, and errors about records.

May import `kafka.consumer.buffer`.
"""
