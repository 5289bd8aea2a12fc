# The numbers of read_status.py, for compiled modules. tests/unit/record/test_layout.py compares the two.

cdef enum:
    OK = 0
    BAD_LENGTH = 1
    BAD_VARINT = 2
    BAD_DELTA = 3
    BAD_HEADER = 4
    BAD_SIZE = 5
    BAD_MAGIC = 6
    NEED_HEADER_ROOM = 7
