"""Makes records of pieces, and deserializes their keys and values. What fails is released, and told."""

from kafka.consumer.records.build_records import FailedRow, RecordBuilder
from kafka.consumer.records.consumer_records import ConsumerRecords
from kafka.consumer.records.record_errors import deserialization_error, failure_of, is_about_record
from kafka.consumer.share.acknowledge_type import AcknowledgeType
from kafka.consumer.share.acquired import Refused
from kafka.consumer.share.core import ShareCore
from kafka.consumer.share.piece import Piece
from kafka.consumer.share.share_record import ShareConsumerRecord
from kafka.record import ConsumerRecord
from kafka.record.materialize import Deserialize
from kafka.structs import TopicPartition

_RELEASED = "the record is released, to be delivered again up to the group's limit of deliveries"
_CHOICE = "; acknowledge(topic, partition, offset, AcknowledgeType.REJECT) before the next poll() gives it up instead"


class ShareMaterializer:
    """Makes records of pieces.

    Arguments:
        key_deserializer, value_deserializer: called with topic, bytes (None for null) and headers; None: the bytes are
            kept.
    """

    def __init__(self, key_deserializer: Deserialize | None, value_deserializer: Deserialize | None) -> None:
        self._builder = RecordBuilder(key_deserializer, value_deserializer, ShareConsumerRecord)

    def records(self, core: ShareCore, pieces: list[Piece]) -> ConsumerRecords:
        """The records of pieces by partition.

        If one cannot be deserialized, the list of pieces is cut before it. If it is the very first, it is released, and
        its error raised; if the error is not about the record, it is not released, and comes with the next call.
        """
        gathered: dict[TopicPartition, list[ConsumerRecord]] = {}
        for number, piece in enumerate(pieces):
            made, failed = self.made(piece)
            if made:
                gathered.setdefault(piece.tp, []).extend(made)
            if failed is not None:
                if not gathered:
                    self.check_about_record(piece, failed)
                    raise self._refuse(core, piece, failed)
                if made:
                    core.cut(piece, failed.row)
                del pieces[number + bool(made) :]
                break
        return ConsumerRecords(gathered)

    def made(self, piece: Piece) -> tuple[list[ConsumerRecord], FailedRow | None]:
        """The records of a piece, up to the first that cannot be deserialized."""
        return self._builder.build(piece.columns, piece.delivery_count)

    @staticmethod
    def check_about_record(piece: Piece, failed: FailedRow) -> None:
        """Raise what a deserializer raised if it is not about the record."""
        if not is_about_record(failed.cause):
            [record] = piece.columns.slice(failed.row, failed.row + 1).to_records()
            raise failure_of(record, failed.part, failed.cause)

    def _refuse(self, core: ShareCore, piece: Piece, failed: FailedRow) -> Exception:
        """Release a record, the first of a piece that is next, and go on behind it; returns the error to raise."""
        core.cut(piece, failed.row + 1)
        core.drop(piece)
        return self.refuse(core, piece, failed)

    @staticmethod
    def refuse(core: ShareCore, piece: Piece, failed: FailedRow) -> Exception:
        """Release a record; returns the error to raise."""
        [record] = piece.columns.slice(failed.row, failed.row + 1).to_records()
        offset = record.offset
        core.in_flight.refuse(piece, [Refused(offset, offset, AcknowledgeType.RELEASE)])
        advice = _RELEASED if core.is_implicit else _RELEASED + _CHOICE
        return deserialization_error(record, failed.part, failed.cause, advice)
