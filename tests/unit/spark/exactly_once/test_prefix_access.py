"""The decision of a prefix is read completely or not at all."""

import contextlib
import dataclasses

import pytest

from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic
from kafka.admin.transactions import TransactionDescription, TransactionState
from kafka.broker import EmbeddedBroker
from kafka.cluster import Backoff
from kafka.errors import (
    GroupAuthorizationFailedError,
    InvalidProducerEpochError,
    ProducerFencedError,
    TransactionalIdNotFoundError,
)
from kafka.producer.transactions import TransactionIdentity
from kafka.spark import transactions
from kafka.spark.exactly_once import prefix_access
from kafka.spark.exactly_once.decision import (
    Decision,
    IncompleteError,
    Written,
    decision_group,
    from_parts,
    task_id,
    to_parts,
)
from kafka.spark.exactly_once.prefix_access import LastDriver, PrefixAccess
from kafka.spark.exactly_once.replay_check import ExactlyOnceError
from kafka.spark.planning.lookup import MissingTopicError
from kafka.structs import OffsetAndMetadata, TopicPartition

pytestmark = pytest.mark.once
WHERE = TopicPartition("out", 0)


def decision(batch: int, checkpoint: str = "/checkpoint") -> Decision:
    slots = [
        Written(TransactionIdentity(task_id("p", f"0123456789.{number}"), 1000 + batch, number, 2), {"out": (0, 1)})
        for number in range(300)
    ]
    return Decision("query", "run", batch, checkpoint, 7, tuple(slots))


class ScriptedOffsets(PrefixAccess):
    """Offsets with parts of one decision or another at first, and of the newer one once they are stable."""

    def __init__(self, *shown: Decision, stable: Decision | None) -> None:
        self.prefix = "p"
        self._shown = shown
        self._stable = stable
        self.asked: list[bool] = []

    async def _offsets(self, group: str, stable: bool) -> dict[TopicPartition, OffsetAndMetadata]:
        self.asked.append(stable)
        part = next(number for number in range(9) if decision_group("p", number) == group)
        shown = self._stable if stable else self._shown[min(part, len(self._shown) - 1)]
        if shown is None:
            shown, part = self._shown[0], part if part == 0 else 99
        texts = to_parts(shown, "p")
        return {WHERE: OffsetAndMetadata(shown.batch, texts[part], -1)} if part < len(texts) else {}


@pytest.mark.parametrize(
    ("first", "others"),
    [
        (decision(8), decision(7)),
        (decision(8), decision(8, "/the same checkpoint under another name")),  # replayed from there
        (decision(8), dataclasses.replace(decision(8), written=decision(8).written[:5])),
    ],
    ids=["of the batch before", "of another run", "not there yet"],
)
async def test_parts_of_two_decisions_are_not_combined(first, others):
    access = ScriptedOffsets(first, others, stable=first)
    assert len(to_parts(first, "p")) > 2
    assert await access.read(stable=False) == (first, WHERE)
    assert True in access.asked


async def test_parts_that_belong_together_are_read_once():
    access = ScriptedOffsets(decision(8), stable=None)
    assert await access.read(stable=False) == (decision(8), WHERE)
    assert access.asked == [False] * len(to_parts(decision(8), "p"))


async def test_missing_parts_are_reported_with_advice():
    access = ScriptedOffsets(decision(8), decision(7), stable=None)
    with pytest.raises(
        ExactlyOnceError,
        match=r"cannot read the last decision under .*'p': only 1 of its \d parts exist .*delete these",
    ):
        await access.read(stable=False)


def test_parts_with_different_counts_are_rejected():
    long, longer = to_parts(decision(8), "p"), to_parts(decision(8, "/" + "x" * 3_500), "p")
    assert len(long) < len(longer)
    with pytest.raises(IncompleteError, match="parts contain different counts"):
        from_parts([longer[0], *long[1:], *longer[len(long) :]], "p")


def test_servers_may_be_a_list():
    with EmbeddedBroker() as broker:
        for _ in range(2):
            found = transactions("p", bootstrap_servers=[broker.bootstrap_servers])
            assert (found.decided, found.open) == (None, ())
            found.abort()


def test_the_second_of_two_first_drivers_is_fenced():
    async def fence_in_turn(access: PrefixAccess) -> list[int]:
        nobody = (await access.last_driver()).identity
        first = await access.fence(60_000, nobody)
        with pytest.raises(ProducerFencedError):
            await access.fence(60_000, nobody)
        second = (await access.last_driver()).identity
        third = await access.fence(60_000, second)
        with pytest.raises((ProducerFencedError, InvalidProducerEpochError)):
            await access.fence(60_000, first)
        return [each.producer_epoch for each in (nobody, first, second, third)]

    with EmbeddedBroker() as broker:
        configs = (("bootstrap_servers", broker.bootstrap_servers),)
        assert prefix_access.ask_brokers(configs, "p", fence_in_turn) == [-1, 0, 1, 2]


def test_a_write_is_decided_once_its_decision_is_stored():
    """Nothing ends the driver's transaction later, so a decision that is only written would be aborted with it."""

    async def decide(access: PrefixAccess) -> tuple[Decision | None, LastDriver]:
        driver = await access.fence(60_000)
        await access.decide(driver, decision(7), WHERE, None)
        last = await access.last_driver()
        found, _ = await access.read(stable=True)
        return found, last

    with EmbeddedBroker() as broker, KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic(WHERE.topic, 1, 1)])
        configs = (("bootstrap_servers", broker.bootstrap_servers),)
        found, last = prefix_access.ask_brokers(configs, "p", decide)
    assert found == decision(7)
    assert last.has_decided


