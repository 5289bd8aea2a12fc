"""Plans reads: which offsets a batch or a micro-batch covers, and which tasks read them.

`batch_plan` and `stream_plan` are the planners. They know neither PySpark nor a client: they ask an `OffsetLookup`
(`lookup`), which is `cluster_lookup` outside of tests. `checkpoint` is the layout of offsets in Spark's checkpoint,
`first_batch` and `backlog` say what else it has to keep; `ranges` divides offsets among tasks, `log_sizes` says how
large they are; `data_loss` is the option `failOnDataLoss`.
"""
