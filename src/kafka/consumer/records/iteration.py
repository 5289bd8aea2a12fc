"""Iteration over a consumer: `for record in consumer`, one record a time, positions moving with them.

A record counts as handed out when it is yielded, so a commit in the loop's body commits up to and with it. What was
taken from the buffer and not yielded goes back there.
"""

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator

from kafka.consumer.core import ConsumerCore
from kafka.consumer.handover.fetched import Slice
from kafka.consumer.records.materialize import Materializer
from kafka.record import ConsumerRecord


class RecordIterator:
    """One run of iteration, from the first record to the end, an error, or a `poll()` that takes over.

    Arguments:
        core: the consumer's.
        take: waits for slices; none when the time for waiting is up or the consumer is closed.
        attend: does what the group and the automatic commit ask for.
        materializer: makes records.
    """

    def __init__(
        self,
        core: ConsumerCore,
        take: Callable[[], list[Slice]],
        attend: Callable[[], None],
        materializer: Materializer,
    ) -> None:
        self._core = core
        self._take = take
        self._attend = attend
        self._materializer = materializer
        self._pieces: deque[Slice] = deque()
        self.finished = False
        self.run: Generator[ConsumerRecord, None, None] = self._run()

    def stop(self) -> None:
        """End it, and put back what has not been yielded."""
        self.run.close()

    def _run(self) -> Generator[ConsumerRecord, None, None]:
        try:
            while not self._core.closed:
                self._pieces.extend(self._take())
                if not self._pieces:
                    return
                while self._pieces:
                    yield from self._records_of(self._pieces[0])
                    self._pieces.popleft()
        finally:
            self.finished = True
            self._put_back()

    def _records_of(self, piece: Slice) -> Iterator[ConsumerRecord]:
        core, state, generation = self._core, piece.state, piece.generation
        if state.generation != generation:
            return
        records, error = self._materializer.records(piece)
        clock = core.clock
        for record in records:
            if core.attention:
                self._attend()
            if state.generation != generation:  # a seek, or a rebalance
                return
            clock.progressed = True
            state.position = record.offset + 1
            yield record
        if state.generation != generation:
            return
        if error is not None:
            state.position = error.offset
            raise error
        piece.advance()

    def _put_back(self) -> None:
        put_back(self._core, self._pieces)


class AsyncRecordIterator:
    """The same in asyncio.

    Arguments:
        core, take, attend, materializer: as for `RecordIterator`; ``take`` and ``attend`` are coroutine functions.
    """

    def __init__(
        self,
        core: ConsumerCore,
        take: Callable[[], Awaitable[list[Slice]]],
        attend: Callable[[], Awaitable[None]],
        materializer: Materializer,
    ) -> None:
        self._core = core
        self._take = take
        self._attend = attend
        self._materializer = materializer
        self._pieces: deque[Slice] = deque()
        self.finished = False
        self.run: AsyncGenerator[ConsumerRecord, None] = self._run()

    async def stop(self) -> None:
        """End it, and put back what has not been yielded."""
        await self.run.aclose()

    async def _run(self) -> AsyncGenerator[ConsumerRecord, None]:
        try:
            while not self._core.closed:
                self._pieces.extend(await self._take())
                if not self._pieces:
                    return
                while self._pieces:
                    piece = self._pieces[0]
                    state, generation = piece.state, piece.generation
                    records, error = self._materializer.records(piece) if piece.is_current else ([], None)
                    for record in records:
                        if self._core.attention:
                            await self._attend()
                        if state.generation != generation:  # a seek, or a rebalance
                            break
                        self._core.clock.progressed = True
                        state.position = record.offset + 1
                        yield record
                    if error is not None and state.generation == generation:
                        state.position = error.offset
                        raise error
                    piece.advance()
                    self._pieces.popleft()
        finally:
            self.finished = True
            put_back(self._core, self._pieces)


def put_back(core: ConsumerCore, pieces: deque[Slice]) -> None:
    """Give slices back to the buffer, the first from the position on."""
    left = list(pieces)
    pieces.clear()
    if left:
        first = left[0]
        if first.is_current and first.state.position is not None:
            left[0] = first.from_offset(first.state.position)
        core.buffer.unread(left)
