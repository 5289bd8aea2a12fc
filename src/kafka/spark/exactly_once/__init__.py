"""The sink with exactly-once delivery: Kafka's transactions, and a record of the driver's decisions.

Each task writes in its own transaction and leaves it open. The driver then records, in one transaction that fences
every other driver, that the batch is finished and which transactions belong to it. This is the commit point. Only then
does the driver commit them, by their identities, from its own process; a driver that is restarted after a crash does
the same. A batch can therefore be replayed even if its rows are divided among the tasks in a different way.

`decision` defines the record of a decision and the names that belong to a prefix, and `replay_check` compares a write
with the last decision. Both are pure. `driver_steps` has the driver's steps. `task` has a task's steps and the writer
that Spark calls. `prefix_access` sends the requests for one prefix, and `open_transactions` implements
`kafka.spark.transactions`.
"""
