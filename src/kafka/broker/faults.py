"""Fault injection: a test makes the broker fail by API, topic, client and number of requests.

`EmbeddedBroker.faults` is a `Faults`. Each of its methods adds a rule and returns it. Methods with "connections" in
their names affect connections, like those of `kafka.testing.Network`; all others affect requests and their responses.
The first rule that matches a request applies, in the order in which rules were added. A rule that has been hit `times`
times is skipped. Any thread may add, read and remove rules, and they survive a restart of the broker.
"""

import operator
import threading
import time
from collections.abc import Collection
from enum import Enum
from numbers import Real
from typing import Any, Final, NamedTuple, TypedDict, Unpack, cast

from kafka.broker.api import APIS
from kafka.errors import BrokerResponseError, KafkaConfigurationError

_FOR_TIMES: Final = frozenset({"count", "hits", "limit", "max", "n", "number"})
"""Argument names that users try instead of `times`, for a hint in the error message."""
_NAMES: Final = {api.key: api.name for api in APIS.values()}


class Action(Enum):
    """The effect of a rule of `Faults` on a request or on a connection; the values describe it."""

    ERROR = "answer with an error"
    """Answer with an error."""
    DELAY = "wait"
    """Answer later."""
    SILENCE = "never answer"
    """Never answer."""
    CLOSE = "close the connection instead of answering"
    """Close the connection instead of answering."""
    CUT = "close the connection in the middle of the answer"
    """Close the connection in the middle of the answer."""
    REFUSE_CONNECTION = "close a connection as soon as it is accepted"
    """Close a connection as soon as it is accepted."""
    CUT_CONNECTION = "close a connection after sending some bytes"
    """Close a connection after sending some bytes."""


CONNECTION_ACTIONS: Final = frozenset({Action.REFUSE_CONNECTION, Action.CUT_CONNECTION})


class RequestFacts(NamedTuple):
    """The properties of a request that are matched against fault rules.

    Arguments:
        api: Kafka's name for the request.
        topics: the topics in the request.
        client_id: the client's id.
    """

    api: str
    topics: Collection[str]
    client_id: str


class Times(TypedDict, total=False):
    """Specifies which of the matching requests (or connections) a rule applies to."""

    after: int
    """Number of matching requests (or connections) to serve normally first."""
    times: int | None
    """Number of requests (or connections) to which the rule then applies; None: all."""


class Match(Times, total=False):
    """The requests to which a rule applies. All given conditions must match."""

    api: str | int | None
    """Kafka's name for the request ("Produce") or its key (0); None: any request."""
    topic: str | None
    """A topic in the request, by name or by id; None: any topic."""
    client_id: str | None
    """The client's id; None: any client."""


