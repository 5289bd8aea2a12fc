"""One connection to one broker, without a client: requests go out, answers are looked for by hand.

    python one_connection.py localhost:9092 shop
"""

import socket
import sys
import time

from kafka import BrokerConnection
from kafka.conn import ConnectionStates
from kafka.protocol.admin import ApiVersionRequest_v0, CreateTopicsRequest_v0, DeleteTopicsRequest_v0
from kafka.protocol.metadata import MetadataRequest
from kafka.protocol.offset import OffsetRequest_v1


def connected(host, port):
    connection = BrokerConnection(host, port, socket.AF_INET, request_timeout_ms=10000, client_id="probe")
    end = time.time() + 10
    while time.time() < end:
        if connection.connect() == ConnectionStates.CONNECTED:
            return connection
        time.sleep(0.02)
    raise SystemExit("no connection")


def ask(connection, request):
    future = connection.send(request)
    end = time.time() + 10
    while not future.is_done and time.time() < end:
        for response, waiting in connection.recv():
            waiting.success(response)
        time.sleep(0.01)
    if future.failed():
        raise future.exception
    return future.value


def main(servers, prefix):
    host, port = servers.split(",")[0].rsplit(":", 1)
    topic = prefix + "-probe"
    connection = connected(host, int(port))
    print("connected:", connection.connected(), connection.disconnected())

    versions = ask(connection, ApiVersionRequest_v0())
    offered = {key: (least, most) for key, least, most in versions.api_versions}
    print("versions:", versions.error_code, 3 in offered, 18 in offered)

    created = ask(connection, CreateTopicsRequest_v0([(topic, 2, 1, [], [("retention.ms", "1000000")])], 5000))
    print("created:", created.topic_errors == [(topic, 0)])
    while True:
        answer = ask(connection, MetadataRequest[1]([topic]))
        error, name, internal, partitions = answer.topics[0]
        if error == 0 and len(partitions) == 2 and all(partition[0] == 0 for partition in partitions):
            break
    print("brokers:", len(answer.brokers), "controller:", answer.controller_id == answer.brokers[0][0])
    print("topic:", error, name == topic, internal)
    for error, partition, leader, replicas, insync in sorted(partitions):
        print("partition:", error, partition, leader == answer.controller_id, len(replicas), len(insync))

    while True:
        ((name, answers),) = ask(connection, OffsetRequest_v1(-1, [(topic, [(0, -1), (1, -2)])])).topics
        if all(each[1] == 0 for each in answers):
            break
    print("offsets:", name == topic, sorted(answers) == [(0, 0, -1, 0), (1, 0, -1, 0)])
    deleted = ask(connection, DeleteTopicsRequest_v0([topic], 5000))
    print("deleted:", [name == topic for name, _ in deleted.topic_error_codes])
    print("waiting:", connection.in_flight_requests)
    connection.close()
    print("closed:", connection.disconnected())


if __name__ == "__main__":
    main(*sys.argv[1:3])
