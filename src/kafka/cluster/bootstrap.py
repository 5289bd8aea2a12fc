"""Finds the cluster through the bootstrap servers."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable

from kafka._addresses import format_address
from kafka.cluster.backoff import Backoff
from kafka.cluster.log_limiter import LogLimiter
from kafka.cluster.metadata_requests import MetadataAnswer
from kafka.cluster.retry import as_kafka_error
from kafka.config import ConnectionOptions, SecurityOptions
from kafka.errors import (
    BrokerResponseError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaError,
    KafkaProtocolError,
    NoBrokersAvailable,
)
from kafka.net import Connection, open_connection
from kafka.net.open_stream import DialError, HungUpOn, in_brief
from kafka.net.peer_probes import wrong_listener
from kafka.net.statistics import NetworkTraffic

log = logging.getLogger(__name__)

_STAGGER_S = 0.5
"""Seconds after which the next address is tried in parallel with an earlier one."""

_SAID_AFTER_S = 3.0
"""Seconds after which a continuing search is logged."""

_LOOKS = 2
"""Number of times that a server that hangs up is probed; it may start to respond in the meantime."""

Address = tuple[str, int]
Found = tuple[Connection, MetadataAnswer]
Ask = Callable[[Connection, set[str] | None], Awaitable[MetadataAnswer]]


class _RequestError(KafkaConnectionError):
    """The connection was closed in response to the metadata request."""

    hung_up_on = HungUpOn.REQUEST


class Bootstrap:
    """Asks the bootstrap servers in random order, with staggered starts, until one of them answers.

    Arguments:
        ask: requests the cluster metadata from a server.
        rng: shuffles the servers, so that not every client asks the first one.
        failed_at: returns the connection error for an address in backoff; None if the address may be tried.
        traffic: counts the bytes and requests for each server.
    """

    def __init__(
        self,
        options: ConnectionOptions,
        security: SecurityOptions,
        ask: Ask,
        rng: random.Random,
        failed_at: Callable[[Address], Exception | None] = lambda _: None,
        traffic: NetworkTraffic | None = None,
    ) -> None:
        self._options = options
        self._security = security
        self._ask_metadata = ask
        self._rng = rng
        self._failed_at = failed_at
        self._traffic = NetworkTraffic() if traffic is None else traffic
        self._backoff = Backoff(options.reconnect_backoff_ms, min(options.reconnect_backoff_max_ms, 1_000))
        self._again_backoff = Backoff(options.reconnect_backoff_ms, options.reconnect_backoff_max_ms)
        self._searching = False
        self._rounds_failed = 0
        self._not_before = 0.0
        self._limiter = LogLimiter(log)
        self._failures: dict[Address, KafkaError] = {}
        self._untold: dict[Address, KafkaError] = {}
        self._looks: dict[Address, int] = {}

    async def until_found(self, topics: set[str] | None) -> Found:
        """Try the servers repeatedly for ``bootstrap_timeout_ms``.

        Raises `NoBrokersAvailable`, which names each server and its last error. An error that retrying cannot resolve
        (credentials, versions, options) is raised immediately. If every server refuses connections and the user has set
        ``api_version_auto_timeout_ms``, the search stops after that time.
        """
        timeout_s = self._options.bootstrap_timeout_ms / 1000
        refusing_ms = self._options.api_version_auto_timeout_ms
        loop = asyncio.get_running_loop()
        started = loop.time()
        self._failures.clear()
        self._untold.clear()
        self._looks.clear()
        rounds = 0
        telling = loop.call_later(_SAID_AFTER_S, self._tell_still_looking)
        self._searching = True
        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    rounds += 1
                    try:
                        return await self.once(topics)
                    except NoBrokersAvailable:
                        await self._look_at_listeners()
                        if self._hopeless():
                            raise NoBrokersAvailable(self._report("")) from self._cause()
                        pause = self._backoff.seconds(rounds)
                        late = refusing_ms is not None and loop.time() + pause >= started + refusing_ms / 1000
                        if late and self._all_refuse():
                            raise
                        self._tell_failures()
                        await asyncio.sleep(pause)
        except TimeoutError:
            raise NoBrokersAvailable(self._report(f"in {timeout_s:g} s")) from self._cause()
        finally:
            telling.cancel()
            self._searching = False

    async def once(self, topics: set[str] | None) -> Found:
        """Try each server once. Raises the same errors as `until_found`."""
        to_try = []
        for server in dict.fromkeys(self._options.bootstrap_servers):
            error = self._failed_at(server)
            if error is None:
                to_try.append(server)
            else:  # this is the address of a broker that was tried a moment ago
                self._failures[server] = as_kafka_error("connecting", error)
        self._rng.shuffle(to_try)
        running: dict[asyncio.Task[Found], Address] = {}
        found: Found | None = None
        try:
            try:
                found = await self._first_answer(to_try, topics, running)
            finally:
                await self._end_others(list(running))
        except BaseException:
            if found is not None:
                found[0].abort(KafkaConnectionError("looking for the cluster was given up"))
            raise
        if found is not None:
            self._tell_failures()
            return found
        for error in self._failures.values():
            if isinstance(error, BrokerResponseError) and not error.retriable:
                raise error
        raise NoBrokersAvailable(self._report("")) from self._cause()

    async def again(self, topics: set[str] | None) -> Found:
        """Find a known cluster again, as `once` does, at most once every ``reconnect_backoff_ms``."""
        loop = asyncio.get_running_loop()
        wait = self._not_before - loop.time()
        if wait > 0:
            raise NoBrokersAvailable(f"{self._report('')} (tried again in {wait:.1f} s)") from self._cause()
        try:
            found = await self.once(topics)
        except Exception as error:
            self._tell_failures()
            self._rounds_failed += 1
            self._not_before = loop.time() + self._again_backoff.seconds(self._rounds_failed)
            raise as_kafka_error("looking for the cluster", error) from error
        self._rounds_failed, self._not_before = 0, 0.0
        return found

    async def _first_answer(
        self, to_try: list[Address], topics: set[str] | None, running: "dict[asyncio.Task[Found], Address]"
    ) -> Found | None:
        """Ask one server after another; ``running`` contains the attempts whose results have not been processed."""
        while to_try or running:
            if to_try:
                server = to_try.pop(0)
                running[asyncio.create_task(self._ask(server, topics))] = server
            head_start = _STAGGER_S if to_try else None
            done, _ = await asyncio.wait(running, timeout=head_start, return_when=asyncio.FIRST_COMPLETED)
            found = self._look_at([(running.pop(task), task) for task in done])
            if found is not None:
                return found
            if to_try or running:
                self._tell_failures()
        return None

    def _look_at(self, done: "list[tuple[Address, asyncio.Task[Found]]]") -> Found | None:
        """Return the first success, and record failures. If there is none, raise any error that is not retriable."""
        found: Found | None = None
        fatal: BaseException | None = None
        for server, task in done:
            error = task.exception()
            if error is None and found is None:
                found = task.result()
            elif error is None:
                _end_late(task)
            elif isinstance(error, KafkaError) and not isinstance(error, KafkaConfigurationError):
                self._failures[server] = self._untold[server] = error
            else:
                fatal = error
        if found is None and fatal is not None:
            raise fatal
        return found

    def _tell_failures(self) -> None:
        """Log why servers failed while the search continues. If the search fails, its error contains the reasons."""
        for server, error in self._untold.items():
            text = str(error.args[0] if error.args else error)
            named = format_address(*server)
            where = "" if named in text else f"{named}: "
            more = f"; trying again until {self._limit()}" if self._searching else ""
            self._limiter.warning(named, f"a bootstrap server could not be used: {where}{text}{more}")
        self._untold.clear()

    def _tell_still_looking(self) -> None:
        """Log once per search that it continues, so that a wrong address or port is noticed before the time is up."""
        text = f"still looking for a broker: {'; '.join(self._answers())}; until {self._limit()}"
        self._limiter.warning("looking for a broker", text)

    def _limit(self) -> str:
        """Return the option that ends the search, with its time."""
        timeout_ms, refusing_ms = self._options.bootstrap_timeout_ms, self._options.api_version_auto_timeout_ms
        if refusing_ms is not None and refusing_ms < timeout_ms and self._all_refuse():
            return f"api_version_auto_timeout_ms ({refusing_ms / 1000:g} s)"
        return f"bootstrap_timeout_ms ({timeout_ms / 1000:g} s)"

    def _all_refuse(self) -> bool:
        """Return whether every address refuses connections or cannot be resolved."""
        servers = set(self._options.bootstrap_servers)
        return servers == set(self._failures) and all(
            isinstance(error, DialError) and error.refused for error in self._failures.values()
        )

    @staticmethod
    async def _end_others(tasks: "list[asyncio.Task[Found]]") -> None:
        for task in tasks:
            task.cancel()
            task.add_done_callback(_end_late)  # called even if nothing awaits the task
        if tasks:
            await asyncio.wait(tasks)

    async def _ask(self, server: Address, topics: set[str] | None) -> Found:
        number = self._options.bootstrap_servers.index(server)
        traffic = self._traffic.node(f"bootstrap-{number}")
        connection = await open_connection(*server, self._options, self._security, -1, traffic)
        try:
            return connection, await self._ask_metadata(connection, topics)
        except BaseException as error:
            connection.abort(KafkaConnectionError(f"asking for metadata failed: {error!r}"))
            if isinstance(error, KafkaConnectionError) and not self._security.security_protocol.startswith("SASL"):
                text = error.args[0] if error.args else error
                raise _RequestError(
                    f"{text}, on the first request; so does a listener that asks for SASL (security_protocol is "
                    f"{self._security.security_protocol!r})"
                ) from in_brief(error)
            raise

    async def _look_at_listeners(self) -> None:
        """Probe the servers that hung up: retrying cannot help if a server expects another protocol."""
        looks = []
        for server, error in self._failures.items():
            hung_up_on = getattr(error, "hung_up_on", None)
            if hung_up_on is not None and self._looks.get(server, 0) < _LOOKS:
                self._looks[server] = self._looks.get(server, 0) + 1
                looks.append((server, wrong_listener(*server, self._options, self._security, hung_up_on)))
        for (server, _), found in zip(looks, await asyncio.gather(*(look for _, look in looks)), strict=True):
            if found is not None:
                self._failures[server] = self._untold[server] = found

    def _hopeless(self) -> bool:
        """Return whether retrying cannot help, because the servers are not Kafka brokers or TLS handshakes fail."""
        return all(
            isinstance(error, KafkaProtocolError) or getattr(error, "permanent", False)
            for error in self._failures.values()
        )

    def _cause(self) -> KafkaError | None:
        error = next(iter(self._failures.values()), None)
        return None if error is None else in_brief(error)

    def _report(self, when: str) -> str:
        named = ", ".join(format_address(*each) for each in dict.fromkeys(self._options.bootstrap_servers))
        text = f"none of the bootstrap servers ({named}) could be used{' ' + when if when else ''}"
        advice = "; is the broker running, and is the address right?" if self._all_refuse() else ""
        return f"{text}: {'; '.join(self._answers())}{advice}"

    def _answers(self) -> list[str]:
        """Return the last result for each server."""
        answers = [str(error.args[0] if error.args else error) for error in self._failures.values()]
        silent = [server for server in dict.fromkeys(self._options.bootstrap_servers) if server not in self._failures]
        return answers + [f"{format_address(*each)}: no answer yet" for each in silent]


def _end_late(task: "asyncio.Task[Found]") -> None:
    """Close the connection of a server that answered too late."""
    if not task.cancelled() and task.exception() is None:
        task.result()[0].abort(KafkaConnectionError("another bootstrap server answered first"))
