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
def schema(options: Mapping[str, str]) -> tuple[str, str | None]:
    """The columns of a read without a user schema, and the schemas of typed ones, found now, as text.

    Raises `KafkaConfigurationError` if no read can be so.
    """
    read = check_read(options)
    if not read.typed.fields:
        return ddl(read_columns(options)), None
    from kafka.spark.typed.planned import typed_schema

    return typed_schema(options, read)
