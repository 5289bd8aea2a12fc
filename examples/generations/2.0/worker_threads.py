"""A pool of threads, each with a consumer of the same group, and one that dispatches; all end in order when told to.

    python worker_threads.py localhost:9092 shop
"""

import json
import queue
import sys
import threading
import time

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic


class Worker(threading.Thread):
    def __init__(self, servers, topic, group, results):
        super().__init__()
        self.results = results
        self.stop_event = threading.Event()
        self.consumer = KafkaConsumer(
            topic,
            bootstrap_servers=servers,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=True,
            auto_commit_interval_ms=200,
            consumer_timeout_ms=200,
            value_deserializer=lambda data: json.loads(data.decode()),
            heartbeat_interval_ms=200,
            session_timeout_ms=6000,
        )

    def run(self):
        while not self.stop_event.is_set():
            for message in self.consumer:
                self.results.put((message.value["number"], message.partition))
                if self.stop_event.is_set():
                    break
        self.consumer.close()

    def stop(self):
        self.stop_event.set()


def main(servers, prefix):
    topic, group = prefix + "-work", prefix + "-workers"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(topic, 4, 1)])
    results = queue.Queue()
    workers = [Worker(servers, topic, group, results) for _ in range(3)]
    for worker in workers:
        worker.start()
    end = time.time() + 40
    while sorted(len(worker.consumer.assignment()) for worker in workers) != [1, 1, 2]:
        assert time.time() < end
        time.sleep(0.1)
    print("shared: 1, 1, 2")

    producer = KafkaProducer(bootstrap_servers=servers, value_serializer=lambda value: json.dumps(value).encode())
    threads = [
        threading.Thread(
            target=lambda start: [producer.send(topic, {"number": n}, partition=n % 4) for n in range(start, 60, 3)],
            args=(start,),
        )
        for start in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    producer.flush()
    got = [results.get(timeout=20) for _ in range(60)]
    print("each once:", sorted(number for number, _ in got) == list(range(60)))
    print("where they belong:", all(number % 4 == partition for number, partition in got))

    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.join(20)
    print("ended:", [worker.is_alive() for worker in workers], results.empty())
    offsets = admin.list_consumer_group_offsets(group)
    print("committed:", sorted((tp.partition, value.offset) for tp, value in offsets.items()))
    producer.close()
    admin.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
