"""Tries the container files of `deploy` without containers: ``make container-trials``.

`containerfile.py` parses a file, `stages.py` runs its steps in folders with chroot, `processes.py` runs the result like
a container (its own processes, network and read-only root, an unprivileged user), and `__main__.py` is the trial: does
each file build, does the health check pass, does a client reach it, and does SIGTERM stop it?

This needs root and Linux. It does not need Docker or Podman, and it does not replace a build with one of them: the base
image is a Debian system from debootstrap with a copy of a Python of this machine, not the image that the files name.
"""
