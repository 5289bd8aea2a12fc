"""One module a client; a module has a function for each task that the client can do, named as the task.

A function connects, then does the task and tells the `Watch`. All use larger fetches and batches than their defaults,
the same for all (constants of `bench.job`), and each client's own recommended way to do the task.
"""
