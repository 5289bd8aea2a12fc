"""A scheduler that shares jobs out among its processes: BaseCoordinator of 1.0 as a base class, without any topic.

Shows the calls that joining a group makes, metadata and assignments of our own, a second member, and leaving.
"""
from __future__ import print_function

import json
import logging
import sys
import threading

from kafka.client_async import KafkaClient
from kafka.coordinator.base import BaseCoordinator

logging.basicConfig(level=logging.CRITICAL)

JOBS = ['backup', 'bills', 'mail', 'report', 'sync']


class Scheduler(BaseCoordinator):
    def __init__(self, client, name, **configs):
        super(Scheduler, self).__init__(client, **configs)
        self.name, self.jobs, self.calls = name, None, []

    def protocol_type(self):
        return 'scheduler'

    def group_protocols(self):
        return [('shares', json.dumps({'name': self.name})), ('spare', b'')]

    def _on_join_prepare(self, generation, member_id):
        self.calls.append('prepare, generation %s, known %s' % (
            'none' if generation == -1 else 'some', bool(member_id)))

    def _perform_assignment(self, leader_id, protocol, members):
        names = sorted((json.loads(metadata.decode('utf-8'))['name'], member_id) for member_id, metadata in members)
        self.calls.append('perform %s for %s, leader is one: %s' % (
            protocol, [str(name) for name, _ in names], leader_id in dict(members)))
        return dict((member_id, json.dumps(JOBS[number::len(names)])) for number, (_, member_id) in enumerate(names))

    def _on_join_complete(self, generation, member_id, protocol, assignment):
        self.jobs = [str(job) for job in json.loads(assignment.decode('utf-8'))]
        self.calls.append('complete, protocol %s, member %s' % (protocol, bool(member_id)))


def scheduler(servers, group, name):
    client = KafkaClient(bootstrap_servers=servers)
    return client, Scheduler(client, name, group_id=group, session_timeout_ms=6000, heartbeat_interval_ms=500)


def main():
    servers, prefix = sys.argv[1:]
    group = prefix + '-schedulers'
    client, first = scheduler(servers, group, 'first')
    print('unknown at first: %s, needs to join: %s' % (first.coordinator_unknown(), first.need_rejoin()))
    first.ensure_coordinator_known()
    print('then: %s' % first.coordinator_unknown())
    first.ensure_active_group()
    print('first has %s' % first.jobs)
    generation = first.generation
    print('a generation: %s, needs to join: %s' % (generation > 0, first.need_rejoin()))

    other_client, second = scheduler(servers, group, 'second')
    joining = threading.Thread(target=second.ensure_active_group)
    joining.start()
    while not first.need_rejoin():
        client.poll(timeout_ms=100)
    first.ensure_active_group()
    joining.join()
    print('first has %s' % first.jobs)
    print('second has %s' % second.jobs)
    print('a later generation: %s, the same: %s' % (
        first.generation > generation, first.generation == second.generation))

    second.close()
    print('second left: %s %s' % (second.generation, second.need_rejoin()))
    while not first.need_rejoin():
        client.poll(timeout_ms=100)
    first.ensure_active_group()
    print('first has %s' % first.jobs)
    for name, member in (('first', first), ('second', second)):
        for call in member.calls:
            print('%s: %s' % (name, call))
    first.close()
    client.close()
    other_client.close()


if __name__ == '__main__':
    main()
