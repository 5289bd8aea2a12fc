"""One module a client; a module has a function for each task that the client can do, named as the task.

A function connects, then does the task and tells the `Watch`. Each client does the task in its own best way and with
the settings that make it fastest here, which are not the same for all: they are constants at the top of its module.
"""
