"""What is said of acquired records, as it is kept and sent: pieces of columns, ranges, gaps, damage."""

from __future__ import annotations

import pickle
from collections import deque
from uuid import UUID

import pytest

from kafka.consumer.buffer.partition_response import SharedFrame
from kafka.consumer.share.acquired import Acquired, DecodeOptions, InFlight, Range, in_order
from kafka.consumer.share.materializer import ShareConsumerRecord, to_arrow
from kafka.consumer.share.piece import AcknowledgeType, Piece
from kafka.errors import CorruptRecordError, IllegalStateError
from kafka.record import BatchBuilder, batch_headers, set_offsets
from kafka.structs import TopicPartition

A = AcknowledgeType
TP, TOPIC_ID = TopicPartition("t", 0), UUID(int=7)
OPTIONS = DecodeOptions(True, 1 << 20)


def batch(base: int, count: int) -> bytes:
    builder = BatchBuilder(2)
    for number in range(count):
        builder.append(1000, None, b"%d" % (base + number), ())
    data = memoryview(bytearray(builder.build()))
    set_offsets(data, next(batch_headers(data)), base, 0)
    return bytes(data)


def acquired(data: bytes, *ranges: tuple[int, int, int]) -> Acquired:
    found = in_order(Range(*one) for one in ranges)
    return Acquired(TP, TOPIC_ID, 1, found, memoryview(data), SharedFrame(None))


def pieces(data: bytes, *ranges: tuple[int, int, int]) -> list[Piece]:
    found = acquired(data, *ranges).decode(OPTIONS)
    assert found.error is None
    for piece in found.pieces:
        piece.handed = len(piece)
    return found.pieces


def values(piece: Piece) -> list[bytes | None]:
    return [piece.columns.value(row) for row in range(len(piece))]


def flight(*given: Piece) -> InFlight:
    made = InFlight()
    made.pieces = list(given)
    return made


def sent(in_flight: InFlight) -> list[tuple[int, int, list[int]]]:
    return [(first, last, list(types)) for acks in in_flight.take() for first, last, types in acks.batches]


def test_only_acquired_records_of_a_batch_are_in_pieces() -> None:
    [one, two] = pieces(batch(0, 10), (2, 4, 1), (8, 8, 3))
    assert (values(one), one.delivery_count) == ([b"2", b"3", b"4"], 1)
    assert (values(two), two.delivery_count) == ([b"8"], 3)


def test_a_whole_range_is_accepted_with_one_type() -> None:
    in_flight = flight(*pieces(batch(0, 10), (2, 4, 1), (8, 8, 3)))
    in_flight.accept_all()
    assert sent(in_flight) == [(2, 4, [1]), (8, 8, [1])]
    assert in_flight.pieces == []
    assert sent(in_flight) == []


def test_each_record_may_have_another_type_and_some_none() -> None:
    in_flight = flight(*pieces(batch(0, 5), (0, 4, 1)))
    for offset, kind in ((0, A.ACCEPT), (1, A.REJECT), (4, A.RELEASE)):
        in_flight.acknowledge("t", 0, offset, kind)
    assert in_flight.is_open
    assert sent(in_flight) == [(0, 1, [1, 3]), (4, 4, [2])]
    with pytest.raises(IllegalStateError, match="has already been acknowledged"):
        in_flight.acknowledge("t", 0, 0, A.ACCEPT)
    in_flight.acknowledge("t", 0, 2, A.ACCEPT)
    in_flight.acknowledge("t", 0, 3, A.ACCEPT)
    assert not in_flight.is_open
    assert sent(in_flight) == [(2, 3, [1])]
    assert in_flight.pieces == []


@pytest.mark.parametrize("place", [("t", 1, 2), ("u", 0, 2), ("t", 0, 5)])
def test_only_returned_records_can_be_acknowledged(place: tuple[str, int, int]) -> None:
    in_flight = flight(*pieces(batch(0, 5), (0, 4, 1)))
    with pytest.raises(IllegalStateError, match="this consumer did not receive it"):
        in_flight.acknowledge(*place, A.ACCEPT)


def test_offsets_without_records_are_gaps() -> None:
    data = batch(0, 2) + batch(5, 1)
    in_flight = flight(*pieces(data, (0, 6, 1)))
    in_flight.acknowledge("t", 0, 1, A.RELEASE)
    assert sent(in_flight) == [(1, 4, [2, 0, 0, 0])], "6 is behind the records"
    in_flight.accept_all()
    assert sent(in_flight) == [(0, 0, [1]), (5, 5, [1])]
    [nothing] = pieces(batch(0, 1), (0, 0, 1))
    [only_gaps] = [Piece(TP, TOPIC_ID, 1, nothing.columns.slice(0, 0), 3, 4, 1, True)]
    assert sent(flight(only_gaps)) == [(3, 4, [0])]


def test_acquired_offsets_after_the_records_are_ignored() -> None:
    found = acquired(batch(0, 2) + batch(5, 1), (0, 2**60, 1), (2**60 + 5, 2**62, 1)).decode(OPTIONS)
    [piece] = found.pieces
    assert (piece.first, piece.last, found.beyond, found.error) == (0, 5, 6, None)
    assert acquired(batch(0, 3), (0, 2, 1)).decode(OPTIONS).beyond is None
    nothing = acquired(b"", (3, 2**60, 1)).decode(OPTIONS)
    assert (nothing.pieces, nothing.beyond) == ([], 3)


