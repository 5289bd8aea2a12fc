"""The share groups of a simulation: their members, which read what others produce, and what they have to show."""

import asyncio
import random
from collections.abc import Mapping
from typing import Any

from kafka.admin import AsyncKafkaAdminClient, ConfigResource
from kafka.structs import TopicPartition
from kafka.testing.ledger import Ledger
from kafka.testing.plan import ShareMemberPlan
from kafka.testing.share_actor import ShareActor
from kafka.testing.share_ledger import ShareLedger
from kafka.testing.story import Story

GROUPS = "share-group-"
"""How share groups are called."""
PATIENCE_S = 300.0
"""How much virtual time they get to be done with everything once nothing is wrong any more."""
_LOCK_S = 15.0
_SURE_OF_LOCK_S = 10.0
"""How much of a lock is left at least when its record is handed out, while nothing is wrong."""
_LIMIT = 10
"""So many deliveries that trouble alone, such as answers that are lost, does not use them up."""
_CONFIGS = {
    "share.auto.offset.reset": "earliest",
    "share.record.lock.duration.ms": str(int(_LOCK_S * 1000)),
    "share.delivery.count.limit": str(_LIMIT),
}


class ShareTrial:
    """See the module.

    Arguments:
        plans: of the members of each group.
        bootstrap_servers: where the cluster is.
        topics: what they read.
        rng: of all that happens.
        ledger: of the simulation, where problems go.
        story: takes down what happens.
    """

    def __init__(
        self,
        plans: list[list[ShareMemberPlan]],
        bootstrap_servers: str,
        topics: list[str],
        rng: random.Random,
        ledger: Ledger,
        story: Story,
    ) -> None:
        self._groups = [f"{GROUPS}{number}" for number in range(len(plans))]
        self._ledger = ShareLedger(ledger.found, ledger.is_calm, _now, _SURE_OF_LOCK_S, _LIMIT)
        self._options: dict[str, Any] = {"bootstrap_servers": bootstrap_servers, "client_id": "share-admin"}
        self._story = story
        self._actors = [
            ShareActor(
                f"sharer-{group}-{number}",
                f"{GROUPS}{group}",
                plan,
                bootstrap_servers,
                topics,
                random.Random(rng.getrandbits(64)),
                self._ledger,
                story,
            )
            for group, members in enumerate(plans)
            for number, plan in enumerate(members)
        ]
        self._reading: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Configure the groups, and have their members read."""
        if not self._actors:
            return
        async with AsyncKafkaAdminClient(**self._options) as admin:
            await admin.alter_configs([ConfigResource("group", group, _CONFIGS) for group in self._groups])
        self._reading = [asyncio.ensure_future(actor.run()) for actor in self._actors]

    async def check(self, logs: Mapping[TopicPartition, list[str]]) -> None:
        """Once nothing is wrong any more, wait until all is done with, and look at what there is.

        Arguments:
            logs: the names of the records of each partition, from offset 0 on.
        """
        if not self._actors:
            return
        for actor in self._actors:
            actor.finish()
        end = _now() + PATIENCE_S
        async with AsyncKafkaAdminClient(**self._options) as admin:
            starts = await self._starts(admin)
            while _now() < end and not _is_done(logs, starts):
                await asyncio.sleep(1.0)
                starts = await self._starts(admin)
        for actor in self._actors:
            actor.stop()
        await asyncio.gather(*self._reading)
        self._ledger.check(logs, starts)
        given = {group: len(self._ledger.given[group]) for group in self._groups}
        self._story.tell("share groups", f"given {given}, {len(self._ledger.done)} done with")

    async def _starts(self, admin: AsyncKafkaAdminClient) -> dict[str, dict[TopicPartition, int]]:
        """Where each group goes on in each partition, as administrators see it."""
        found = await admin.list_share_group_offsets(self._groups)
        return {
            group: {tp: each.start_offset for tp, each in partitions.items()} for group, partitions in found.items()
        }


def _is_done(logs: Mapping[TopicPartition, list[str]], starts: Mapping[str, Mapping[TopicPartition, int]]) -> bool:
    return all(start.get(tp, 0) >= len(log) for start in starts.values() for tp, log in logs.items())


def _now() -> float:
    return asyncio.get_running_loop().time()
