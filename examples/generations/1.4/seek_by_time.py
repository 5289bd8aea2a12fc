"""A replay from a point in time: where does each partition stand then, and what came since?

    python seek_by_time.py localhost:9092 shop
"""

import sys
from datetime import datetime, timedelta

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import UnsupportedVersionError

EPOCH = datetime(1970, 1, 1)
START = datetime(2018, 6, 1, 12, 0)


def in_ms(moment):
    return int((moment - EPOCH).total_seconds() * 1000)


def main(servers, prefix):
    topic = prefix + "-measurements"
    producer = KafkaProducer(bootstrap_servers=servers, key_serializer=str.encode, value_serializer=str.encode)
    for minute in range(0, 60, 10):
        at = START + timedelta(minutes=minute)
        sent = producer.send(topic, key="sensor", value=at.strftime("%H:%M"), timestamp_ms=in_ms(at)).get(timeout=10)
    print("last:", sent.partition, sent.offset, sent.timestamp - in_ms(START))
    producer.close()

    consumer = KafkaConsumer(
        bootstrap_servers=servers,
        group_id=None,
        key_deserializer=bytes.decode,
        value_deserializer=bytes.decode,
        consumer_timeout_ms=2000,
    )
    print("partitions:", consumer.partitions_for_topic(topic))
    tp = TopicPartition(topic, 0)
    consumer.assign([tp])
    print("first offset:", consumer.beginning_offsets([tp]) == {tp: 0})
    print("end offset:", consumer.end_offsets([tp])[tp])

    since = START + timedelta(minutes=25)
    found = consumer.offsets_for_times({tp: in_ms(since)})[tp]
    print("from 12:25:", found.offset, found.timestamp - in_ms(START), tuple(found)[0])
    consumer.seek(tp, found.offset)
    for record in consumer:
        print("replay", record.offset, record.key, record.value, record.timestamp_type)
    print("position:", consumer.position(tp))

    print("after the end:", consumer.offsets_for_times({tp: in_ms(START + timedelta(days=1))})[tp])
    consumer.seek_to_beginning(tp)
    print("at the beginning:", consumer.position(tp), next(consumer).value)
    consumer.seek_to_end()
    print("at the end:", consumer.position(tp))
    consumer.seek(tp, 4)
    print("next:", next(consumer).value)
    print("highwater:", consumer.highwater(tp))
    for attempt in (lambda: consumer.offsets_for_times({tp: -7}), lambda: consumer.seek(tp, -1)):
        try:
            attempt()
        except (ValueError, AssertionError, UnsupportedVersionError) as error:
            print("refused:", isinstance(error, (ValueError, AssertionError)))
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
