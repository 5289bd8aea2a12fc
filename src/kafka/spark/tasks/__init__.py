"""Moves the data in Spark's worker processes.

`read_task` and `write_task` are the steps of one task. `channel` passes Arrow batches between its threads, `timestamps`
checks the times of records, and `planned_rows` reads small micro-batches in the process that plans them.
"""
