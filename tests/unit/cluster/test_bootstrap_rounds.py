"""How often and for how long bootstrap servers are asked, and what is said at the end, in virtual time."""

import asyncio
import random

import pytest

from kafka.cluster import Backoff
from kafka.cluster import bootstrap as module
from kafka.cluster.bootstrap import Bootstrap
from kafka.config import parse_admin
from kafka.errors import KafkaConnectionError, KafkaProtocolError, NoBrokersAvailable
from kafka.net.open_stream import DialError
from unit.virtual_loop import simulate


class NoJitter(random.Random):
    """The middle of each range."""

    def uniform(self, low, high):
        return (low + high) / 2


class Servers:
    """What connecting to each server raises, and when it was tried; a server without an error answers."""

    def __init__(self, **errors):
        self.errors, self.tried, self.takes_s = errors, [], 0.0
        self._started = asyncio.get_running_loop().time()

    @property
    def now(self):
        return round(asyncio.get_running_loop().time() - self._started, 6)

    async def open(self, host, port, *rest):
        self.tried.append((self.now, host))
        await asyncio.sleep(self.takes_s)
        if host in self.errors:
            raise self.errors[host]
        return host

    async def ask(self, connection, topics):
        return "metadata"


def refused(host):
    error = DialError.of(host, 9092, [], "connection refused")
    error.refused = True
    return error


def play(monkeypatch, scenario, hosts=("a", "b"), backoff_ms=1_000, **configs):
    parsed = parse_admin({"bootstrap_servers": [f"{host}:9092" for host in hosts], **configs})

    async def main():
        servers = Servers(**{host: refused(host) for host in hosts})
        monkeypatch.setattr(module, "open_connection", servers.open)
        bootstrap = Bootstrap(parsed.connection, parsed.security, servers.ask, random.Random(1))
        bootstrap._backoff = Backoff(backoff_ms, backoff_ms, NoJitter())
        bootstrap._again_backoff = Backoff(backoff_ms, 4 * backoff_ms, NoJitter())
        await scenario(bootstrap, servers)

    simulate(main)


@pytest.mark.parametrize(("timeout_ms", "ends_at"), [(3_000, 2.0), (3_001, 3.0), (500, 0.0)])
def test_if_all_servers_refuse_the_shorter_timeout_applies(monkeypatch, timeout_ms, ends_at):
    async def scenario(bootstrap, servers):
        with pytest.raises(NoBrokersAvailable, match="connection refused"):
            await bootstrap.until_found(None)
        assert servers.now == ends_at

    play(monkeypatch, scenario, api_version_auto_timeout_ms=timeout_ms, bootstrap_timeout_ms=30_000)


def test_if_one_server_does_not_refuse_the_full_timeout_applies(monkeypatch):
    async def scenario(bootstrap, servers):
        servers.errors["b"] = KafkaConnectionError("b:9092 hung up")
        with pytest.raises(NoBrokersAvailable, match=r"in 30 s.*hung up"):
            await bootstrap.until_found(None)
        assert servers.now == 30.0

    play(monkeypatch, scenario, api_version_auto_timeout_ms=3_000, bootstrap_timeout_ms=30_000)


def test_without_a_shorter_timeout_the_full_timeout_applies(monkeypatch):
    async def scenario(bootstrap, servers):
        with pytest.raises(NoBrokersAvailable, match="in 30 s"):
            await bootstrap.until_found(None)
        assert servers.now == 30.0
        assert [at for at, host in servers.tried if host == "a"] == [float(second) for second in range(30)]

    play(monkeypatch, scenario, bootstrap_timeout_ms=30_000)


def still_looking(caplog):
    return [record.message for record in caplog.records if record.message.startswith("still looking")]


def test_a_refusal_is_logged_at_once_with_the_time_that_remains_for_the_search(monkeypatch, caplog):
    async def scenario(bootstrap, servers):
        finding = asyncio.ensure_future(bootstrap.until_found(None))
        await asyncio.sleep(0.1)
        (told,) = [record.message for record in caplog.records]
        assert told.startswith("a bootstrap server could not be used: cannot connect to a:9092: connection refused")
        assert told.endswith("; trying again until bootstrap_timeout_ms (30 s)")
        caplog.clear()
        servers.errors.clear()
        await finding
        servers.errors["a"] = refused("a")
        with pytest.raises(NoBrokersAvailable):
            await bootstrap.again(None)
        assert [record.message for record in caplog.records if "trying again" in record.message] == []

    play(monkeypatch, scenario, hosts=("a",), bootstrap_timeout_ms=30_000)


def test_a_continuing_search_is_logged_once_with_the_servers_errors(monkeypatch, caplog):
    async def scenario(bootstrap, servers):
        finding = asyncio.ensure_future(bootstrap.until_found(None))
        await asyncio.sleep(2.9)
        assert still_looking(caplog) == []
        await asyncio.sleep(0.2)
        (told,) = still_looking(caplog)
        assert told.startswith("still looking for a broker: cannot connect to a:9092: connection refused")
        assert told.endswith("; until bootstrap_timeout_ms (30 s)")
        with pytest.raises(NoBrokersAvailable):
            await finding
        assert len(still_looking(caplog)) == 1

    play(monkeypatch, scenario, hosts=("a",), bootstrap_timeout_ms=30_000)


