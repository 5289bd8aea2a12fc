"""Two ways to drive the core, in the caller's thread or on its event loop: each waits, and runs user functions.

These modules are above the other parts, and only the public classes import them. They may import `kafka.consumer.core`
and the modules below it.
"""
