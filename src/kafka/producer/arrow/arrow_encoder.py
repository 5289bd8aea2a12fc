"""Encodes rows as batches, without an object per row, into the same queues that `send()` fills.

With slow compression, other threads encode the next rows meanwhile, where there are processors for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from kafka.errors import KafkaError, KafkaTimeoutError, MessageSizeTooLargeError
from kafka.net import helper_threads
from kafka.producer.appending.checks import PartitionGone
from kafka.producer.arrow.arrow_tables import as_rows
from kafka.producer.batch.memory_pool import Reservation
from kafka.producer.batch.producer_batch import ProducerBatch
from kafka.producer.batch.reencode import are_named, regroup
from kafka.producer.core import ProducerCore
from kafka.record import Buffer, decode_batches
from kafka.record.arrow_rows import ArrowRows
from kafka.record.codecs import CODECS
from kafka.structs import TopicPartition

_BATCH_BYTES = 256 * 1024
"""Size of batches of rows in bytes, or `batch_size` if larger; linger_ms does not apply to rows."""
_CHUNK_BYTES = 8 * 1024 * 1024
_WORTH_BYTES = 2 * 1024 * 1024
"""Minimum bytes per thread that make compressing in several threads worthwhile; with less, batches are less full."""
_MOST_HELPERS = 3


class EncodedRows(NamedTuple):
    """Rows that make a batch.

    Arguments:
        partition: where they go.
        generation: of the topic when that was chosen, see `TopicQueues`.
        named: see `BatchFields`.
        data: the batch.
        rows: how many they are.
        sizes: see `ProducerBatch.encoded`.
    """

    partition: int
    generation: int
    named: list[int] | None
    data: Buffer
    rows: int
    sizes: tuple[int, int] = (0, 0)


class ArrowEncoder:
    """Encodes the rows of one table or batch as batches, chunk by chunk, and adds them to the producer's queues.

    Arguments:
        core: the producer.
        topic: where the rows go; its partitions are known.
        data: the rows, see `as_rows`.
    """

    def __init__(self, core: ProducerCore, topic: str, data: Any) -> None:
        self._core = core
        self._topic = topic
        self._data = as_rows(data)
        self.rows: int = self._data.num_rows
        self._timestamp_ms = core.now_ms()
        self.batches: list[ProducerBatch] = []
        """All batches that were added to a queue."""
        self._first_partition = core.random_partition(topic)
        codec = CODECS.get(core.buffer.options.compression)
        # Fast codecs take less time than the broker needs to write: more threads would only compete with it.
        is_slow = codec is not None and codec.slow_from is not None
        self._helpers = min(helper_threads.processors() - 1, _MOST_HELPERS) if is_slow else 0

    def chunks(self) -> Iterator[list[EncodedRows]]:
        """Iterate over the chunks' batches, encoding each chunk when it is requested."""
        return helper_threads.results_in_order(self._chunks(), self._helpers)

    def progress(self) -> _Progress:
        """Add the number of accepted rows to a `KafkaTimeoutError` raised inside the block."""
        return _Progress(self.batches, self.rows)

    def encode(self, start: int, stop: int) -> list[EncodedRows]:
        """Encode some rows as batches, partition by partition."""
        rows = ArrowRows(self._data.slice(start, stop - start))
        options = self._core.buffer.options
        limit = self._core.config.producer.max_request_size
        count, generation = self._core.buffer.count_and_generation(self._topic)
        by_partition: list[tuple[int, EncodedRows]] = []
        for number, numbers in enumerate(
            rows.partitions(
                count,
                first_partition=(self._first_partition + start) % count,
                ignore_keys=self._core.config.producer.partitioner_ignore_keys,
            )
        ):
            for encoded in rows.encode(
                numbers,
                magic=self._core.buffer.magic,
                compression=options.compression,
                compression_level=options.compression_level,
                max_batch_bytes=min(max(options.batch_size, _BATCH_BYTES), limit),
                timestamp_ms=self._timestamp_ms,
            ):
                if len(encoded.data) > limit:
                    raise MessageSizeTooLargeError(
                        f"a row for topic {self._topic!r} takes {len(encoded.data)} bytes, more than max_request_size "
                        f"({limit}); {_sent_so_far(self.batches)} of {self.rows} rows are on their way"
                    )
                named = rows.named(numbers, encoded.first, encoded.count)
                sizes = encoded.raw_size, encoded.largest_record
                made = EncodedRows(number, generation, named, encoded.data, encoded.count, sizes)
                by_partition.append((encoded.first, made))
        by_partition.sort(key=lambda each: each[0])  # partitions side by side, not one after the other
        return [made for _, made in by_partition]

    def _chunks(self) -> Iterator[Callable[[], list[EncodedRows]]]:
        """What encodes slices that take little of the memory that the producer may use, and equally long."""
        rows, size = self.rows, self._data.nbytes
        limit = max(min(_CHUNK_BYTES, self._core.buffer.options.buffer_memory // 4), 1)
        count = -(-size // limit)
        together = self._helpers + 1
        if size >= together * _WORTH_BYTES:
            count = -(-count // together) * together
        step = max(-(-rows // max(count, 1)), 1)
        for start in range(0, rows, step):
            yield partial(self.encode, start, min(start + step, rows))

    def enqueue(self, rows: EncodedRows, reserved: Reservation) -> None:
        """Add a batch to its queue, using the memory in `reserved`, which equals its size.

        Raises `IllegalArgumentError` if the topic was recreated without a partition that a row names.
        """
        place = TopicPartition(self._topic, rows.partition)
        try:
            batch = self._core.buffer.add_encoded(
                place, rows.data, rows.rows, reserved, rows.sizes, generation=rows.generation, named=rows.named
            )
        except PartitionGone:
            for part in self._partition_anew(place, rows):
                self.enqueue(part, reserved)
        else:
            self.batches.append(batch)

    def _partition_anew(self, place: TopicPartition, rows: EncodedRows) -> list[EncodedRows]:
        """Encode the same rows for the partitions of the recreated topic."""
        count, generation = self._core.buffer.count_and_generation(self._topic)
        columns = decode_batches(rows.data, check_crcs=False)
        named = are_named(rows.named, len(columns))
        targets = self._core.default_choice.targets(place, columns, named, count, ())
        refusals = [target for target in targets if isinstance(target, KafkaError)]
        if refusals:
            raise type(refusals[0])(
                f"{refusals[0]}; {_sent_so_far(self.batches)} of {self.rows} rows are on their way"
            ) from refusals[0]
        parts, _ = regroup(rows.data, columns, targets, named, self._core.buffer.options)
        return [
            EncodedRows(target, generation, part.named, part.data, part.records)
            for target, part in parts.items()
            if isinstance(target, int)
        ]


class _Progress:
    """Adds the number of accepted rows to an error."""

    def __init__(self, batches: list[ProducerBatch], rows: int) -> None:
        self.batches = batches
        self._rows = rows

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, KafkaTimeoutError):
            raise KafkaTimeoutError(
                f"{error.args[0]}; {_sent_so_far(self.batches)} of {self._rows} rows are on their way"
            ) from error


def _sent_so_far(batches: Sequence[ProducerBatch]) -> int:
    return sum(batch.count for batch in batches)
