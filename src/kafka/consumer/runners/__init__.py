"""How a caller's thread, or its event loop, drives the core: it waits, and runs listeners and callbacks.

These modules stand on top of the other parts, and only the public classes import them. They may import
`kafka.consumer.core` and all below it.
"""
