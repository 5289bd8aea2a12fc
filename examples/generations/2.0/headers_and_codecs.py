"""Records with headers and times of their own, in each codec, read back with every field that a record has.

    python headers_and_codecs.py localhost:9092 shop
"""

import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

HEADERS = [("trace", b"00-abc"), ("trace", b"00-def"), ("größe", "käse".encode()), ("empty", b"")]
AT = 1577836800000


def main(servers, prefix):
    topic = prefix + "-traced"
    for number, codec in enumerate((None, "gzip", "snappy", "lz4", "zstd")):
        producer = KafkaProducer(bootstrap_servers=servers, compression_type=codec, linger_ms=20, batch_size=65536)
        futures = [
            producer.send(
                topic,
                value="{} {}".format(codec, part).encode() * 50,
                key=b"k%d" % part if part else None,
                headers=HEADERS[: number + part],
                partition=0,
                timestamp_ms=AT + 1000 * number + part,
            )
            for part in range(2)
        ]
        producer.flush(timeout=20)
        for future in futures:
            metadata = future.get(timeout=1)
            print(
                codec,
                metadata.partition,
                metadata.offset,
                metadata.timestamp - AT,
                metadata.serialized_key_size,
                metadata.serialized_value_size,
                metadata.serialized_header_size,
            )
        producer.close()

    consumer = KafkaConsumer(
        bootstrap_servers=servers, auto_offset_reset="earliest", consumer_timeout_ms=3000, check_crcs=True
    )
    consumer.assign([TopicPartition(topic, 0)])
    for record in consumer:
        print(
            record.offset,
            record.timestamp - AT,
            record.timestamp_type,
            record.key,
            record.value[:8],
            record.serialized_key_size,
            record.serialized_value_size,
            record.serialized_header_size,
            record.checksum,
            [(name, value) for name, value in record.headers],
        )
        if record.offset == 9:
            break
    assert record.topic == topic and record.partition == 0
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
