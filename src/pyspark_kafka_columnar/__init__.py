"""Makes the format ``kafka_columnar`` known to Spark.

Spark imports every top-level module named ``pyspark_*`` when a query first uses an unknown format. If one of them
raises, the formats of the others are lost too, so this module imports everything else only when it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import MutableMapping

try:
    from pyspark.sql.datasource import DataSource
except ImportError:  # only PySpark uses this module
    pass
else:

    class DefaultSource(DataSource):  # type: ignore[misc]  # PySpark's classes are untyped here
        """The Kafka source and sink of `kafka.spark`, batch and streaming, for Spark's Python Data Source API."""

        def __init__(self, options: MutableMapping[str, str]) -> None:
            from kafka.spark import default_source

            super().__init__(options)
            default_source.begin(self.options)
            self._schemas: str | None = None

        @classmethod
        def name(cls) -> str:
            """The name of the format; Spark reserves "kafka" for its own connector."""
            return "kafka_columnar"

        def schema(self) -> str:
            """The columns of a read without a user schema."""
            from kafka.spark import default_source

            columns, self._schemas = default_source.schema(self.options)  # kept in Spark's copies for other processes
            return columns

        def reader(self, schema: Any) -> Any:
            """The batch source."""
            from kafka.spark.batch_reader import KafkaBatchReader

            return KafkaBatchReader(self.options, schema, self._schemas)

        def streamReader(self, schema: Any) -> Any:  # noqa: N802  # Spark's name
            """The streaming source."""
            from kafka.spark.stream_reader import KafkaStreamReader

            return KafkaStreamReader(self.options, schema, self._schemas)

        def writer(self, schema: Any, overwrite: bool) -> Any:
            """The batch sink."""
            from kafka.spark.writers import KafkaBatchWriter

            return KafkaBatchWriter(self.options, schema, overwrite)

        def streamWriter(self, schema: Any, overwrite: bool) -> Any:  # noqa: N802  # Spark's name
            """The streaming sink. Output mode complete arrives as ``overwrite``: each result is appended."""
            from kafka.spark.writers import KafkaStreamWriter

            return KafkaStreamWriter(self.options, schema)
