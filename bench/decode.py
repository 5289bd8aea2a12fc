"""`python -m bench.decode`: how fast batches become columns and records, and records batches, on one core.

JSON values, to columns and back, too.

Prints a line a case: the best of several rounds, in millions of records of 100 bytes a second of processor time, so
that what else runs on the machine counts little. No broker is needed. `--quick` makes one round of them.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Mapping

import pyarrow as pa

from bench import json_values
from kafka import _variant
from kafka.record import ArrowRows, BatchBuilder, Compression, batch_headers, decode_batches, set_offsets

RECORDS = 100_000
ROUNDS = 15
QUICK = "--quick" in sys.argv[1:]
"""One round, which shows that it works."""
VALUE_SIZE = 100


def values(count: int) -> list[bytes]:
    """Values of 100 bytes that compress to about a third, as JSON does."""
    rng = random.Random(1)
    words = [b'"carrier":', b'"origin":"JFK",', b'"dest":"LAX",', b'"delay":', b'"hour":', b"null,", b"true,"]
    made = []
    for _ in range(count):
        text = b"{"
        while len(text) < VALUE_SIZE:
            text += rng.choice(words) + b"%d," % rng.randrange(1000)
        made.append(text[:VALUE_SIZE])
    return made


def partition_data(count: int, per_batch: int, codec: Compression) -> bytes:
    """What a fetch of one partition holds."""
    log = bytearray()
    payloads = values(per_batch)
    for base in range(0, count, per_batch):
        builder = BatchBuilder(2, codec)
        for index, value in enumerate(payloads[: count - base]):
            builder.append(1_700_000_000_000 + base + index, None, value)
        batch = bytearray(builder.build())
        set_offsets(batch, next(batch_headers(batch)), base, 0)
        log += batch
    return bytes(log)


def best_rate(run: Callable[[], object], count: int) -> float:
    """The best of the rounds, in records a second."""
    best = float("inf")
    for _ in range(1 if QUICK else ROUNDS):
        start = time.process_time()
        result = run()
        best = min(best, time.process_time() - start)
        del result
    return count / best


def best_rates(cases: Mapping[str, Callable[[], object]], count: int) -> dict[str, float]:
    """The best of the rounds of each case, in records a second; in a round, all cases take their turn."""
    best = dict.fromkeys(cases, float("inf"))
    for _ in range(1 if QUICK else ROUNDS):
        for title, run in cases.items():
            start = time.process_time()
            result = run()
            best[title] = min(best[title], time.process_time() - start)
            del result
    return {title: count / seconds for title, seconds in best.items()}


def report(title: str, rate: float) -> None:
    """Print one line."""
    print(f"{title:<58} {rate / 1e6:7.2f} M records/s  {1e9 / rate:7.0f} ns a record", flush=True)


def decoding() -> None:
    """Bytes to columns, for each codec and for large and small batches."""
    for per_batch in (10_000, 150, 5):
        for codec in (Compression.NONE, Compression.LZ4, Compression.SNAPPY, Compression.ZSTD, Compression.GZIP):
            data = partition_data(RECORDS, per_batch, codec)
            if len(decode_batches(data)) != RECORDS:
                raise SystemExit(f"{codec.name}: expected {RECORDS} records, got {len(decode_batches(data))}")
            rate = best_rate(lambda data=data: decode_batches(data), RECORDS)  # type: ignore[misc]
            report(f"decode_batches, {codec.name.lower()}, {per_batch} records a batch", rate)


def views() -> None:
    """Columns to records, 500 at a time as poll() does, and to Arrow."""
    columns = decode_batches(partition_data(RECORDS, 10_000, Compression.NONE), topic="flights", partition=0)
    few = columns.slice(0, 500)
    report("to_records, 500 at a time", best_rate(lambda: [few.to_records() for _ in range(20)], 500 * 20))
    report("to_arrow", best_rate(columns.to_arrow, RECORDS))
    report("to_arrow, Spark's schema", best_rate(lambda: columns.to_arrow(schema="spark"), RECORDS))


def encoding() -> None:
    """Records to batches of 16 KiB, and Arrow to batches of 1 MiB."""
    payloads = values(140)

    def build() -> None:
        for _ in range(20):
            builder = BatchBuilder(size_limit=16384)
            append = builder.append
            for value in payloads:
                append(1_700_000_000_000, None, value, ())
            builder.build()

    report("BatchBuilder, append and build, 16 KiB", best_rate(build, 20 * len(payloads)))
    table = pa.table({"key": [b"%d" % n for n in range(RECORDS)], "value": values(RECORDS)})
    report("ArrowRows, checking", best_rate(lambda: ArrowRows(table), RECORDS))
    rows = ArrowRows(table)
    report("ArrowRows, murmur2 over 8 partitions", best_rate(lambda: rows.partitions(8), RECORDS))
    for codec in (Compression.NONE, Compression.LZ4, Compression.ZSTD):
        rate = best_rate(lambda codec=codec: rows.encode(rows.all_rows(), compression=codec), RECORDS)  # type: ignore[misc]
        report(f"ArrowRows, encode, {codec.name.lower()}", rate)


def main() -> None:
    """Run all cases."""
    print(f"kafka.record, {_variant.variant()}, records with values of {VALUE_SIZE} bytes, one core")
    decoding()
    views()
    encoding()
    print("values of seven fields", flush=True)
    for title, run in json_values.cases(RECORDS):
        report(title, best_rate(run, RECORDS))


if __name__ == "__main__":
    main()
