"""Plans reads: which offsets a batch or a micro-batch covers, and which tasks read them.

`batch_plan` and `stream_plan` are the planners. They use neither PySpark nor a client: they query an `OffsetLookup`
(`lookup`), which is implemented by `cluster_lookup` outside of tests. `checkpoint_layout` defines how offsets and other
data are stored in Spark's checkpoint. `ranges` divides offsets among tasks, and `log_sizes` estimates the sizes of
these ranges. `data_loss` implements the option `failOnDataLoss`.
"""
