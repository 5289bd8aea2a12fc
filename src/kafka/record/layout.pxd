# The numbers of layout.py, for compiled modules. tests/unit/record/test_layout.py compares the two.

cdef enum:
    LENGTH_AT = 8
    LOG_OVERHEAD = 12
    MAGIC_AT = 16
    MIN_LENGTH = 14
    EPOCH_AT = 12
    CRC_AT = 17
    ATTRIBUTES_AT = 21
    LAST_OFFSET_DELTA_AT = 23
    BASE_TIMESTAMP_AT = 27
    MAX_TIMESTAMP_AT = 35
    PRODUCER_ID_AT = 43
    COUNT_AT = 57
    HEADER_SIZE = 61
    MIN_RECORD_SIZE = 7
    MESSAGE_CRC_AT = 12
    MESSAGE_CHECKED_FROM = 16
    MESSAGE_ATTRIBUTES_AT = 17
    MESSAGE_TIMESTAMP_AT = 18
    KEY_SIZE_AT_0 = 18
    KEY_SIZE_AT_1 = 26
    MIN_MESSAGE_SIZE = 26
    CODEC_MASK = 0x07
    LOG_APPEND_TIME = 0x08
    TRANSACTIONAL = 0x10
    CONTROL = 0x20

cdef extern from *:
    """
    #define KAFKA_MAX_OFFSET 0x3FFFFFFFFFFFFFFFLL
    """
    const long long MAX_OFFSET "KAFKA_MAX_OFFSET"
