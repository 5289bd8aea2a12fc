"""When the caller last polled, which `max_poll_interval_ms` is compared with."""


class PollClock:
    """Written by the caller's thread in `poll()` and iteration, read by the heartbeat on the loop.

    Times are the loop's, in seconds.
    """

    __slots__ = ("_inside", "_last", "progressed")

    def __init__(self, now: float) -> None:
        self._last = now
        self._inside = 0
        self.progressed = False
        """Set by iteration for each record; the heartbeat turns it into a time, so no record costs a clock read."""

    def begin(self, now: float) -> None:
        """The caller is inside `poll()` now, for as long as it likes."""
        self._inside += 1
        self._last = now

    def end(self, now: float) -> None:
        """The caller has left `poll()`."""
        self._inside -= 1
        self._last = now

    def idle(self, now: float) -> float:
        """Seconds since the caller was last seen; 0 while it is inside `poll()`."""
        if self.progressed:
            self.progressed = False
            self._last = now
        return 0.0 if self._inside else now - self._last
