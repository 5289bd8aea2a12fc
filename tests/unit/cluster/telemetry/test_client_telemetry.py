"""When a client asks what is subscribed to, and when it pushes: KIP-714, in the steps of Java's reporter."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest
from opentelemetry.proto.metrics.v1 import metrics_pb2

from fakes.cluster import SILENCE, FakeCluster
from kafka.cluster.telemetry.client_telemetry import LAST_PUSH_S, TRANSITIONS, Telemetry, TelemetryState, check_move
from kafka.cluster.telemetry.collector import Identity
from kafka.config import parse_admin
from kafka.errors import (
    ClusterAuthorizationFailedError,
    IllegalStateError,
    InvalidRequestError,
    KafkaConnectionError,
    KafkaTimeoutError,
    UnsupportedVersionError,
)
from kafka.metrics.client_metrics import ClientMetrics, Metric
from kafka.metrics.kafka_metric import AnonMeasurable, KafkaMetric, MetricConfig, MetricName
from kafka.metrics.stat import Total
from kafka.record.batch_types import Compression
from kafka.record.codecs import decompress
from kafka.wire import NO_UUID
from kafka.wire.api.get_telemetry_subscriptions import GetTelemetrySubscriptionsResponse
from kafka.wire.api.push_telemetry import PushTelemetryResponse
from unit.virtual_loop import simulate

ID = UUID(int=714)
INTERVAL_S = 60.0
GET, PUSH = "GetTelemetrySubscriptions", "PushTelemetry"
TOTAL = "org.apache.kafka.producer.record.send.total"


class SubscribedClient:
    """A client with one metric, connected to one broker of a cluster that subscribes to everything."""

    def __init__(self, brokers: int = 1, **options: Any) -> None:
        self.cluster = FakeCluster(brokers=brokers)
        self.cluster.takes_metrics = True
        self.subscription = {
            "client_instance_id": ID,
            "subscription_id": 5,
            "accepted_compression_types": [4, 1],
            "push_interval_ms": round(INTERVAL_S * 1000),
            "telemetry_max_bytes": 1 << 20,
            "delta_temporality": True,
            "requested_metrics": ["*"],
        }
        self.cluster.serve(GET, lambda _: GetTelemetrySubscriptionsResponse(**self.subscription))
        self.cluster.serve(PUSH, lambda _: PushTelemetryResponse())
        self.sent = 0.0
        connection = parse_admin(options).connection
        loop = asyncio.get_running_loop()
        metrics = ClientMetrics(connection, loop.time)
        metrics.add("producer-metrics", [Metric("record-send-total", "", lambda of, now: of.sent)], self)
        self.submitted: list[Callable[[], object]] = []
        self.telemetry = Telemetry(
            connection, self.cluster, metrics, Identity("producer", "producer"), loop, self.submitted.append
        )

    async def connect(self, node_id: int = 1) -> None:
        await self.cluster.start()
        await self.cluster.connection(node_id)
        self.cluster.connected_brokers = (*self.cluster.connected_brokers, node_id)

    async def start(self) -> None:
        await self.connect()
        self.telemetry.start()

    async def subscribed(self) -> None:
        await self.start()
        await asyncio.sleep(1)
        assert self.telemetry.state is TelemetryState.PUSH_NEEDED

    async def after(self, seconds: float) -> tuple[int, int]:
        """How many requests of each kind there were in the time to come."""
        self.cluster.calls.clear()
        await asyncio.sleep(seconds)
        return len(self.cluster.requests(GET)), len(self.cluster.requests(PUSH))

    def pushed(self) -> list[dict[str, float]]:
        return [read(request) for request in self.cluster.requests(PUSH)]


def read(request: Any) -> dict[str, float]:
    """What a push has in it."""
    data = request.metrics
    if request.compression_type:
        data = bytes(decompress(request.compression_type, memoryview(data)))
    return {
        metric.name: point.as_double
        for resource in metrics_pb2.MetricsData.FromString(data).resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in (*metric.gauge.data_points, *metric.sum.data_points)
    }


def play(scenario: Callable[[SubscribedClient], Awaitable[None]], **options: Any) -> None:
    """Run a scenario on a virtual loop, and close the client."""

    async def run() -> None:
        world = SubscribedClient(**options)
        try:
            await scenario(world)
        finally:
            await world.telemetry.close()
            assert world.telemetry.state is TelemetryState.TERMINATED
            await world.cluster.close()

    simulate(run)


def test_the_subscription_is_requested_immediately_and_names_the_client() -> None:
    async def scenario(world: SubscribedClient) -> None:
        await world.subscribed()
        (request,) = world.cluster.requests(GET)
        assert request.client_instance_id == NO_UUID
        assert world.cluster.times(GET)[0] == pytest.approx(1_000, abs=0.1)
        assert await world.telemetry.client_instance_id(1) == ID

    play(scenario)


def test_the_first_push_is_spread_and_the_next_ones_keep_the_interval() -> None:
    firsts = []

    async def scenario(world: SubscribedClient) -> None:
        await world.start()
        await asyncio.sleep(10 * INTERVAL_S)
        (asked,) = world.cluster.times(GET)
        first, *others = world.cluster.times(PUSH)
        firsts.append((first - asked) / INTERVAL_S)
        assert 0.5 <= firsts[-1] <= 1.51
        gaps = [after - before for before, after in itertools.pairwise((first, *others))]
        assert gaps == [pytest.approx(INTERVAL_S, abs=0.1)] * len(gaps)
        assert len(gaps) in (7, 8, 9)

    for _ in range(8):
        play(scenario)
    assert max(firsts) - min(firsts) > 0.1


def test_a_push_uses_the_subscription_id_and_preferred_codec() -> None:
    async def scenario(world: SubscribedClient) -> None:
        await world.subscribed()
        world.sent = 4.0
        await world.after(2 * INTERVAL_S)
        request = world.cluster.requests(PUSH)[0]
        assert (request.client_instance_id, request.subscription_id) == (ID, 5)
        assert (request.terminating, request.compression_type) == (False, Compression.ZSTD)
        assert read(request) == {TOTAL: 4.0}

    play(scenario)


@pytest.mark.parametrize(("accepted", "used"), [([], 0), ([3, 4], 3), ([2], 2), ([99, 1], 1), ([0], 0)])
def test_unknown_codecs_are_ignored(accepted: list[int], used: int) -> None:
    async def scenario(world: SubscribedClient) -> None:
        world.subscription["accepted_compression_types"] = accepted
        await world.subscribed()
        await world.after(2 * INTERVAL_S)
        assert world.cluster.requests(PUSH)[0].compression_type == used
        assert TOTAL in world.pushed()[0]

    play(scenario)


@pytest.mark.parametrize(("delta", "values"), [(True, [3.0, 2.0]), (False, [3.0, 5.0])])
def test_sums_use_the_requested_temporality(delta: bool, values: list[float]) -> None:
    async def scenario(world: SubscribedClient) -> None:
        world.subscription["delta_temporality"] = delta
        await world.subscribed()
        world.sent = 3.0
        await asyncio.sleep(1.6 * INTERVAL_S)
        world.sent = 5.0
        await asyncio.sleep(INTERVAL_S)
        assert [world.pushed()[number][TOTAL] for number in (0, -1)] == values

    play(scenario)


def test_without_subscribed_metrics_only_the_subscription_is_requested() -> None:
    async def scenario(world: SubscribedClient) -> None:
        world.subscription["requested_metrics"] = []
        await world.start()
        await asyncio.sleep(3.5 * INTERVAL_S)
        assert len(world.cluster.requests(GET)) == 4
        assert {request.client_instance_id for request in world.cluster.requests(GET)[1:]} == {ID}
        assert world.cluster.requests(PUSH) == []
        assert await world.telemetry.client_instance_id(1) == ID
        world.subscription["requested_metrics"] = ["*"]
        await asyncio.sleep(3 * INTERVAL_S)
        assert world.cluster.requests(PUSH)
        world.cluster.calls.clear()

    play(scenario)


def test_an_interval_of_0_means_five_minutes() -> None:
    async def scenario(world: SubscribedClient) -> None:
        world.subscription.update(push_interval_ms=0, requested_metrics=[])
        await world.start()
        assert await world.after(299) == (1, 0)
        assert await world.after(2) == (1, 0)

    play(scenario)


@pytest.mark.parametrize("error", [89, 117, -1], ids=["THROTTLING_QUOTA_EXCEEDED", "UNKNOWN_SUBSCRIPTION_ID", "other"])
def test_a_refused_subscription_request_is_repeated_after_the_interval(error: int) -> None:
    async def scenario(world: SubscribedClient) -> None:
        world.cluster.script(GET, error)
        await world.start()
        assert await world.after(299) == (1, 0)  # no interval is known yet: five minutes
        assert (await world.after(2))[0] == 1
        assert world.telemetry.state is TelemetryState.PUSH_NEEDED

    play(scenario)


@pytest.mark.parametrize("error", [117, 76], ids=["UNKNOWN_SUBSCRIPTION_ID", "UNSUPPORTED_COMPRESSION_TYPE"])
def test_a_changed_subscription_is_requested_immediately(error: int) -> None:
    async def scenario(world: SubscribedClient) -> None:
        await world.subscribed()
        world.cluster.script(PUSH, error)
        world.sent = 4.0
        world.subscription["subscription_id"] = 6
        await asyncio.sleep(4 * INTERVAL_S)
        assert len(world.cluster.requests(GET)) == 2
        refused, first, *_ = world.cluster.times(PUSH)
        assert world.cluster.times(GET)[1] == pytest.approx(refused, abs=0.1)
        assert 0.5 * INTERVAL_S <= first - refused <= 1.51 * INTERVAL_S
        request = world.cluster.requests(PUSH)[1]
        assert request.subscription_id == 6
        assert request.compression_type == (Compression.GZIP if error == 76 else Compression.ZSTD)
        assert read(request) == {TOTAL: 4.0}  # what was refused is not lost

    play(scenario)


@pytest.mark.parametrize("error", [89, 118, -1, 29], ids=["THROTTLING", "TELEMETRY_TOO_LARGE", "unknown", "other"])
def test_other_errors_request_the_subscription_after_the_interval(error: int, caplog) -> None:
    async def scenario(world: SubscribedClient) -> None:
        await world.subscribed()
        world.cluster.script(PUSH, error)
        world.cluster.calls.clear()
        await asyncio.sleep(4 * INTERVAL_S)
        (asked,), refused = world.cluster.times(GET), world.cluster.times(PUSH)[0]
        assert asked - refused == pytest.approx(INTERVAL_S, abs=0.1)
        assert len(world.cluster.times(PUSH)) >= 2

    play(scenario)
    assert (caplog.text == "") == (error != 118)


def test_a_push_that_was_too_large_is_halved_the_next_time(caplog) -> None:
    async def scenario(world: SubscribedClient) -> None:
        names = [Metric(f"m-{number}", "", lambda of, now: 1.0) for number in range(100)]
        world.telemetry._metrics.add("producer-metrics", names, world)
        await world.subscribed()
        world.cluster.script(PUSH, 118)
        await asyncio.sleep(6 * INTERVAL_S)
        whole, cut = (len(pushed) for pushed in world.pushed()[:2])
        assert whole == 101
        assert 35 <= cut <= 50

    play(scenario)
    (record,) = caplog.records  # however often it happens
    assert "metrics are left out" in record.getMessage()


def test_pushes_respect_the_size_limit(caplog) -> None:
    async def scenario(world: SubscribedClient) -> None:
        world.subscription["telemetry_max_bytes"] = 2_000
        names = [Metric(f"m-{number}", "", lambda of, now: 1.0) for number in range(100)]
        world.telemetry._metrics.add("producer-metrics", names, world)
        await world.subscribed()
        await asyncio.sleep(5 * INTERVAL_S)
        for request in world.cluster.requests(PUSH):
            assert TOTAL in read(request)
            assert len(bytes(decompress(request.compression_type, memoryview(request.metrics)))) <= 2_000

    play(scenario)
    assert len(caplog.records) == 1


def test_many_metrics_are_collected_in_a_thread() -> None:
    async def scenario(world: SubscribedClient) -> None:
        loop: Any = asyncio.get_running_loop()
        calls: list[str] = []

        def call_blocking(function: Callable[[], Any]) -> Any:
            calls.append("blocking")
            return function()

        loop.call_blocking = call_blocking
        names = [Metric(f"m-{number}", "", lambda of, now: 1.0) for number in range(1_000)]
        world.telemetry._metrics.add("producer-metrics", names, world)
        await world.subscribed()
        await world.telemetry.close()
        assert len(world.pushed()[0]) == 1_001
        assert calls == ["blocking"]

    play(scenario)


@pytest.mark.parametrize("error", [42, 87, 35], ids=["INVALID_REQUEST", "INVALID_RECORD", "UNSUPPORTED_VERSION"])
@pytest.mark.parametrize("api", [GET, PUSH])
def test_unsupported_requests_disable_telemetry(api: str, error: int, caplog) -> None:
    async def scenario(world: SubscribedClient) -> None:
        world.cluster.script(api, error)
        await world.start()
        await asyncio.sleep(3 * INTERVAL_S)
        assert world.telemetry.state is TelemetryState.DISABLED
        assert await world.after(86_400) == (0, 0)

    play(scenario)
    (record,) = caplog.records
    assert (record.levelno, "refuses" in record.getMessage()) == (logging.WARNING, True)


@pytest.mark.parametrize(("code", "error"), [(42, InvalidRequestError), (31, ClusterAuthorizationFailedError)])
def test_waiting_for_an_id_fails_immediately_if_none_will_come(code: int, error: type[Exception]) -> None:
    async def scenario(world: SubscribedClient) -> None:
        world.cluster.script(GET, code)
        await world.start()
        with pytest.raises(error):
            await world.telemetry.client_instance_id(10_000)
        assert asyncio.get_running_loop().time() < 1_001

    play(scenario)


def test_an_unexpected_error_is_survived_and_logged_once(caplog) -> None:
    async def scenario(world: SubscribedClient) -> None:
        def fails(of: Any, now: float) -> float:
            raise ZeroDivisionError

        world.telemetry._metrics.add("producer-metrics", [Metric("bad", "", fails)], world)
        await world.subscribed()
        await asyncio.sleep(20 * INTERVAL_S)
        assert len(world.cluster.requests(GET)) > 3
        world.cluster.calls.clear()
        await world.telemetry.close()
        assert world.cluster.requests(PUSH) == []

    play(scenario)
    (record,) = caplog.records
    assert record.exc_info


@pytest.mark.parametrize("answer", [SILENCE, KafkaConnectionError("lost")])
def test_telemetry_survives_a_lost_connection_without_double_counting(answer: Any) -> None:
    async def scenario(world: SubscribedClient) -> None:
        await world.subscribed()
        world.sent = 4.0
        world.cluster.script(PUSH, answer)
        while world.telemetry.state is not TelemetryState.SUBSCRIPTION_NEEDED:
            await asyncio.sleep(1)
        world.sent = 5.0
        await world.cluster.connection(1)
        await asyncio.sleep(3 * INTERVAL_S)
        assert [pushed[TOTAL] for pushed in world.pushed()[:2]] == [4.0, 1.0]

    play(scenario)


def test_no_connection_is_opened_and_any_connected_broker_is_used() -> None:
    async def scenario(world: SubscribedClient) -> None:
        await world.subscribed()
        world.cluster.cut(1)
        assert await world.after(10 * INTERVAL_S) == (0, 0)
        await world.connect(2)
        assert (await world.after(2 * INTERVAL_S))[0] == 0
        assert {call.node_id for call in world.cluster.calls} == {2}
        await world.cluster.connection(1)
        await world.after(5 * INTERVAL_S)
        assert {call.node_id for call in world.cluster.calls} == {2}  # as long as it is there

    play(scenario, brokers=2)


def test_a_cluster_without_these_apis_gets_no_requests() -> None:
    async def scenario(world: SubscribedClient) -> None:
        world.cluster.takes_metrics = False
        await world.start()
        tasks = asyncio.all_tasks()
        assert await world.after(86_400) == (0, 0)
        assert asyncio.all_tasks() == tasks == {asyncio.current_task()}
        with pytest.raises(UnsupportedVersionError, match="plug-in"):
            await world.telemetry.client_instance_id(1_000)

    play(scenario)


def test_telemetry_starts_when_a_supporting_broker_is_connected() -> None:
    async def scenario(world: SubscribedClient) -> None:
        world.cluster.down = {1}
        await world.cluster.start(in_background=True)
        world.telemetry.start()
        assert await world.after(100) == (0, 0)
        world.cluster.down = set()
        await world.connect()
        world.cluster.publish({"t"})
        assert await world.after(1) == (1, 0)

    play(scenario)


def test_telemetry_can_be_disabled() -> None:
    async def scenario(world: SubscribedClient) -> None:
        await world.start()
        assert await world.after(1_000) == (0, 0)
        with pytest.raises(IllegalStateError, match="enable_metrics_push"):
            await world.telemetry.client_instance_id(1_000)

    play(scenario, enable_metrics_push=False)
    play(scenario, metrics_enabled=False)


def test_an_id_timeout() -> None:
    async def scenario(world: SubscribedClient) -> None:
        world.cluster.script(GET, 89)
        await world.start()
        with pytest.raises(KafkaTimeoutError, match=r"within 2000 ms.*ThrottlingQuota|within 2000 ms.*quota"):
            await world.telemetry.client_instance_id(2_000)
        waiting = [asyncio.create_task(world.telemetry.client_instance_id(10_000)) for _ in range(2)]
        await asyncio.sleep(1)
        await world.telemetry.close()
        for each in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(each, IllegalStateError)

    play(scenario)


def test_two_callers_wait_for_one_id() -> None:
    async def scenario(world: SubscribedClient) -> None:
        world.cluster.latency_s = 1.0
        await world.start()
        ids = await asyncio.gather(*(world.telemetry.client_instance_id(10_000) for _ in range(3)))
        assert ids == [ID] * 3
        assert len(world.cluster.requests(GET)) == 1

    play(scenario)


# Closing


def test_closing_pushes_once_more() -> None:
    async def scenario(world: SubscribedClient) -> None:
        await world.subscribed()
        world.sent = 9.0
        await world.telemetry.close()
        await world.telemetry.close()
        (request,) = world.cluster.requests(PUSH)
        assert request.terminating
        assert read(request) == {TOTAL: 9.0}
        assert await world.after(1_000) == (0, 0)

    play(scenario)


def test_closing_during_a_push() -> None:
    async def scenario(world: SubscribedClient) -> None:
        await world.subscribed()
        world.sent = 4.0
        world.cluster.latency_s = 0.5
        while not world.cluster.requests(PUSH):
            await asyncio.sleep(0.1)
        world.sent = 9.0
        await world.telemetry.close()
        assert [request.terminating for request in world.cluster.requests(PUSH)] == [False, True]
        assert [pushed[TOTAL] for pushed in world.pushed()] == [4.0, 5.0]  # the broker may have got the first one

    play(scenario)


@pytest.mark.parametrize("when", ["never connected", "asked", "no subscription", "refused", "lost"])
def test_closing_pushes_nothing_without_subscribed_metrics(when: str) -> None:
    async def scenario(world: SubscribedClient) -> None:
        if when == "no subscription":
            world.subscription["requested_metrics"] = []
        elif when == "refused":
            world.cluster.script(GET, 42)
        elif when == "asked":
            world.cluster.latency_s = 5.0
        if when != "never connected":
            await world.start()
            await asyncio.sleep(1)
        if when == "asked":
            assert world.telemetry.state is TelemetryState.SUBSCRIPTION_IN_PROGRESS
        elif when == "lost":
            world.cluster.cut(1)
        before = asyncio.get_running_loop().time()
        await world.telemetry.close()
        assert asyncio.get_running_loop().time() == before
        assert world.cluster.requests(PUSH) == []

    play(scenario)


@pytest.mark.parametrize(("limit_s", "waited_s"), [(None, LAST_PUSH_S), (100.0, LAST_PUSH_S), (0.25, 0.25), (0.0, 0.0)])
def test_a_silent_broker_delays_closing_only_briefly(limit_s: float | None, waited_s: float, caplog) -> None:
    async def scenario(world: SubscribedClient) -> None:
        await world.subscribed()
        world.cluster.serve(PUSH, lambda _: SILENCE)
        before = asyncio.get_running_loop().time()
        await world.telemetry.close(limit_s)
        assert asyncio.get_running_loop().time() - before == pytest.approx(waited_s, abs=0.01)

    play(scenario)
    assert caplog.text == ""


def test_a_cancelled_close_ends_telemetry() -> None:
    async def scenario(world: SubscribedClient) -> None:
        await world.subscribed()
        world.cluster.serve(PUSH, lambda _: SILENCE)
        closing = asyncio.create_task(world.telemetry.close())
        await asyncio.sleep(0.5)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        assert world.telemetry.state is TelemetryState.TERMINATED

    play(scenario)


# Metrics of the program


def metric(name: str, value: Callable[[], float], measurable: Any = None) -> KafkaMetric:
    measurable = measurable or AnonMeasurable(lambda config, now: value())
    return KafkaMetric(MetricName(name, "app-metrics", tags={"shop": "x"}), measurable, MetricConfig())


def test_registered_metrics_are_read_where_user_code_runs() -> None:
    async def scenario(world: SubscribedClient) -> None:
        orders = Total()
        depth, sold = metric("depth", lambda: 7.0), metric("sold", lambda: 0.0, orders)
        for each in (depth, sold):
            world.telemetry.register(each)
        await world.subscribed()
        for value, expected in ((4.0, 4.0), (5.0, 5.0)):
            orders.record(MetricConfig(), value, 0)
            while not world.submitted:
                await asyncio.sleep(0.1)
            world.submitted.pop()()
            await asyncio.sleep(1)
            pushed = world.pushed()[-1]
            assert (pushed["org.apache.kafka.app.depth"], pushed["org.apache.kafka.app.sold"]) == (7.0, expected)
        world.telemetry.unregister(depth)
        world.telemetry.unregister(depth)
        world.telemetry.unregister(sold)
        await asyncio.sleep(INTERVAL_S)
        assert world.submitted == []
        assert list(world.pushed()[-1]) == [TOTAL]

    play(scenario)


@pytest.mark.parametrize("error", [ValueError, SystemExit])
def test_hanging_or_failing_registered_metrics_delay_nothing(error: type[BaseException], caplog) -> None:
    async def scenario(world: SubscribedClient) -> None:
        def fails() -> float:
            raise error("no value")

        world.telemetry.register(metric("bad", fails))
        world.telemetry.register(metric("good", lambda: 1.0))
        await world.subscribed()
        await asyncio.sleep(3.6 * INTERVAL_S)
        assert len(world.pushed()) >= 2
        assert all(list(pushed) == [TOTAL] for pushed in world.pushed())
        (read_all,) = world.submitted  # it is not asked again while it hangs
        read_all()
        await asyncio.sleep(INTERVAL_S)
        assert set(world.pushed()[-1]) == {TOTAL, "org.apache.kafka.app.good"}
        for _ in range(3):
            await asyncio.sleep(INTERVAL_S)
            world.submitted.pop()()

    play(scenario)
    (record,) = caplog.records
    assert "no value" in record.getMessage()


def test_metrics_of_the_client_are_not_replaced() -> None:
    async def scenario(world: SubscribedClient) -> None:
        own = next(iter(world.telemetry._metrics.registered().values()))
        fake = KafkaMetric(own.metric_name, AnonMeasurable(lambda config, now: 99.0), MetricConfig())
        world.telemetry.register(fake)
        await world.subscribed()
        await world.telemetry.close()
        assert world.submitted == []
        assert world.pushed() == [{TOTAL: 0.0}]

    play(scenario)


@pytest.mark.parametrize("call", ["register", "unregister"])
def test_other_types_than_metrics_are_refused(call: str) -> None:
    async def scenario(world: SubscribedClient) -> None:
        with pytest.raises(TypeError, match="KafkaMetric"):
            getattr(world.telemetry, call)("records")

    play(scenario)


def test_the_table_of_states_is_closed() -> None:
    assert set(TRANSITIONS) == set(TelemetryState)
    with pytest.raises(IllegalStateError, match="TERMINATED"):
        check_move(TelemetryState.TERMINATED, TelemetryState.PUSH_NEEDED)