def test_the_log_of_a_search_names_silent_servers_and_the_shorter_timeout(monkeypatch, caplog):
    async def silent(bootstrap, servers):
        servers.takes_s = 100.0
        with pytest.raises(NoBrokersAvailable):
            await bootstrap.until_found(None)
        (told,) = still_looking(caplog)
        assert told == "still looking for a broker: a:9092: no answer yet; until bootstrap_timeout_ms (20 s)"
        caplog.clear()

    async def refusing(bootstrap, servers):
        with pytest.raises(NoBrokersAvailable):
            await bootstrap.until_found(None)
        (told,) = still_looking(caplog)
        assert told.endswith("; until api_version_auto_timeout_ms (5 s)"), told

    play(monkeypatch, silent, hosts=("a",), bootstrap_timeout_ms=20_000)
    play(monkeypatch, refusing, hosts=("a",), bootstrap_timeout_ms=20_000, api_version_auto_timeout_ms=5_000)


def test_a_short_search_is_not_logged(monkeypatch, caplog):
    async def scenario(bootstrap, servers):
        with pytest.raises(NoBrokersAvailable):
            await bootstrap.until_found(None)
        servers.errors.clear()
        await bootstrap.until_found(None)
        await asyncio.sleep(10)
        assert still_looking(caplog) == []

    play(monkeypatch, scenario, bootstrap_timeout_ms=2_500)


def test_if_no_server_speaks_kafka_the_search_ends_immediately(monkeypatch):
    async def scenario(bootstrap, servers):
        for host in ("a", "b"):
            servers.errors[host] = KafkaProtocolError(f"{host} is an HTTP server")
        with pytest.raises(NoBrokersAvailable, match="HTTP server"):
            await bootstrap.until_found(None)
        assert servers.now == 0.0

    play(monkeypatch, scenario, bootstrap_timeout_ms=30_000)


def test_a_server_that_comes_back_is_found_in_the_next_round(monkeypatch):
    async def scenario(bootstrap, servers):
        finding = asyncio.ensure_future(bootstrap.until_found({"t"}))
        await asyncio.sleep(1.5)
        del servers.errors["b"]
        assert await finding == ("b", "metadata")
        assert servers.now == 2.0

    play(monkeypatch, scenario, bootstrap_timeout_ms=30_000)


def test_each_server_has_a_head_start_before_the_next_one_is_tried(monkeypatch):
    async def scenario(bootstrap, servers):
        servers.errors.clear()
        servers.takes_s = 1.2
        await bootstrap.once(None)
        assert [at for at, _ in servers.tried] == [0.0, 0.5, 1.0]
        assert servers.now == 1.2

    play(monkeypatch, scenario, hosts=("a", "b", "c", "d"))


def test_a_lost_cluster_is_searched_with_growing_pauses(monkeypatch):
    async def scenario(bootstrap, servers):
        for pause in (1.0, 2.0, 4.0, 4.0):
            with pytest.raises(NoBrokersAvailable, match="connection refused"):
                await bootstrap.again(None)
            tried = len(servers.tried)
            with pytest.raises(NoBrokersAvailable, match=rf"tried again in {pause:.1f} s"):
                await bootstrap.again(None)
            await asyncio.sleep(pause - 0.25)
            with pytest.raises(NoBrokersAvailable, match=r"tried again in 0\.2 s"):
                await bootstrap.again(None)
            assert len(servers.tried) == tried
            await asyncio.sleep(0.25)

    play(monkeypatch, scenario)


def test_a_success_resets_the_pauses(monkeypatch):
    async def scenario(bootstrap, servers):
        for pause in (1.0, 2.0):
            with pytest.raises(NoBrokersAvailable):
                await bootstrap.again(None)
            await asyncio.sleep(pause)
        errors, servers.errors = servers.errors, {}
        await bootstrap.again(None)
        await bootstrap.again(None)
        servers.errors = errors
        with pytest.raises(NoBrokersAvailable):
            await bootstrap.again(None)
        with pytest.raises(NoBrokersAvailable, match=r"tried again in 1\.0 s"):
            await bootstrap.again(None)

    play(monkeypatch, scenario)


def test_an_unexpected_error_of_a_search_becomes_a_kafka_error(monkeypatch):
    async def scenario(bootstrap, servers):
        servers.errors["a"] = ValueError("a fault")
        with pytest.raises(module.KafkaError, match="looking for the cluster failed unexpectedly"):
            await bootstrap.again(None)

    play(monkeypatch, scenario, hosts=("a",))


def test_a_broker_in_backoff_is_named_but_not_tried(monkeypatch):
    async def scenario(bootstrap, servers):
        bootstrap._failed_at = {("a", 9092): KafkaConnectionError("failed a moment ago")}.get
        with pytest.raises(NoBrokersAvailable, match="failed a moment ago"):
            await bootstrap.once(None)
        assert [host for _, host in servers.tried] == ["b"]

    play(monkeypatch, scenario)
