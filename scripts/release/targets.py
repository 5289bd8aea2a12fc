"""For which systems wheels are built here, with zig as the compiler for libraries older than this machine's."""

from __future__ import annotations

import dataclasses
import platform


@dataclasses.dataclass(frozen=True)
class Target:
    """A system that wheels are for.

    Arguments:
        tag: the platform of the wheel's name.
        triple: how zig calls the system, with the oldest glibc.
        suffix: how an extension module's name ends there, after the Python's version.
    """

    tag: str
    triple: str
    suffix: str

    @property
    def is_musl(self) -> bool:
        """Whether its libc is musl, which zig calls by another name than systems do: modules take the process's own."""
        return "musl" in self.triple

    @property
    def runs_here(self) -> bool:
        """Whether an interpreter of this machine can load what was built."""
        libc, _ = platform.libc_ver()
        return libc == "glibc" and "gnu" in self.triple and self.tag.endswith(platform.machine())


TARGETS = {
    target.tag: target
    for target in (
        Target("manylinux_2_17_x86_64", "x86_64-linux-gnu.2.17", "x86_64-linux-gnu"),
        Target("manylinux_2_17_aarch64", "aarch64-linux-gnu.2.17", "aarch64-linux-gnu"),
        Target("musllinux_1_2_x86_64", "x86_64-linux-musl", "x86_64-linux-musl"),
        Target("musllinux_1_2_aarch64", "aarch64-linux-musl", "aarch64-linux-musl"),
    )
}
"""By tag. What macOS and Windows need is built by cibuildwheel on those systems (`pyproject.toml`)."""
