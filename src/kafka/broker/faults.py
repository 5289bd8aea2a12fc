"""Faults on request: what a test asks a broker to do wrong, by API, topic, client and count.

`EmbeddedBroker.faults` is a `Faults`. Each of its methods adds a rule and returns it. Those about connections are named
so, as they are in `kafka.testing.Network`; all others are about requests and their answers. A request is given to the
first rule that matches it, in the order in which they were added; a rule that has had its `times` is passed over. Rules
may be added, read and removed from any thread; they hold across a restart of the broker.
"""

import threading
import time
from collections.abc import Collection
from enum import Enum
from typing import Final, NamedTuple, TypedDict, Unpack, cast

from kafka.broker.api import APIS
from kafka.errors import BrokerResponseError, KafkaConfigurationError

_FOR_TIMES: Final = frozenset({"count", "hits", "limit", "max", "n", "number"})
"""What `times` is looked for as."""
_NAMES: Final = {api.key: api.name for api in APIS.values()}


class Action(Enum):
    """What happens to a request, or to a connection."""

    ERROR = "answer with an error"
    DELAY = "wait"
    SILENCE = "never answer"
    CLOSE = "close the connection in place of an answer"
    CUT = "close the connection within the answer"
    REFUSE_CONNECTION = "close a connection as soon as it is accepted"
    CUT_CONNECTION = "close a connection when so many bytes were sent on it"


CONNECTION_ACTIONS: Final = frozenset({Action.REFUSE_CONNECTION, Action.CUT_CONNECTION})


class RequestFacts(NamedTuple):
    """What rules are matched against.

    Arguments:
        api: Kafka's name of the request.
        topics: those that it names.
        client_id: the client's.
    """

    api: str
    topics: Collection[str]
    client_id: str


class Times(TypedDict, total=False):
    """When a rule holds."""

    after: int
    """As many requests (or connections) that match are served as usual first."""
    times: int | None
    """As many are given to the rule then; None for all."""


class Match(Times, total=False):
    """The requests that a rule is for: all that is given has to match."""

    api: str | int | None
    """Kafka's name of the request ("Produce") or its key (0); any request if not given."""
    topic: str | None
    """A topic that the request names, by name or by id."""
    client_id: str | None
    """The client's."""


class FaultRule:
    """One rule. `hits` counts the requests (or connections) that were given to it.

    Arguments:
        faults: where it was added.
        action: what happens.
        api: Kafka's name of the request, or its key; None: any.
        topic: a topic that the request names; None: any.
        client_id: the client's; None: any.
        after: as many that match are served as usual first.
        times: as many are given to the rule then; None: all.
        error: the code to answer with.
        seconds: how long to wait.
        nbytes: how many bytes are sent before the connection is closed.
        handled: whether the request is carried out.
    """

    def __init__(
        self,
        faults: "Faults",
        action: Action,
        *,
        api: str | int | None = None,
        topic: str | None = None,
        client_id: str | None = None,
        after: int = 0,
        times: int | None = None,
        error: int = 0,
        seconds: float = 0.0,
        nbytes: int = 0,
        handled: bool = False,
    ) -> None:
        self.action: Final = action
        self.api: Final = _api_name(api)
        self.topic: Final = topic
        self.client_id: Final = client_id
        self.times: Final = times
        self.error: Final = error
        self.seconds: Final = seconds
        self.nbytes: Final = nbytes
        self.handled: Final = handled
        """Whether the request is carried out, so that only its answer is affected."""
        self.after: Final = after
        self._to_pass = after
        self._hits = 0
        self._faults = faults
        self._heard = threading.Condition()

    @property
    def hits(self) -> int:
        """How many requests were given to the rule so far."""
        return self._hits

    def wait(self, hits: int = 1, timeout_s: float = 10.0) -> bool:
        """Wait, in a thread that is not the broker's, until the rule has been hit so often; False if time is up.

        Arguments:
            hits: how often.
            timeout_s: how long to wait, in seconds.
        """
        deadline = time.monotonic() + timeout_s
        with self._heard:
            while self._hits < hits:
                left = deadline - time.monotonic()
                if left <= 0 or not self._heard.wait(left):
                    return self._hits >= hits
        return True

    def remove(self) -> None:
        """Take the rule back; what it has done stays done."""
        self._faults._remove(self)

    def matches(self, facts: RequestFacts) -> bool:
        """Whether a request is one of those the rule is about.

        Arguments:
            facts: what is known of the request.
        """
        return (
            (self.api is None or self.api == facts.api)
            and (self.client_id is None or self.client_id == facts.client_id)
            and (self.topic is None or self.topic in facts.topics)
        )

    def __repr__(self) -> str:
        names = ("api", "topic", "client_id", "after", "times", "error", "seconds", "nbytes", "handled")
        given = "".join(f", {name}={getattr(self, name)!r}" for name in names if getattr(self, name) not in (None, 0))
        return f"<FaultRule: {self.action.value}{given}; {self._hits} hits>"

    def take(self) -> bool:
        """Count a request that matches; whether the rule is for it. Called under the lock of `Faults`."""
        if self._to_pass > 0:
            self._to_pass -= 1
            return False
        with self._heard:
            if self.times is not None and self._hits >= self.times:
                return False
            self._hits += 1
            self._heard.notify_all()
        return True


