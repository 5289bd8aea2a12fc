"""Transfers the data in Spark's worker processes.

`read_task` and `write_task` implement the steps of a task. `channel` passes Arrow batches between its threads,
`timestamp_checks` checks the timestamps of records, and `planned_rows` reads small micro-batches in the process that
plans them.
"""
