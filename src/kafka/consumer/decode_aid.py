"""A second pair of hands for decoding: a part of one partition is decoded in a thread of its own while the caller
decodes another, or uses what it has.

Decompressing takes most of the time and lets go of the GIL. A thread lives for one part, some milliseconds, so that
there is none to stop when a consumer is closed or the process forks; the interpreter waits for it at its exit.
"""

import threading
from collections.abc import Iterable

from kafka.consumer.fetched import DecodedFetch, Fetched
from kafka.consumer.partition_state import PartitionState
from kafka.net import parallel
from kafka.record import BatchDecoder, Columns

_WORTH_BYTES = 128 * 1024
"""How many compressed bytes take so long that a thread for them pays."""


class _Task:
    """The decoding of one part."""

    __slots__ = ("columns", "done", "error", "item", "raised")

    def __init__(self, item: Fetched) -> None:
        self.item = item
        self.done = threading.Event()
        self.columns: Columns | None = None
        self.error: Exception | None = None
        self.raised: BaseException | None = None

    def run(self, decoder: BatchDecoder, max_bytes: int) -> None:
        """Decode; whatever it raises is kept for `DecodeAid.take`."""
        try:
            self.columns, self.error = decoder.part(max_bytes)
        except BaseException as error:  # handed over to the caller, whatever it is
            self.raised = error
        self.done.set()


class DecodeAid:
    """See the module. All methods are called in the caller's thread.

    Arguments:
        check_crcs: see `BatchDecoder`.
        read_committed: see `BatchDecoder`.
        processors: how many there are; with one there is nothing to win. None: those this process may use.
    """

    def __init__(self, check_crcs: bool, read_committed: bool, processors: int | None = None) -> None:
        self._check_crcs = check_crcs
        self._read_committed = read_committed
        self._usable = (parallel.processors() if processors is None else processors) > 1
        self._task: _Task | None = None

    @property
    def is_done(self) -> bool:
        """Whether there is a part that `take` need not wait for."""
        return self._task is not None and self._task.done.is_set()

    @property
    def partition(self) -> PartitionState | None:
        """Whose part is being decoded, or has been and is not taken yet."""
        return self._task.item.state if self._task is not None else None

    def has(self, item: object) -> bool:
        """Whether the next part of an item is being decoded, or has been: it has to be had from `take`."""
        return self._task is not None and self._task.item is item

    def offer(self, waiting: Iterable[PartitionState], max_bytes: int) -> None:
        """Begin with the next part of the first partition of which that pays, if nothing is in hand.

        Nobody else may touch that item until `take` or `abandon`.
        """
        if self._task is not None or not self._usable:
            return
        for state in waiting:
            item = state.items[0] if state.current is None and state.items and not state.paused else None
            if isinstance(item, Fetched) and item.packed_bytes >= _WORTH_BYTES:
                self._begin(item, max_bytes)
                return

    def take(self) -> DecodedFetch:
        """The part that is in hand, as `Fetched.decode` gives it; waits until it is done."""
        task = self._task
        assert task is not None
        task.done.wait()
        self._task = None
        if task.raised is not None:
            raise task.raised
        assert task.columns is not None
        return task.item.accept(task.columns, task.error)

    def abandon(self, item: object) -> None:
        """Nobody wants the part of an item any more: it is finished, and forgotten."""
        if self.has(item):
            self._task = None

    def _begin(self, item: Fetched, max_bytes: int) -> None:
        task, frame = _Task(item), item.frame
        decoder = item.decoder(self._check_crcs, self._read_committed)

        def work() -> None:
            try:
                task.run(decoder, max_bytes)
            finally:
                if frame is not None:
                    frame.release()

        if frame is not None:
            frame.retain()
        try:
            threading.Thread(target=work, name="kafka-decode", daemon=False).start()
        except RuntimeError:  # no thread can be had: the caller decodes everything
            self._usable = False
            if frame is not None:
                frame.release()
            return
        self._task = task
