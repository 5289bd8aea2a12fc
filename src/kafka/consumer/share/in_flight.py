"""Records that were handed out and not acknowledged. Belongs to the caller."""

from collections import deque
from collections.abc import Iterable
from uuid import UUID

from kafka.consumer.share.acquired import Acquired, Refused
from kafka.consumer.share.piece import AckBatch, Acknowledgements, AcknowledgeType, Piece
from kafka.errors import IllegalStateError
from kafka.structs import TopicPartition


class InFlight:
    """See the module.

    Attributes:
        pieces: the pieces that were handed out, in order.
        refused: acknowledgements to send for offsets that could not be decoded or deserialized.
    """

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.refused: list[tuple[TopicPartition, UUID, int, Refused]] = []

    def acknowledge(self, topic: str, partition: int, offset: int, kind: AcknowledgeType) -> None:
        """Note the program's acknowledgement of a record; raises `IllegalStateError` for one that it does not have."""
        for piece in self.pieces:
            tp = piece.tp
            if piece.first <= offset <= piece.last and tp.partition == partition and tp.topic == topic:
                row = piece.row_of(offset)
                if row is not None:
                    piece.say(row, kind)
                    return
        for at, (tp, topic_id, node_id, refused) in enumerate(self.refused):
            if refused.first == offset == refused.last and (tp.topic, tp.partition) == (topic, partition):
                self.refused[at] = tp, topic_id, node_id, refused._replace(kind=kind)
                return
        raise IllegalStateError(
            f"the record at offset {offset} of partition {partition} of topic {topic!r} cannot be acknowledged: this "
            "consumer did not receive it, or has already acknowledged it"
        )

    def refuse(self, source: Acquired | Piece, refused: Iterable[Refused]) -> None:
        """Note offsets that could not be decoded or deserialized."""
        self.refused += [(source.tp, source.topic_id, source.node_id, one) for one in refused]

    def accept_all(self) -> None:
        """Accept the records that were handed out and not acknowledged."""
        for piece in self.pieces:
            piece.accept_rest()

    @property
    def is_open(self) -> bool:
        """Whether a record that was handed out is not acknowledged."""
        return any(piece.is_open for piece in self.pieces)

    def put_back(self, decoded: deque[Piece]) -> None:
        """Give back records that were taken and not handed out, as iteration leaves them."""
        if not any(piece.handed < len(piece) for piece in self.pieces):
            return
        rests = [rest for piece in self.pieces if (rest := piece.split()) is not None]
        self.pieces = [piece for piece in self.pieces if len(piece) or piece.has_gaps]
        decoded.extendleft(reversed(rests))

    def cut(self, piece: Piece, row: int) -> Piece | None:
        """Cut a piece that iteration has begun, or is about to, before a row; returns the rest, if there is one."""
        piece.handed = row
        rest = piece.split()
        piece.handed = 0
        if rest is not None:
            place = next(place for place, one in enumerate(self.pieces) if one is piece)
            self.pieces.insert(place + 1, rest)
        return rest

    def drop(self, piece: Piece) -> None:
        """Remove a piece that the program does not get after all."""
        self.pieces = [one for one in self.pieces if one is not piece]

    def take(self) -> list[Acknowledgements]:
        """Take the acknowledgements to send, by partition and broker; rows without one stay."""
        found: dict[tuple[TopicPartition, UUID, int], Acknowledgements] = {}

        def of(tp: TopicPartition, topic_id: UUID, node_id: int) -> Acknowledgements:
            key = tp, topic_id, node_id
            return found.setdefault(key, Acknowledgements(*key))

        for piece in self.pieces:
            if piece.is_said:
                acks = of(piece.tp, piece.topic_id, piece.node_id)
                batches, renewed = piece.take()
                acks.batches += [AckBatch(*batch) for batch in batches]
                acks.renewed += renewed
        for tp, topic_id, node_id, refused in self.refused:
            of(tp, topic_id, node_id).batches.append(AckBatch(refused.first, refused.last, bytes((refused.kind,))))
        self.pieces, self.refused = [piece for piece in self.pieces if not piece.is_done], []
        made = [acks for acks in found.values() if acks.batches]
        for acks in made:
            acks.sort()
        return made
