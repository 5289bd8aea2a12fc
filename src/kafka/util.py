"""kafka-python's import path of its helpers, from 0.9 on."""

from typing import Any

from kafka import _old_names
from kafka.coordinator.offset_arguments import LEGAL_TOPIC_NAME, LONGEST_TOPIC_NAME, check_topic_name
from kafka.legacy.byte_strings import MAX_INT as MAX_INT
from kafka.legacy.byte_strings import TO_SIGNED as TO_SIGNED
from kafka.legacy.byte_strings import crc32 as crc32
from kafka.legacy.byte_strings import kafka_bytestring as kafka_bytestring
from kafka.legacy.byte_strings import read_int_string as read_int_string
from kafka.legacy.byte_strings import read_short_string as read_short_string
from kafka.legacy.byte_strings import relative_unpack as relative_unpack
from kafka.legacy.byte_strings import write_int_string as write_int_string
from kafka.legacy.byte_strings import write_short_string as write_short_string
from kafka.legacy.declarations import EnumHelper as EnumHelper
from kafka.legacy.declarations import classproperty as classproperty
from kafka.legacy.declarations import synchronized as synchronized
from kafka.legacy.payloads import group_by_topic_and_partition as group_by_topic_and_partition
from kafka.legacy.timers import ReentrantTimer as ReentrantTimer
from kafka.legacy.timers import Timer as Timer
from kafka.legacy.weak_references import Dict as Dict
from kafka.legacy.weak_references import WeakMethod as WeakMethod
from kafka.legacy.weak_references import try_method_on_system_exit as try_method_on_system_exit

TOPIC_LEGAL_CHARS = LEGAL_TOPIC_NAME
TOPIC_MAX_LENGTH = LONGEST_TOPIC_NAME
ensure_valid_topic_name = check_topic_name


def __getattr__(name: str) -> Any:
    """Load a name that this module had in kafka-python because it imported it."""
    return _old_names.of_a_package(__name__, name, {})
