"""Monitoring of streaming queries.

`progress_reports` parses Spark's progress reports. `query_monitor` implements `kafka.spark.watch`, which keeps these
reports and writes them to files (`prometheus_text`), and `progress_plot` plots them. `group_commits` commits the
offsets of finished micro-batches to a consumer group (`commitGroup`), for tools that monitor lag.
"""
