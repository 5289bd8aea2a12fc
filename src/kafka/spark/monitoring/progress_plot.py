"""Plots the lag, rates and durations of queries (requires the extra "plot")."""

import datetime
from collections.abc import Callable, Sequence

from kafka.display.figures import Figure
from kafka.spark.monitoring.progress_reports import QueryProgress

LARGEST_DRAWN = 10
"""Maximum number of partitions with a line of their own; these are the partitions with the largest lag."""

Series = dict[str, tuple[list[datetime.datetime], list[float]]]


def plot_progress(progress: Sequence[QueryProgress]) -> Figure:
    """Plot lag by partition, rows per second and seconds per micro-batch over time, in three diagrams."""
    figure = Figure(figsize=(10, 8), layout="constrained")
    lag, rate, duration = figure.subplots(3, sharex=True)
    for axes, label, series in (
        (lag, "lag (offsets)", _largest(_lags(progress))),
        (rate, "rows per second", _series(progress, lambda each: each.rows / each.seconds if each.seconds else 0.0)),
        (duration, "seconds per micro-batch", _series(progress, lambda each: each.seconds)),
    ):
        for name, (times, values) in series.items():
            axes.plot(times, values, label=name, marker=".", linewidth=1)
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        if series:
            axes.legend(loc="upper left", fontsize="small")
    figure.autofmt_xdate()
    return figure


def _series(progress: Sequence[QueryProgress], value: Callable[[QueryProgress], float]) -> Series:
    series: Series = {}
    for each in progress:
        times, values = series.setdefault(each.query, ([], []))
        times.append(datetime.datetime.fromisoformat(each.time))
        values.append(value(each))
    return series


def _lags(progress: Sequence[QueryProgress]) -> Series:
    several = len({each.query for each in progress}) > 1
    series: Series = {}
    for each in progress:
        for source in each.sources:
            for partition, found in source.partitions.items():
                if found.lag is None:
                    continue
                name = f"{partition.topic}-{partition.partition}"
                times, values = series.setdefault(f"{each.query}: {name}" if several else name, ([], []))
                times.append(datetime.datetime.fromisoformat(each.time))
                values.append(found.lag)
    return series


def _largest(series: Series) -> Series:
    """Return the series with the largest values; a plot of all partitions could be illegible."""
    names = sorted(series, key=lambda name: max(series[name][1]), reverse=True)[:LARGEST_DRAWN]
    return {name: series[name] for name in series if name in names}
