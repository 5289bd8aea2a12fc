# The parts of Python's public C API that materialize.py uses, where Cython declares other types or nothing.

cdef extern from "Python.h":
    ctypedef struct PyTypeObject
    void Py_SET_TYPE(object thing, PyTypeObject* kind)
    void PyObject_GC_UnTrack(object thing)
    int PyGC_Disable()
    int PyGC_Enable()
