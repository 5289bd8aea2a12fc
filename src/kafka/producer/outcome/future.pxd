# What future.py uses of Python's C API and Cython does not declare with the right types.

cdef extern from "Python.h":
    ctypedef struct PyTypeObject
    # a function behind a macro that asks for a C type
    object PyObject_GC_NewVar "(PyObject *)_PyObject_GC_NewVar" (PyTypeObject* kind, Py_ssize_t items)
    void PyObject_GC_UnTrack(void* thing)
