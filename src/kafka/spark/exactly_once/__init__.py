"""The sink with exactly-once delivery: Kafka's transactions, and a record of what the driver has decided.

Each task writes in its own transaction and leaves it open. The driver then records, in one transaction that fences
every other driver, that the batch is finished and which transactions belong to it: that is the commit point. Only then
does it commit them, by their identities, from its own process; a driver that is restarted after a crash does the same
again. So a batch can be replayed with its rows split among the tasks in any way.

`decision` is that record, with the names that belong to a prefix; `replay_check` compares a write with it. Both are
pure. `driver` has the driver's steps, `recovery` ends what earlier attempts have left open, and `task` has a task's
steps and the writer that Spark calls. `prefix_access` sends the requests for one prefix, and `open_transactions` is
`kafka.spark.transactions`.
"""