def test_repeated_ranges_are_returned_once() -> None:
    given = (2, 4, 1), (0, 9, 7), (4, 4, 1), (8, 6, 1), (-5, 3, 1)
    assert [(piece.first, piece.last) for piece in pieces(batch(0, 10), *given)] == [(2, 4), (5, 9)]
    assert in_order([Range(-5, -1, 1)]) == []


def test_long_gaps_take_no_memory() -> None:
    far = 2**40
    in_flight = flight(*pieces(batch(0, 2) + batch(far, 2), (0, far + 1, 1)))
    in_flight.accept_all()
    assert sent(in_flight) == [(0, 1, [1]), (2, far - 1, [0]), (far, far + 1, [1])]
    assert in_flight.pieces == []
    in_flight = flight(*pieces(batch(0, 2) + batch(far, 2), (0, far + 1, 1)))
    in_flight.acknowledge("t", 0, far, A.REJECT)
    assert sent(in_flight) == [(2, far - 1, [0]), (far, far, [3])]
    in_flight.accept_all()
    assert sent(in_flight) == [(0, 1, [1]), (far + 1, far + 1, [1])]


def test_unread_records_are_released_without_being_counted() -> None:
    broken = bytearray(batch(0, 3))
    broken[-1] ^= 1
    source = acquired(bytes(broken), (0, 2**60, 1))
    in_flight = InFlight()
    in_flight.refuse(source, source.decode(OPTIONS).refused)
    [acks] = in_flight.take()
    assert [(first, last, list(types)) for first, last, types in acks.batches] == [(0, 2, [3]), (3, 2**60, [2])]
    assert len(acks.offsets()) == 2**20 + 3


def test_renewed_rows_can_be_returned_again() -> None:
    in_flight = flight(*pieces(batch(0, 5), (0, 4, 2)))
    for offset, kind in enumerate((A.RENEW, A.RENEW, A.ACCEPT, A.ACCEPT, A.RENEW)):
        in_flight.acknowledge("t", 0, offset, kind)
    [acks] = in_flight.take()
    assert [(one.first, one.last, list(one.types)) for one in acks.batches] == [(0, 4, [4, 4, 1, 1, 4])]
    assert [(piece.first, piece.last, values(piece), piece.delivery_count) for piece in acks.renewed] == [
        (0, 1, [b"0", b"1"], 2),
        (4, 4, [b"4"], 2),
    ]
    assert acks.offsets() == {0, 1, 2, 3, 4}


def test_records_not_returned_by_iteration_are_not_accepted() -> None:
    [piece] = pieces(batch(0, 2) + batch(5, 2) + batch(8, 1), (0, 7, 1))
    piece.handed = 3
    in_flight, decoded = flight(piece), deque[Piece]()
    in_flight.put_back(decoded)
    in_flight.accept_all()
    assert sent(in_flight) == [(0, 5, [1, 1, 0, 0, 0, 1])]
    [rest] = decoded
    assert (values(rest), rest.first, rest.last, rest.has_gaps) == ([b"6"], 6, 7, True)
    rest.handed = 0
    in_flight.pieces = [rest]
    decoded.clear()
    in_flight.put_back(decoded)
    assert in_flight.pieces == []
    assert values(decoded[0]) == [b"6"]


def test_a_damaged_batch_is_rejected_and_the_rest_released() -> None:
    broken = bytearray(batch(3, 3))
    broken[-1] ^= 1
    found = acquired(batch(0, 3) + bytes(broken) + batch(6, 2), (0, 7, 1)).decode(OPTIONS)
    assert [values(piece) for piece in found.pieces] == [[b"0", b"1", b"2"]]
    assert found.refused == [(3, 5, A.REJECT), (6, 7, A.RELEASE)]
    assert isinstance(found.error, CorruptRecordError)
    assert "3 to 5 are rejected, 6 to 7 are released" in str(found.error)


def test_a_batch_with_an_unknown_codec_is_released() -> None:
    strange = bytearray(batch(0, 1))
    strange[22] |= 7
    found = acquired(bytes(strange), (0, 0, 1)).decode(DecodeOptions(False, 1 << 20))
    assert found.refused == [(0, 0, A.RELEASE)]
    assert found.error is not None


def test_a_record_has_the_count_of_its_deliveries() -> None:
    [piece] = pieces(batch(0, 2), (0, 1, 3))
    plain = piece.columns.to_records()
    [record, _] = piece.columns.to_records(cls=ShareConsumerRecord, more=3)
    assert isinstance(record, ShareConsumerRecord)
    assert (record.delivery_count, record.offset, record.value) == (3, 0, b"0")
    assert record[:13] == plain[0]
    assert record._asdict()["delivery_count"] == 3
    assert record._replace(delivery_count=4).delivery_count == 4
    assert repr(record).endswith("delivery_count=3)")
    again = pickle.loads(pickle.dumps(record))
    assert (type(again), again) == (ShareConsumerRecord, record)
    with pytest.raises(TypeError, match="14 fields"):
        record._make([1])
    with pytest.raises(ValueError, match="nonsense"):
        record._replace(nonsense=1)


def test_arrow_batches_have_the_count_too() -> None:
    pytest.importorskip("pyarrow")
    found = to_arrow(pieces(batch(0, 5), (0, 1, 1), (4, 4, 2)))
    assert found.column("delivery_count").to_pylist() == [1, 1, 2]
    assert found.column("offset").to_pylist() == [0, 1, 4]
    assert to_arrow([]).schema == found.schema