class FaultRule:
    """A fault rule. `hits` counts the requests (or connections) to which it was applied.

    Arguments:
        faults: the faults to which the rule belongs.
        action: the effect of the rule.
        api: Kafka's name for the request, or its key; None: any.
        topic: a topic in the request; None: any.
        client_id: the client's id; None: any.
        after: number of matches to serve normally first.
        times: number of matches to which the rule then applies; None: all.
        error: the error code of the response.
        seconds: the delay in seconds.
        nbytes: number of bytes to send before the connection is closed.
        handled: whether the request is executed.
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
        after, nbytes = _whole("after", after), _whole("nbytes", nbytes)
        times = None if times is None else _whole("times", times)
        seconds = _seconds(seconds)
        self.action: Final = action
        self.api: Final = _api_name(api)
        self.topic: Final = topic
        self.client_id: Final = client_id
        self.times: Final = times
        self.error: Final = error
        self.seconds: Final = seconds
        self.nbytes: Final = nbytes
        self.handled: Final = handled
        """Whether the request is executed, so that only its response is affected."""
        self.after: Final = after
        self._to_pass = after
        self._hits = 0
        self._faults = faults
        self._heard = threading.Condition()

    @property
    def hits(self) -> int:
        """Number of requests (or connections) to which the rule has been applied."""
        return self._hits

    def wait(self, hits: int = 1, timeout_s: float = 10.0) -> bool:
        """Wait until the rule has been hit. Returns False on timeout. Do not call it on the broker's thread.

        Arguments:
            hits: number of hits to wait for.
            timeout_s: maximum time to wait, in seconds.
        """
        deadline = time.monotonic() + timeout_s
        with self._heard:
            while self._hits < hits:
                left = deadline - time.monotonic()
                if left <= 0 or not self._heard.wait(left):
                    return self._hits >= hits
        return True

    def remove(self) -> None:
        """Remove the rule, so that it matches no further request. What it has caused so far remains."""
        self._faults._remove(self)

    def matches(self, facts: RequestFacts) -> bool:
        """Return whether the rule matches a request.

        Arguments:
            facts: the request's properties.
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
        """Count a matching request, and return whether the rule applies to it.

        The caller must hold the lock of `Faults`.
        """
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
    """The fault rules of a broker. `Match` and `Times` describe the arguments that the methods share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: tuple[FaultRule, ...] = ()

    # -- rules for requests -------------------------------------------------------------------------------------------

    def fail(self, error: int | type[BrokerResponseError], **match: Unpack[Match]) -> FaultRule:
        """Respond with an error (a class of `kafka.errors` or an error code) instead of executing the request.

        Arguments:
            error: the class or the code.
            match: the affected requests; see `Match`.

        With `topic` only the request's entries for this topic fail; the others are served.
        """
        return self._add(Action.ERROR, match, error=_code(error))

    def delay(self, seconds: float, *, handled: bool = False, **match: Unpack[Match]) -> FaultRule:
        """Execute the request after `seconds`; with `handled`, execute it at once and delay only its response.

        Arguments:
            seconds: the delay.
            handled: whether to delay only the response.
            match: the affected requests; see `Match`.
        """
        return self._add(Action.DELAY, match, seconds=seconds, handled=handled)

    def drop_answers(self, *, handled: bool = False, **match: Unpack[Match]) -> FaultRule:
        """Like an unresponsive broker, keep the connection open but never respond to this request, nor to later ones.

        Arguments:
            handled: whether the request is executed.
            match: the affected requests; see `Match`.

        Without `api` the broker accepts connections but never responds.
        """
        return self._add(Action.SILENCE, match, handled=handled)

    def hang_up(self, *, handled: bool = False, **match: Unpack[Match]) -> FaultRule:
        """Close the connection instead of responding; with `handled`, execute the request first.

        Arguments:
            handled: whether the request is executed.
            match: the affected requests; see `Match`.
        """
        return self._add(Action.CLOSE, match, handled=handled)

    def cut_answers(self, nbytes: int, **match: Unpack[Match]) -> FaultRule:
        """Execute the request, but close the connection after the first `nbytes` bytes of the response.

        Arguments:
            nbytes: number of bytes to send, including the size field.
            match: the affected requests; see `Match`.
        """
        return self._add(Action.CUT, match, nbytes=nbytes, handled=True)

    # -- rules for connections ----------------------------------------------------------------------------------------

    def refuse_connections(self, **times: Unpack[Times]) -> FaultRule:
        """Close new connections as soon as they are accepted.

        Arguments:
            times: the affected connections; see `Times`.
        """
        return self._add(Action.REFUSE_CONNECTION, times)

    def cut_connections(self, nbytes: int, **times: Unpack[Times]) -> FaultRule:
        """Close new connections after sending `nbytes` bytes on them, even in the middle of a response.

        Arguments:
            nbytes: number of bytes to send.
            times: the affected connections; see `Times`.
        """
        return self._add(Action.CUT_CONNECTION, times, nbytes=nbytes)

    # -- the list of rules --------------------------------------------------------------------------------------------

    @property
    def rules(self) -> tuple[FaultRule, ...]:
        """The rules, in the order in which they are tried."""
        return self._rules

    def clear(self) -> None:
        """Remove all rules, so that the broker answers every further request as usual."""
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
                raise TypeError(
                    f"a fault has no argument {name!r}, only {', '.join(sorted(known.__optional_keys__))}{hint}"
                )
        rule = FaultRule(
            self, action, error=error, seconds=seconds, nbytes=nbytes, handled=handled, **cast("Match", which)
        )
        with self._lock:
            self._rules = (*self._rules, rule)
        return rule

    def _remove(self, rule: FaultRule) -> None:
        with self._lock:
            self._rules = tuple(one for one in self._rules if one is not rule)

    # -- for the broker -----------------------------------------------------------------------------------------------

    def for_connection(self) -> FaultRule | None:
        """Return the rule that applies to a newly accepted connection, or None."""
        with self._lock:
            return next((one for one in self._rules if one.action in CONNECTION_ACTIONS and one.take()), None)

    def for_request(self, facts: RequestFacts) -> FaultRule | None:
        """Return the rule that applies to a request, or None.

        Arguments:
            facts: the request's properties.
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


def _whole(name: str, value: Any) -> int:
    """Return a count as an int. Raises `TypeError` if it is no integer of any type, `ValueError` if it is negative."""
    number = _index(value)
    if number is None:
        raise TypeError(f"{name} of a fault: expected a whole number, got {value!r} ({type(value).__name__})")
    if number < 0:
        raise ValueError(f"{name} of a fault: expected a whole number of at least 0, got {value!r}")
    return number


def _seconds(value: Any) -> float:
    """Return a delay as a float. Raises `TypeError` for what is no number, and `ValueError` for a negative or NaN."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"seconds of a fault: expected a number of seconds, got {value!r} ({type(value).__name__})")
    number = float(value)
    if not number >= 0:  # or not a number
        raise ValueError(f"seconds of a fault: expected a number of seconds of at least 0, got {value!r}")
    return number


def _code(error: object) -> int:
    """Return the code of an error class, or the given code; raises `TypeError` for other values."""
    code = _index(error.errno if isinstance(error, type) and issubclass(error, BrokerResponseError) else error)
    if code is not None:
        return code
    raise TypeError(
        f"expected a class of kafka.errors with a Kafka error code, such as NotLeaderForPartitionError, or such a "
        f"code, got {type(error).__name__}: {error!r}"
    )


def _index(value: Any) -> int | None:
    """Return an integer of any type, such as NumPy's, as an int; None for a boolean and for other values."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def _api_name(api: str | int | None) -> str | None:
    if api is None:
        return None
    key = _index(api)
    name = _NAMES.get(key) if key is not None else api if isinstance(api, str) else None
    if name not in _NAMES.values():
        raise KafkaConfigurationError(
            f"{api!r} is not an API of the embedded broker: it serves {', '.join(_NAMES.values())}"
        )
    return name
