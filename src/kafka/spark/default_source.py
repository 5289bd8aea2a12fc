"""What the class that Spark finds (`pyspark_kafka_columnar.DefaultSource`) does before a reader or writer is made."""

from collections.abc import Mapping

from kafka.spark.failures import told_plainly
from kafka.spark.gc_freeze import begin_call
from kafka.spark.options import check_names, check_read, read_columns
from kafka.spark.requirements import check_pyspark
from kafka.spark.schema import ddl


@told_plainly
def begin(options: Mapping[str, str]) -> None:
    """Raise `SparkRequirementError` where something is missing, `KafkaConfigurationError` for an unknown option."""
    check_pyspark()
    begin_call()
    check_names(options)


@told_plainly
def schema(options: Mapping[str, str]) -> str:
    """The columns of a read without a user schema; raises `KafkaConfigurationError` if no read can be so."""
    check_read(options)
    return ddl(read_columns(options))