def test_only_transactions_of_tasks_of_the_prefix_are_open_ones():
    """The driver aborts all of these, so they must not include another program's transactions."""
    ours = task_id("p", "0123456789.0")
    others = ["p-driver", "p-other", task_id("p2", "0123456789.0"), f"x-{ours}", f"{ours}-x"]

    with EmbeddedBroker() as broker, contextlib.ExitStack() as stack:
        for name in (ours, *others):
            producer = stack.enter_context(
                KafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id=name)
            )
            producer.init_transactions()
            producer.begin_transaction()
            stack.callback(producer.abort_transaction)
            producer.send("out", b"").get(30)
        configs = (("bootstrap_servers", broker.bootstrap_servers),)
        assert prefix_access.ask_brokers(configs, "p", lambda access: access.open_ids()) == [ours]


async def test_checking_a_batch_write_waits_for_a_pending_decision():
    asked = []

    class Marks(ScriptedOffsets):
        async def _offsets(self, group: str, stable: bool) -> dict[TopicPartition, OffsetAndMetadata]:
            asked.append((group, stable))
            return {}

    assert not await Marks(stable=None).is_marked("x")
    assert asked == [("p-batch-x", True)]


@pytest.mark.parametrize(("noted", "finished"), [(None, False), ("", False), ("decided", False), ("committed", True)])
async def test_a_batch_write_counts_as_committed_once_that_is_recorded(noted, finished):
    asked = []

    class Marks(ScriptedOffsets):
        async def _offsets(self, group: str, stable: bool) -> dict[TopicPartition, OffsetAndMetadata]:
            asked.append((group, stable))
            return {} if noted is None else {WHERE: OffsetAndMetadata(0, noted, -1)}

    assert await Marks(stable=None).is_finished("x") is finished
    assert asked == [("p-batch-x", True)]


async def test_a_batch_write_does_not_fail_if_its_commit_cannot_be_recorded(monkeypatch):
    async def refuse(*_: object) -> None:
        raise GroupAuthorizationFailedError("no")

    monkeypatch.setattr(prefix_access, "alter_group_offsets", refuse)
    access = ScriptedOffsets(stable=None)
    access._requests = None
    await access.note_finished("x", WHERE, 0)


@pytest.mark.parametrize(
    ("states", "decided"),
    [
        (["CompleteCommit"], True),
        (["PrepareCommit", "PrepareCommit", "CompleteCommit"], True),
        (["Ongoing"], False),
        (["CompleteAbort"], False),
        ([None], False),
    ],
)
async def test_a_decision_is_awaited_until_it_is_completely_visible(states, decided):
    class Described(ScriptedOffsets):
        async def describe(self, transactional_ids):
            state = states.pop(0)
            if state is None:
                return {name: TransactionalIdNotFoundError() for name in transactional_ids}
            described = TransactionDescription(1, TransactionState(state), 1, 1, 60_000, 0, set())
            return dict.fromkeys(transactional_ids, described)

    access = Described(stable=None)
    access._backoff = Backoff(1, 1)
    known = states[-1] is not None
    last = await access.last_driver()
    assert last.has_decided is decided
    assert last.identity == ("p-driver", 1 if known else -1, 1 if known else -1, 0)
    assert states == []


class Admin:
    """A fake admin client."""

    def __init__(self, **configs: object) -> None:
        self.configs = configs
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_connections_are_kept_for_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka.KafkaAdminClient", Admin)
    clients = prefix_access._Clients()
    keys = [(("bootstrap_servers", f"localhost:{port}"),) for port in range(prefix_access._MOST_CLUSTERS + 1)]
    made = [clients.take(key) for key in keys]
    for key, client in zip(keys, made, strict=True):
        clients.give_back(key, client)
    assert [client.is_closed for client in made] == [True] + [False] * prefix_access._MOST_CLUSTERS
    assert clients.take(keys[1]) is made[1]
    another = clients.take(keys[1])  # while the first one is in use
    assert another is not made[1]
    for client in (made[1], another):
        clients.give_back(keys[1], client)
    assert (made[1].is_closed, another.is_closed) == (True, False)
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert clients.take(keys[1]) is not another  # a fork has its own client


def test_kept_connections_are_closed_when_the_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka.KafkaAdminClient", Admin)
    clients = prefix_access._Clients()
    key = (("bootstrap_servers", "localhost:1"),)
    client = clients.take(key)
    clients.give_back(key, client)
    with monkeypatch.context() as forked:
        forked.setattr("os.getpid", lambda: -1)
        clients.close()
    assert not client.is_closed  # it belongs to the parent
    clients.close()
    assert client.is_closed
    assert clients.take(key) is not client


def test_clients_whose_options_cannot_be_compared_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka.KafkaAdminClient", Admin)
    clients = prefix_access._Clients()
    key = (("bootstrap_servers", ["localhost:1"]),)
    client = clients.take(key)
    clients.give_back(key, client)
    assert client.is_closed


@pytest.mark.parametrize("created", [True, False])
def test_a_topic_is_created_for_a_decision_if_brokers_create_topics(
    created: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prefix_access, "_CREATION_MS", 60_000 if created else 300)
    where = TopicPartition("new", 0)
    with EmbeddedBroker(auto_create_topics=created) as broker:
        configs = (("bootstrap_servers", broker.bootstrap_servers),)
        if created:
            prefix_access.ask_brokers(configs, "p", lambda access: access.await_topic(where))
        else:
            with pytest.raises(MissingTopicError, match=r"topic 'new', under which .* create it first"):
                prefix_access.ask_brokers(configs, "p", lambda access: access.await_topic(where))
        with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            assert ("new" in admin.list_topics()) is created
