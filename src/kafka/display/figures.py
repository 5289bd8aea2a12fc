"""Matplotlib figures (the extra "plot"): `Figure`, which notebooks display, and a chart of partition lag."""

import io
from collections.abc import Mapping

from matplotlib.figure import Figure as _Figure


class Figure(_Figure):
    """A figure that notebooks display without pyplot; it does not need to be closed."""

    def _repr_png_(self) -> bytes:
        """Return the PNG image for a notebook."""
        picture = io.BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()


LARGEST_DRAWN = 20
"""Maximum number of bars; only the partitions with the largest lag are shown."""
_BAR_INCHES, _FRAME_INCHES, _WIDTH_INCHES = 0.3, 1.2, 9


def lag_figure(of: str, lags: Mapping[str, int | None]) -> Figure:
    """Draw a bar chart of the lag of each partition.

    Arguments:
        of: the group or consumer whose lag is shown.
        lags: the lag by partition name; None if the lag is unknown.
    """
    most = sorted(lags, key=lambda name: lags[name] or -1, reverse=True)[:LARGEST_DRAWN]
    drawn = [name for name in lags if name in set(most)]
    figure = Figure(figsize=(_WIDTH_INCHES, _FRAME_INCHES + _BAR_INCHES * max(1, len(drawn))), layout="constrained")
    axes = figure.subplots()
    bars = axes.barh(range(len(drawn)), [lags[name] or 0 for name in drawn])
    texts = [_text(lags[name]) for name in drawn]
    axes.bar_label(bars, texts, padding=3)
    axes.set_yticks(range(len(drawn)), drawn, parse_math=False)
    axes.invert_yaxis()
    axes.margins(x=0.15)  # leave room for the label of the longest bar
    axes.set_xlim(left=0)
    axes.set_xlabel("lag (offsets)")
    axes.set_title(_title(of, lags, len(drawn)), parse_math=False)
    return figure


def _text(lag: int | None) -> str:
    return "not known" if lag is None else f"{lag:,}"


def _title(of: str, lags: Mapping[str, int | None], drawn: int) -> str:
    known = [lag for lag in lags.values() if lag is not None]
    total = f"{sum(known):,}" if known or not lags else "not known"
    part = f"; the {drawn} of {len(lags)} partitions that lag most" if drawn < len(lags) else ""
    return f"lag of {of}: {total}{part}"
