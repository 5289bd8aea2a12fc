"""The stages of a trip, and the table that assigns each function to one. When functions move, change `TABLE`."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import CodeType

from bench import ROOT

STAGES = (
    "append",
    "batch",
    "frame request",
    "write",
    "loop iteration",
    "read",
    "frame response",
    "decode",
    "hand-out",
    "wake-up",
    "other",
)
"""In the order in which a record passes through them. `append` to `write` also occur for fetch requests, as `hand-out`
does for acknowledgements."""
PROGRAM = "the program"
"""What the measured program does itself: not part of the trip's cost."""
CALLER = "caller"
"""A helper, whose calls belong to the stage of the function that calls it."""
UNKNOWN = "unknown"
"""A function of this package that the table omits."""

TABLE: tuple[tuple[str, str], ...] = (
    # Functions whose modules have several stages.
    ("kafka/producer/core.py:ProducerCore.append*", "append"),
    ("kafka/producer/batch/producer_batch.py:ProducerBatch.add_waiter", "wake-up"),
    ("kafka/producer/batch/producer_batch.py:ProducerBatch.wait", "wake-up"),
    ("kafka/producer/batch/producer_batch.py:ProducerBatch.succeed", "hand-out"),
    ("kafka/producer/batch/producer_batch.py:ProducerBatch._finish", "hand-out"),
    ("kafka/producer/batch/shared_queues.py:SharedQueues.wake", "wake-up"),
    ("kafka/producer/batch/shared_queues.py:SharedQueues._tell_sender", "wake-up"),
    ("kafka/producer/send/produce_requests.py:ProduceRequests._answer*", "hand-out"),
    ("kafka/producer/send/sender.py:Sender._settle*", "hand-out"),
    ("kafka/consumer/fetch/*:*answered", "frame response"),
    ("kafka/consumer/fetch/*:*take_answer", "frame response"),
    ("kafka/consumer/fetch/*:FetchSession.target_of_answer", "frame response"),
    ("kafka/consumer/fetch/broker_fetcher.py:_FetchReply.done", "frame response"),
    ("kafka/consumer/fetch/broker_fetcher.py:_FetchReply.set_*", "frame response"),
    ("kafka/consumer/fetch/broker_fetcher.py:BrokerFetcher._over", "frame response"),
    ("kafka/net/frame_stream.py:Stream.get_buffer", "read"),
    ("kafka/net/frame_stream.py:Stream.buffer_updated", "read"),
    ("kafka/net/frame_stream.py:FrameCutter*", "frame response"),
    ("kafka/net/connection.py:Connection._transmit", "write"),
    ("kafka/net/pending_requests.py:Reply.*", "frame response"),
    ("kafka/net/pending_requests.py:InFlight*.pop", "frame response"),
    ("kafka/net/statistics.py:*", "other"),
    ("kafka/wire/framing.py:decode_*", "frame response"),
    ("asyncio/base_events.py:BaseEventLoop.call_soon_threadsafe", "wake-up"),
    ("asyncio/selector_events.py:*._read_from_self", "wake-up"),
    ("asyncio/selector_events.py:*._write_to_self", "wake-up"),
    ("asyncio/selector_events.py:*._read_ready*", "read"),
    ("asyncio/selector_events.py:*.write*", "write"),
    ("asyncio/unix_events.py:*._process_self_data", "wake-up"),
    # Modules of the producer.
    ("kafka/producer/appending/*", "append"),
    ("kafka/producer/_*/*", "append"),
    ("kafka/producer/*producer.py:*", "append"),
    ("kafka/partitioner/*", "append"),
    ("kafka/serializer/*", "append"),
    ("kafka/producer/batch/*", "batch"),
    ("kafka/producer/core.py:*", "batch"),
    ("kafka/producer/send/batch_results.py:*", "hand-out"),
    ("kafka/producer/send/produce_requests.py:*", "frame request"),
    ("kafka/producer/send/*", "batch"),
    ("kafka/producer/idempotence.py:*", "batch"),
    ("kafka/producer/transactions/*", "batch"),
    ("kafka/producer/delivery/*", "hand-out"),
    ("kafka/producer/*future.py:*", "hand-out"),
    ("kafka/producer/producer_statistics.py:*", "other"),
    ("kafka/producer/runners.py:*", "wake-up"),
    ("kafka/record/batch_headers.py:*", "batch"),
    ("kafka/record/builder.py:*", "batch"),
    # Modules of the consumer.
    ("kafka/consumer/fetch/response_handler.py:*", "decode"),
    ("kafka/consumer/fetch/*", "frame request"),
    ("kafka/consumer/buffer/partition_response.py:*", "decode"),
    ("kafka/consumer/buffer/decode_ahead.py:*", "decode"),
    ("kafka/consumer/buffer/fetch_statistics.py:*", "other"),
    ("kafka/consumer/buffer/*", "hand-out"),
    ("kafka/consumer/records/*", "hand-out"),
    ("kafka/consumer/runners/*", "wake-up"),
    ("kafka/consumer/*/poll_loop.py:*", "wake-up"),
    ("kafka/consumer/parts.py:*", "wake-up"),
    ("kafka/consumer/position/*", "other"),
    ("kafka/consumer/subscription/*", "other"),
    ("kafka/consumer/commit/*", "other"),
    ("kafka/consumer/*", "hand-out"),
    ("kafka/record/*", "decode"),
    # What both use.
    ("kafka/wire/structs.py:*", CALLER),
    ("kafka/wire/decoder.py:*", "frame response"),
    ("kafka/wire/*", "frame request"),
    ("kafka/net/frame_stream.py:*", "write"),
    ("kafka/net/buffers.py:*", "read"),
    ("kafka/net/receiver.py:*", "frame response"),
    ("kafka/net/broker_versions.py:*", "frame request"),
    ("kafka/net/connection.py:*", "frame request"),
    ("kafka/net/pending_requests.py:*", "frame request"),
    ("kafka/net/*", "wake-up"),
    ("kafka/cluster/telemetry/*", "other"),
    ("kafka/cluster/metadata_updater.py:*", "other"),
    ("kafka/cluster/*", "frame request"),
    ("kafka/coordinator/*", "other"),
    ("kafka/metrics/*", "other"),
    ("kafka/interceptor/*", "append"),
    ("kafka/structs.py:*", CALLER),
    ("kafka/_loop_services.py:*", "loop iteration"),
    # The standard library. What is not listed is a helper.
    ("asyncio/selector_events.py:*", "loop iteration"),
    ("asyncio/base_events.py:*", "loop iteration"),
    ("asyncio/*events.py:*", "loop iteration"),
    ("asyncio/*", "wake-up"),
    ("selectors.py:*", "loop iteration"),
    ("threading.py:Condition.*", "wake-up"),
    ("threading.py:Event.*", "wake-up"),
)
"""Patterns of `file:function`, and the stage; the first that fits counts. `*` also matches slashes, dots and colons."""
_SOURCES = f"{ROOT / 'src'}/"
_LIBRARY = f"{Path(sys.modules['threading'].__file__ or '').parent}/"


def name_of(code: CodeType) -> str:
    """Return `file:function`, with the file below `src`, below the standard library, or below this checkout."""
    file = code.co_filename
    for folder in (_SOURCES, _LIBRARY, f"{ROOT}/"):
        file = file.removeprefix(folder)
    return f"{file}:{code.co_qualname}"


@cache
def stage_of(name: str) -> str:
    """Return the stage of a function, or `PROGRAM`, `CALLER` or `UNKNOWN`.

    Arguments:
        name: `file:function`, as `name_of` returns it.
    """
    for pattern, stage in TABLE:
        if fnmatchcase(name, pattern):
            return stage
    if name.startswith("bench/"):
        return PROGRAM
    return UNKNOWN if name.startswith("kafka/") else CALLER
