"""The end of ``with producer:``: what leaving the block raises, beside what its `close()` does."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import types

    from kafka.producer.core import ProducerCore

log = logging.getLogger(__name__)


class BlockEnd:
    """A context manager around the `close()` that ends a producer's block.

    A block that ended well has what `flush` would have raised raised after the closing, so that no record is lost in
    silence. The error of one that failed goes on: what the closing raises is logged then, unless it is an interrupt.

    Arguments:
        core: the producer; None: it was never started.
        error: what the block raised.
    """

    def __init__(self, core: ProducerCore | None, error: BaseException | None) -> None:
        self._core = core
        self._block_failed = error is not None

    def __enter__(self) -> None:
        if self._core is not None:
            self._core.keep_failures = not self._block_failed

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> bool:
        if error is None:
            if not self._block_failed and self._core is not None:
                self._core.raise_failures()
            return False
        if self._core is not None:
            self._core.keep_failures = False  # the closing may go on, and logs them then
        if self._block_failed and isinstance(error, Exception):
            log.warning("closing a producer whose block has failed: %s", error)
            return True
        return False
