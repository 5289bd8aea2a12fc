# What future.py uses of Python's C API and Cython does not declare with the right types.

cdef extern from "Python.h":
    ctypedef struct PyTypeObject
    object PyType_GenericAlloc(PyTypeObject* kind, Py_ssize_t items)
    void PyObject_GC_UnTrack(void* thing)
