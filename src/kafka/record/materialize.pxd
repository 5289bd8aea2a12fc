# What materialize.py uses of Python's C API (its public part) and Cython does not declare with the right types.

cdef extern from "Python.h":
    ctypedef struct PyTypeObject
    void Py_SET_TYPE(object thing, PyTypeObject* kind)
    void PyObject_GC_UnTrack(object thing)
    int PyGC_Disable()
    int PyGC_Enable()
