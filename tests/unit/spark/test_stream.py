"""The streaming source as Spark calls it, without a JVM."""

import pickle

import pytest
from pyspark import cloudpickle
from pyspark.sql.types import BinaryType, StructField, StructType

from kafka.errors import KafkaConfigurationError
from kafka.spark.pyspark_versions import ReadAllAvailable, ReadMaxRows
from kafka.spark.stream_reader import KafkaStreamReader

SCHEMA = StructType([StructField("value", BinaryType())])
BASE = {"kafka.bootstrap.servers": "h:1", "subscribe": "t"}


def test_a_wrong_option_is_raised_by_the_first_call_and_all_others():
    reader = KafkaStreamReader({**BASE, "endingoffsets": "latest"}, SCHEMA)
    calls = (
        reader.getDefaultReadLimit,
        reader.prepareForTriggerAvailableNow,
        reader.initialOffset,
        lambda: reader.latestOffset({}, ReadAllAvailable()),
        lambda: reader.partitions({}, {}),
    )
    for call in calls:
        with pytest.raises(KafkaConfigurationError, match="'endingOffsets' cannot be used for a streaming read"):
            call()
    reader.stop()


def test_a_wrong_schema_is_raised_by_the_first_call():
    reader = KafkaStreamReader(BASE, StructType([StructField("valeu", BinaryType())]))
    with pytest.raises(KafkaConfigurationError, match="did you mean 'value'"):
        reader.getDefaultReadLimit()


def test_a_reader_is_pickled_with_its_options():
    copy = pickle.loads(cloudpickle.dumps(KafkaStreamReader({**BASE, "maxoffsetspertrigger": "7"}, SCHEMA)))
    assert copy.getDefaultReadLimit() == ReadMaxRows(7)
    wrong = pickle.loads(cloudpickle.dumps(KafkaStreamReader({**BASE, "minpartitions": "few"}, SCHEMA)))
    with pytest.raises(KafkaConfigurationError, match="'minPartitions' expects"):
        wrong.getDefaultReadLimit()
