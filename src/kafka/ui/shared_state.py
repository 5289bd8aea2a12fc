"""The settings of the UI, and the state that all requests share, such as clients, searches and the schema registry."""

import asyncio
import contextlib
import dataclasses
import pathlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from kafka.admin import AsyncKafkaAdminClient
from kafka.errors import KafkaError, NoBrokersAvailable, error_text
from kafka.ui.access.audit_log import AuditLog
from kafka.ui.access.settings import Access, AccessSettings
from kafka.ui.access.user import current_user
from kafka.ui.cluster_state import complete, look
from kafka.ui.group_members import MemberCounts
from kafka.ui.guard import Forms
from kafka.ui.lag_times import LagTimes
from kafka.ui.page_registry import PageRegistry
from kafka.ui.pipeline_dead_letters import DeadLetterReader
from kafka.ui.pipeline_logs import PipelineLogs, PipelineState
from kafka.ui.poller import ClusterPoller
from kafka.ui.search import Searches
from kafka.ui.spark_log import Batch, SparkLog
from kafka.ui.submissions import Submissions
from kafka.ui.tail_reader import Tails


@dataclasses.dataclass(frozen=True, slots=True)
class UiSettings:
    """The settings of the UI.

    Arguments:
        admin: keyword arguments of `AsyncKafkaAdminClient`.
        consumer: keyword arguments of the consumers that read messages.
        parse_position: parses a position in a log: an offset, "earliest", "latest", a `datetime`, or a `timedelta`
            before now. Raises `ValueError`.
        registry: options of `SchemaRegistryClient`; None if there is no schema registry.
        spark: a file that `kafka.spark.watch` writes as ``json_lines``.
        pipelines: directories with pipelines; see `PipelineLogs`.
        profile: the name under which the cluster is shown, usually that of a profile; "" for its id.
        allow_writes: whether operators may produce messages, change topics, and reset and delete groups.
        producer: keyword arguments of the producer that writes messages.
        access: logins, sessions and the audit log.
        names: host names that browsers may use for the UI, in addition to IP addresses and "localhost".
        interval_s: polling interval while there are viewers, in seconds.
        patience_s: how long a page waits for the cluster before it is shown with what is known, in seconds.
        search_s: timeout of a search, in seconds.
        search_records: maximum number of records that a search scans.
        searches: maximum number of concurrent searches.
        tails: maximum number of concurrent live tails.
        tail_s: duration after which a live tail ends, in seconds.
    """

    admin: Mapping[str, Any] = dataclasses.field(repr=False)
    consumer: Mapping[str, Any] = dataclasses.field(repr=False)
    parse_position: Callable[[str], Any]
    registry: Mapping[str, Any] | None = dataclasses.field(default=None, repr=False)
    spark: pathlib.Path | None = None
    pipelines: tuple[pathlib.Path, ...] = ()
    profile: str = ""
    allow_writes: bool = False
    producer: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    access: AccessSettings = dataclasses.field(default_factory=AccessSettings)
    names: tuple[str, ...] = ()
    interval_s: float = 5.0
    patience_s: float = 0.15
    search_s: float = 10.0
    search_records: int = 200_000
    searches: int = 4
    tails: int = 8
    tail_s: float = 3600.0


class Entrance:
    """What all clusters of a server share: logins, the tokens of forms, and the audit log.

    Raises `OSError` if the audit log cannot be opened.
    """

    def __init__(self, settings: AccessSettings) -> None:
        self.access = Access(settings) if settings.has_login else None
        self.forms = Forms()
        self.audit = AuditLog(settings.audit_log)


class Ui:
    """The shared state of the UI of a cluster.

    Arguments:
        peers: the profiles of all clusters that the server shows, if there are several.
        entrance: the logins of the server; None for new ones.
    """

    def __init__(
        self,
        settings: UiSettings,
        admin: AsyncKafkaAdminClient,
        peers: Sequence[str] = (),
        entrance: Entrance | None = None,
    ) -> None:
        self.settings = settings
        self.peers = peers
        self.admin = admin
        self.poller = ClusterPoller(
            lambda time, need: look(admin, time, need),
            lambda now, need, time: complete(admin, now, need, time),
            settings.interval_s,
            settings.patience_s,
        )
        self.searches = Searches(settings.consumer, settings.searches, settings.search_s, settings.search_records)
        self.tails = Tails(settings.consumer, settings.tails, settings.tail_s)
        self.spark = SparkLog(settings.spark) if settings.spark is not None else None
        self.registry = PageRegistry(settings.registry) if settings.registry is not None else None
        self.pipelines = PipelineLogs(settings.pipelines) if settings.pipelines else None
        self.dead_letters = DeadLetterReader(self.searches)
        self.member_counts = MemberCounts(admin, settings.patience_s)
        self.lag_times = LagTimes(admin, settings.consumer)
        self.entrance = entrance or Entrance(settings.access)
        self.forms = self.entrance.forms
        self.submissions = Submissions()
        self._reading = asyncio.Lock()

    @property
    def may_write(self) -> bool:
        """Whether the current user may change the cluster."""
        return self.settings.allow_writes and current_user().role.writes

    def record(self, action: str, what: Mapping[str, Any], result: str, error: str = "") -> None:
        """Add a line to the audit log; see `AuditLog.add`. With several clusters, it names this one."""
        cluster = {"cluster": self.settings.profile} if len(self.peers) > 1 else {}
        self.entrance.audit.add(action, {**cluster, **what}, result, error)

    async def read_spark(self) -> dict[str, list[Batch]]:
        """Return the batches in Spark's file, by query. Raises `OSError`."""
        if self.spark is None:
            return {}
        async with self._reading:  # otherwise every viewer would block a thread
            return await asyncio.to_thread(self.spark.read)

    async def read_pipelines(self) -> tuple[dict[str, PipelineState], list[str]]:
        """Return the state of each pipeline, and a message for each directory that cannot be read."""
        if self.pipelines is None:
            return {}, []
        async with self._reading:
            return await asyncio.to_thread(self.pipelines.read)


@contextlib.asynccontextmanager
async def connected(
    settings: UiSettings,
    peers: Sequence[str] = (),
    entrance: Entrance | None = None,
    unreachable: Callable[[UiSettings, KafkaError], object] | None = None,
) -> AsyncIterator[Ui]:
    """Open the UI's clients for the duration of the block.

    Arguments:
        peers, entrance: see `Ui`.
        unreachable: called if the cluster does not answer; the UI then shows this, and connects in the background.
            None: raise the errors of `AsyncKafkaAdminClient.start`. An error other than `NoBrokersAvailable`, such as
            a wrong password, is also raised if the UI shows no other cluster.
    """
    async with contextlib.AsyncExitStack() as stack:
        admin, trouble = AsyncKafkaAdminClient(**settings.admin), ""
        try:
            await admin.start()
        except KafkaError as error:
            if unreachable is None or not (len(peers) > 1 or isinstance(error, NoBrokersAvailable)):
                raise
            unreachable(settings, error)
            admin, trouble = AsyncKafkaAdminClient(**settings.admin), error_text(error)
            await admin.start(in_background=True)
        stack.push_async_callback(admin.close)
        ui = Ui(settings, admin, peers, entrance)
        if trouble:
            ui.poller.begin_unreachable(trouble)
        try:
            yield ui
        finally:
            await ui.poller.close()
            await ui.member_counts.close()
            if ui.registry is not None:
                ui.registry.close()
