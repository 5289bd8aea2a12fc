"""When metadata are refreshed, in virtual time."""

import asyncio
import gc

import pytest

from kafka.cluster.metadata_updater import MetadataRefresher
from kafka.errors import IllegalStateError, KafkaConnectionError, KafkaError
from unit.virtual_loop import simulate


class Fetches:
    """Notes what is asked for and when; `errors` are raised first, one after the other."""

    def __init__(self, *errors):
        self.made, self.errors, self.takes_s = [], list(errors), 0.0
        self._started = asyncio.get_running_loop().time()

    async def __call__(self, topics, everything):
        now = asyncio.get_running_loop().time() - self._started
        self.made.append((round(now, 3), sorted(topics), everything))
        await asyncio.sleep(self.takes_s)
        if self.errors:
            raise self.errors.pop(0)

    @property
    def times(self):
        return [time for time, _, _ in self.made]


def play(scenario, *errors, interval_ms=100, max_interval_ms=1_000, max_age_ms=60_000):
    async def main():
        fetches = Fetches(*errors)
        refresher = MetadataRefresher(fetches, interval_ms, max_interval_ms, max_age_ms)
        await scenario(refresher, fetches)
        await refresher.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    simulate(main)


def test_the_age_counts_from_the_last_refresh():
    async def scenario(refresher, fetches):
        refresher.fetched()
        await asyncio.sleep(40)
        refresher.fetched()
        await asyncio.sleep(40)
        assert fetches.made == []
        await asyncio.sleep(90)
        assert fetches.made == [(100.0, [], True), (160.0, [], True)]

    play(scenario)


def test_without_a_maximum_age_nothing_is_refreshed():
    async def scenario(refresher, fetches):
        refresher.fetched()
        await asyncio.sleep(3_600)
        assert fetches.made == []

    play(scenario, max_age_ms=0)


def test_refreshes_keep_an_interval_and_combine_requests():
    async def scenario(refresher, fetches):
        await refresher.refresh(["a"])
        await asyncio.gather(refresher.refresh(["b"]), refresher.refresh(["c", "b"]), refresher.refresh())
        assert fetches.made == [(0.0, ["a"], False), (0.1, ["b", "c"], True)]

    play(scenario)


def test_a_running_refresh_is_shared_only_if_it_covers_the_topics():
    async def scenario(refresher, fetches):
        fetches.takes_s = 1.0
        first = refresher.request(["a", "b"])
        await asyncio.sleep(0.5)
        assert refresher.request(["b"]) is first
        assert refresher.request(["a", "b"]) is first
        other, full = refresher.request(["b", "c"]), refresher.request()
        assert other is full
        assert other is not first
        await other
        assert fetches.made == [(0.0, ["a", "b"], False), (1.1, ["b", "c"], True)]

    play(scenario)


def test_a_failure_is_raised_to_the_caller_and_retried_automatically():
    async def scenario(refresher, fetches):
        with pytest.raises(KafkaConnectionError, match="gone"):
            await refresher.refresh()
        await asyncio.sleep(1.5)
        assert fetches.times == [0.0, 1.0]
        await asyncio.sleep(58)
        assert len(fetches.made) == 2
        await asyncio.sleep(3)
        assert fetches.times == [0.0, 1.0, 61.0]

    play(scenario, KafkaConnectionError("gone"))


def test_unexpected_errors_become_kafka_errors():
    async def scenario(refresher, fetches):
        with pytest.raises(KafkaError, match="a fault"):
            await refresher.refresh()

    play(scenario, ValueError("a fault"))


def test_pauses_between_failures_grow():
    async def scenario(refresher, fetches):
        for _ in range(6):
            with pytest.raises(KafkaConnectionError):
                await refresher.refresh()
        pauses = [later - earlier for earlier, later in zip(fetches.times, fetches.times[1:], strict=False)]
        for pause, middle in zip(pauses, (0.1, 0.2, 0.4, 0.8, 1.0), strict=True):
            assert middle * 0.79 <= pause <= middle * 1.21

    play(scenario, *[KafkaConnectionError("gone")] * 6)


def test_nothing_is_refreshed_after_close():
    async def scenario(refresher, fetches):
        refresher.fetched()
        await refresher.close()
        await asyncio.sleep(3_600)
        assert fetches.made == []
        with pytest.raises(IllegalStateError):
            refresher.request()
        refresher.fetched()
        await asyncio.sleep(3_600)
        assert fetches.made == []

    play(scenario)


def test_close_leaves_nothing_on_the_loop():
    async def scenario(refresher, fetches):
        failures = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: failures.append(context))
        refresher.fetched()
        await refresher.close()
        await asyncio.sleep(3_600)
        assert failures == []

    play(scenario)


def test_the_interval_of_refreshes_is_exact_to_the_millisecond():
    async def scenario(refresher, fetches):
        for _ in range(3):
            await refresher.refresh()
        assert fetches.times == [0.0, 20.0, 40.0]

    play(scenario, interval_ms=20_000, max_interval_ms=20_000)


def test_a_failure_without_waiters_is_retrieved():
    async def scenario(refresher, fetches):
        unseen = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: unseen.append(context["message"]))
        refresher.request(["a"])
        await asyncio.sleep(0.5)
        gc.collect()
        assert (len(fetches.made), unseen) == (1, [])

    play(scenario, KafkaConnectionError("gone"))


def test_close_waits_for_a_refresh_and_fails_its_waiters():
    async def scenario(refresher, fetches):
        ended = []

        async def fetch(topics, everything):
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(1)
                ended.append(topics)

        refresher._fetch = fetch
        running = refresher.request(["a"])
        await asyncio.sleep(0)
        later = refresher.request(["b"])
        await refresher.close()
        assert ended == [{"a"}]
        for each in (running, later):
            with pytest.raises(IllegalStateError, match="closed"):
                await each

    play(scenario)


def test_an_age_below_a_second_works():
    async def scenario(refresher, fetches):
        refresher.fetched()
        await asyncio.sleep(1.3)
        assert fetches.times == [0.5, 1.0]

    play(scenario, max_age_ms=500)


def test_a_success_resets_the_pauses():
    async def scenario(refresher, fetches):
        for _ in range(4):
            with pytest.raises(KafkaConnectionError):
                await refresher.refresh()
        await refresher.refresh()
        fetches.errors.append(KafkaConnectionError("gone"))
        with pytest.raises(KafkaConnectionError):
            await refresher.refresh()
        await refresher.refresh()
        assert 0.078 <= fetches.times[-1] - fetches.times[-2] <= 0.122

    play(scenario, *[KafkaConnectionError("gone")] * 4)