class Faults:
    """The faults of one broker. `Match` and `Times` say what the arguments of all methods have in common."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: tuple[FaultRule, ...] = ()

    # -- rules for requests -------------------------------------------------------------------------------------------

    def fail(self, error: int | type[BrokerResponseError], **match: Unpack[Match]) -> FaultRule:
        """Answer with an error (a class of `kafka.errors` or a code), and do not carry the request out.

        Arguments:
            error: the class or the code.
            match: which requests, see `Match`.

        With `topic` only the request's entries of this topic are answered so; the others are served.
        """
        return self._add(Action.ERROR, match, error=_code(error))

    def delay(self, seconds: float, *, handled: bool = False, **match: Unpack[Match]) -> FaultRule:
        """Carry the request out `seconds` later; with `handled` at once, and only its answer is late.

        Arguments:
            seconds: how long.
            handled: whether only the answer waits.
            match: which requests, see `Match`.
        """
        return self._add(Action.DELAY, match, seconds=seconds, handled=handled)

    def drop_answers(self, *, handled: bool = False, **match: Unpack[Match]) -> FaultRule:
        """Never answer the request, nor any later one on its connection, which stays open: a peer gone silent.

        Arguments:
            handled: whether the request is carried out.
            match: which requests, see `Match`.

        With `handled` the request is carried out. Without `api` the broker accepts connections and never answers.
        """
        return self._add(Action.SILENCE, match, handled=handled)

    def hang_up(self, *, handled: bool = False, **match: Unpack[Match]) -> FaultRule:
        """Close the connection in place of an answer; with `handled` after the request is carried out.

        Arguments:
            handled: whether the request is carried out.
            match: which requests, see `Match`.
        """
        return self._add(Action.CLOSE, match, handled=handled)

    def cut_answers(self, nbytes: int, **match: Unpack[Match]) -> FaultRule:
        """Carry the request out, send the first `nbytes` bytes of its answer (size included), and close.

        Arguments:
            nbytes: how many bytes are sent.
            match: which requests, see `Match`.
        """
        return self._add(Action.CUT, match, nbytes=nbytes, handled=True)

    # -- rules for connections ----------------------------------------------------------------------------------------

    def refuse_connections(self, **times: Unpack[Times]) -> FaultRule:
        """Close new connections as soon as they are accepted.

        Arguments:
            times: which connections, see `Times`.
        """
        return self._add(Action.REFUSE_CONNECTION, times)

    def cut_connections(self, nbytes: int, **times: Unpack[Times]) -> FaultRule:
        """Close new connections once `nbytes` bytes were sent on them, within an answer if need be.

        Arguments:
            nbytes: how many bytes are sent.
            times: which connections, see `Times`.
        """
        return self._add(Action.CUT_CONNECTION, times, nbytes=nbytes)

    # -- keeping them -------------------------------------------------------------------------------------------------

    @property
    def rules(self) -> tuple[FaultRule, ...]:
        """The rules in the order in which they are tried."""
        return self._rules

    def clear(self) -> None:
        """Remove all rules."""
        with self._lock:
            self._rules = ()

    def _add(
        self,
        action: Action,
        which: Times,
        *,
        error: int = 0,
        seconds: float = 0.0,
        nbytes: int = 0,
        handled: bool = False,
    ) -> FaultRule:
        known = Times if action in CONNECTION_ACTIONS else Match
        for name in which:
            if name not in known.__optional_keys__:
                hint = "; did you mean 'times'?" if name in _FOR_TIMES else ""
                raise TypeError(f"a fault takes no {name!r}, but {', '.join(sorted(known.__optional_keys__))}{hint}")
        rule = FaultRule(
            self, action, error=error, seconds=seconds, nbytes=nbytes, handled=handled, **cast("Match", which)
        )
        with self._lock:
            self._rules = (*self._rules, rule)
        return rule

    def _remove(self, rule: FaultRule) -> None:
        with self._lock:
            self._rules = tuple(one for one in self._rules if one is not rule)

    # -- what the broker asks -----------------------------------------------------------------------------------------

    def for_connection(self) -> FaultRule | None:
        """The rule for a connection that was just accepted."""
        with self._lock:
            return next((one for one in self._rules if one.action in CONNECTION_ACTIONS and one.take()), None)

    def for_request(self, facts: RequestFacts) -> FaultRule | None:
        """The rule for a request.

        Arguments:
            facts: what is known of the request.
        """
        with self._lock:
            return next(
                (
                    one
                    for one in self._rules
                    if one.action not in CONNECTION_ACTIONS and one.matches(facts) and one.take()
                ),
                None,
            )


def _code(error: object) -> int:
    """The code of an error; raises `TypeError` for anything else."""
    code = error.errno if isinstance(error, type) and issubclass(error, BrokerResponseError) else error
    if isinstance(code, int) and not isinstance(code, bool):
        return code
    raise TypeError(
        f"expected a class of kafka.errors that has a code of Kafka's, such as NotLeaderForPartitionError, or such a "
        f"code, got {type(error).__name__}: {error!r}"
    )


def _api_name(api: str | int | None) -> str | None:
    if api is None:
        return None
    name = _NAMES.get(api) if isinstance(api, int) else api
    if name not in _NAMES.values():
        raise KafkaConfigurationError(
            f"{api!r} is not an API of the embedded broker: it serves {', '.join(_NAMES.values())}"
        )
    return name
