"""Plans a batch read: its offsets and its tasks. Pure, except for the given lookup."""

from kafka.spark.options.parsing import ReadOptions
from kafka.spark.planning.data_loss import DataLoss
from kafka.spark.planning.log_sizes import find_sizes
from kafka.spark.planning.lookup import OffsetLookup, check_order, find_partitions, resolve_end, resolve_start
from kafka.spark.planning.ranges import Task, plan_tasks, ranges_between
from kafka.structs import TopicPartition


def plan_batch(options: ReadOptions, lookup: OffsetLookup) -> list[Task]:
    """Return the tasks of a batch read.

    Raises `MissingTopicError` if a topic does not exist, `DataLossError` for missing data if `failOnDataLoss` is true,
    `KafkaConfigurationError` if the options do not fit the topics, and `KafkaError` if the cluster does not respond.
    """
    loss = DataLoss(options.fail_on_data_loss)
    partitions = find_partitions(options, lookup)
    at_end: set[TopicPartition] = set()
    start = resolve_start(options, lookup, partitions, loss, at_end)
    end = resolve_end(options, lookup, set(start), loss)
    check_order(options, lookup, start, end, at_end, loss)
    ranges = ranges_between(start, end)
    return plan_tasks(ranges, options.min_partitions, options.max_records, find_sizes(ranges, lookup))
