"""Figures of matplotlib (the extra "plot")."""

import io

from matplotlib.figure import Figure as _Figure


class Figure(_Figure):
    """A figure that notebooks show without pyplot and its settings; it belongs to whoever has it, and is never open."""

    def _repr_png_(self) -> bytes:
        """What a notebook shows."""
        picture = io.BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()
