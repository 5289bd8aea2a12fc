"""Shows how far streaming queries are.

`progress` reads Spark's progress reports, `query_monitor` is `kafka.spark.watch`, which keeps them and writes them to
files (`prometheus_text`), `progress_plot` draws them. `group_commits` commits the offsets of finished micro-batches to
a consumer group (`commitGroup`), for tools that monitor lag.
"""
