# The numbers of kinds.py, for compiled modules. tests/unit/wire/test_declarations.py compares them.

cdef enum:
    INT8 = 0
    INT16 = 1
    UINT16 = 2
    INT32 = 3
    INT64 = 4
    FLOAT64 = 5
    BOOL = 6
    STRING = 7
    BYTES = 8
    RECORDS = 9
    UUID = 10
    ARRAY = 11
    STRUCT = 12
