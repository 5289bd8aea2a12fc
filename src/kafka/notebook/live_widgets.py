"""The widgets `LagWidget` and `RateWidget`, on anywidget, which works in JupyterLab, Notebook, VS Code and Colab.

The browser gets one synchronized value, `data`, of limited size; `static/live.js` draws it. All texts are set as text,
so names of topics cannot contain markup. `data` is also what tests look at.
"""

from __future__ import annotations

import pathlib
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, ClassVar

import anywidget
import traitlets

from kafka.config.table import parse_admin
from kafka.display.time_charts import segments
from kafka.errors import IllegalArgumentError
from kafka.notebook.measurements import GroupLag, Measurement, Measures, TopicRates
from kafka.notebook.sampler import Sampler, State

MOST_ROWS = 20
"""Maximum number of rows; those with the largest values are shown."""
MOST_POINTS = 300
"""Maximum number of points of the chart."""
_MOST_TEXT = 300
_LEAST_INTERVAL_S = 0.1
_STATIC = pathlib.Path(__file__).parent / "static"
_QUICK = {"bootstrap_timeout_ms": 5_000, "request_timeout_ms": 10_000}
"""Options unless the user gives others, so that a broker that is gone shows soon."""


class LiveWidget(anywidget.AnyWidget):
    """A widget that measures a cluster while it is shown.

    It starts when it is created. If the last cell that shows it is closed or run again, it pauses; if it is shown
    again, it continues. `stop` ends it for good and keeps the values; `close` removes it from the page, too.
    Interrupting the kernel stops cells, not widgets.

    Arguments:
        title: the heading.
        unit: the unit of the values.
        measures: asks the cluster.
        interval_s: seconds between two measurements.
        configs: options of `KafkaAdminClient`.

    Raises:
        IllegalArgumentError: the interval is shorter than 0.1 seconds.
        KafkaConfigurationError: an option is wrong.
    """

    _esm: ClassVar[pathlib.Path] = _STATIC / "live.js"
    _css: ClassVar[pathlib.Path] = _STATIC / "live.css"
    data = traitlets.Dict().tag(sync=True)

    def __init__(self, title: str, unit: str, measures: Measures, interval_s: float, configs: dict[str, Any]) -> None:
        if not interval_s >= _LEAST_INTERVAL_S:
            raise IllegalArgumentError(f"interval_s: expected at least {_LEAST_INTERVAL_S} seconds, got {interval_s!r}")
        configs = {**_QUICK, **configs}
        parse_admin(configs)  # an error belongs to the cell, not to the thread
        self._heading = {"title": title[:_MOST_TEXT], "unit": unit}
        self._measures, self._configs, self._interval_s = measures, configs, float(interval_s)
        self._points: deque[tuple[float, float]] = deque(maxlen=MOST_POINTS)
        self._newest = Measurement({})
        self._views = 0
        self._stopped = False
        self._sampler: Sampler | None = None
        super().__init__(data=self._shown("starting", ""))
        self.on_msg(self._on_message)
        self.start()

    @property
    def state(self) -> State:
        """ "starting", "live", "unreachable" or "stopped"."""
        found: State = self.data["state"]
        return found

    @property
    def total(self) -> float | None:
        """The newest sum of all values; None before the first measurement."""
        return self._newest.total

    def start(self) -> None:
        """Measure again after a pause. Does nothing if it runs, or after `stop`."""
        if self._stopped or (self._sampler is not None and self._sampler.is_running):
            return
        self._sampler = Sampler(self._measures, self._configs, self._told, self._interval_s)
        self._sampler.start()

    def stop(self) -> None:
        """Stop to measure, and show that. The thread has ended when this returns. May be called repeatedly."""
        self._stopped = True
        self._pause()
        if self.comm is not None:
            self.data = self._shown("stopped", "")

    def close(self) -> None:
        """Stop, and remove the widget from the page."""
        self._stopped = True
        self._pause()
        super().close()

    def __repr__(self) -> str:
        total = "" if self.total is None else f", total {self.total:,.6g} {self._heading['unit']}"
        return f"<{type(self).__name__}: {self._heading['title']}, {self.state}{total}>"

    def _pause(self) -> None:
        sampler, self._sampler = self._sampler, None
        if sampler is not None:
            sampler.stop()

    def _on_message(self, widget: object, content: Any, buffers: object) -> None:
        """Count the views in the browser; `static/live.js` tells of each."""
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind == "shown":
            self._views += 1
            self.start()
        elif kind == "hidden":
            self._views = max(0, self._views - 1)
            if not self._views:
                self._pause()

    def _told(self, state: State, found: Measurement | None, problem: str) -> None:
        """Show a result; runs on the sampler's thread."""
        if found is not None:
            self._newest = found
            if found.total is not None:
                self._points.append((round(time.time(), 3), found.total))
        if not self._stopped:
            self.data = self._shown(state, problem)

    def _shown(self, state: State, problem: str) -> dict[str, Any]:
        rows = sorted(self._newest.rows.items(), key=lambda row: -1 if row[1] is None else row[1], reverse=True)
        return {
            **self._heading,
            "state": state,
            "problem": problem[:_MOST_TEXT],
            "note": self._newest.note[:_MOST_TEXT],
            "total": self._newest.total,
            "rows": [[name, value] for name, value in rows[:MOST_ROWS]],
            "more": max(0, len(rows) - MOST_ROWS),
            "segments": segments(list(self._points)),
            "interval": self._interval_s,
        }


def _name(expected: str, given: object) -> str:
    if not isinstance(given, str) or not given:
        raise IllegalArgumentError(f"{expected}, got {given!r:.80}")
    return given


class LagWidget(LiveWidget):
    """Shows the lag of a group: its total, a chart, and the partitions that lag most.

    Arguments:
        group: the id of a consumer group; share groups have no committed offsets.
        interval_s: seconds between two measurements.
        configs: options of `KafkaAdminClient`, such as ``bootstrap_servers``.

    Raises:
        IllegalArgumentError: the group is not a name, or the interval is shorter than 0.1 seconds.
        KafkaConfigurationError: an option is wrong.
    """

    def __init__(self, group: str, *, interval_s: float = 2.0, **configs: Any) -> None:
        name = _name("group: expected the id of a group", group)
        super().__init__(f"Lag of {name}", "records", GroupLag(name), interval_s, configs)


class RateWidget(LiveWidget):
    """Shows how many records per second are written to topics: the sum, a chart, and each topic.

    Arguments:
        topics: a topic, or several.
        interval_s: seconds between two measurements.
        configs: options of `KafkaAdminClient`, such as ``bootstrap_servers``.

    Raises:
        IllegalArgumentError: there is no topic, or the interval is shorter than 0.1 seconds.
        KafkaConfigurationError: an option is wrong.
    """

    def __init__(self, topics: str | Sequence[str], *, interval_s: float = 2.0, **configs: Any) -> None:
        given = [topics] if isinstance(topics, str) else list(topics)
        names = [_name("topics: expected names of topics", each) for each in given]
        if not names:
            raise IllegalArgumentError("topics: expected at least one topic")
        title = f"Rate of {', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"
        super().__init__(title, "records/s", TopicRates(names), interval_s, configs)
