"""kafka-python's import path of `OffsetCommitContext`, from 0.9 to 1.4."""

from kafka.legacy.offset_commit_context import OffsetCommitContext as OffsetCommitContext
