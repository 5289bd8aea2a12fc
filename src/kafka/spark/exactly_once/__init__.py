"""The sink that delivers exactly once: Kafka's transactions, and a record of what the driver has decided.

Each task writes in a transaction of its own and leaves it open. The driver then writes down, in one transaction that
fences every other driver, that the batch is done and which transactions belong to it: that is the commit point. Only
then it commits them, by their identities, from its own process; whoever comes after a crash does the same again. So a
batch may be replayed with its rows split over the tasks in any way.

`decision` is the record, `judgement` says what a write finds in it, `names` are the transactional ids; all are pure.
`driver` has the driver's steps, `leftovers` ends what earlier attempts have left open, and `task` has a task's steps.
`prefix_access` are the requests of a prefix, `orphans` is `kafka.spark.transactions`. `writers` puts it together for
Spark.
"""
