"""Parses container files: the instructions that those of `deploy` use, each with its arguments.

Anything else raises `ContainerfileError`, so that a trial never skips a step silently. To support another instruction,
add it to `KNOWN` and to `stages.py`.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

KNOWN = frozenset(
    "FROM RUN COPY WORKDIR ENV USER VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD".split()  # noqa: SIM905
)


class ContainerfileError(Exception):
    """A container file has an instruction or a form that is not supported, or is wrong."""


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """An instruction.

    Arguments:
        name: the instruction, such as RUN.
        options: its options by name, such as `from` of COPY.
        text: the rest of it, on one line.
        line: its first line in the file.
    """

    name: str
    options: dict[str, str]
    text: str
    line: int

    def words(self) -> list[str]:
        """The arguments: those of the JSON form, or those that a shell would see."""
        if self.text.startswith("["):
            try:
                return [str(each) for each in json.loads(self.text)]
            except ValueError:
                raise ContainerfileError(f"line {self.line}: {self.name} has a list that is not JSON") from None
        return shlex.split(self.text)


@dataclasses.dataclass(slots=True)
class Stage:
    """The part from a FROM to the next one.

    Arguments:
        base: the image that it begins with.
        name: its name, after AS; "" if it has none.
        steps: its other instructions.
    """

    base: str
    name: str
    steps: list[Step] = dataclasses.field(default_factory=list)

    def last(self, name: str) -> Step | None:
        """The last instruction with this name, which overrides earlier ones, or None."""
        return next((each for each in reversed(self.steps) if each.name == name), None)

    def command(self) -> list[str]:
        """The process: ENTRYPOINT followed by CMD."""
        return [word for name in ("ENTRYPOINT", "CMD") if (step := self.last(name)) for word in step.words()]

    def health_check(self) -> list[str]:
        """The command of HEALTHCHECK, in its JSON form."""
        step = self.last("HEALTHCHECK")
        if step is None or not step.text.startswith("CMD ["):
            raise ContainerfileError("expected HEALTHCHECK with CMD and a list")
        return dataclasses.replace(step, text=step.text.removeprefix("CMD ")).words()

    def environment(self) -> dict[str, str]:
        """The variables of all ENV instructions."""
        return dict(word.split("=", 1) for step in self.steps if step.name == "ENV" for word in step.words())


def parse(path: Path) -> list[Stage]:
    """Return the stages of a file. Raises `ContainerfileError`."""
    stages: list[Stage] = []
    for step in _steps(path.read_text(encoding="utf-8")):
        if step.name == "FROM":
            base, *named = step.text.split()
            if named and (len(named) != 2 or named[0].upper() != "AS"):
                raise ContainerfileError(f"line {step.line}: expected FROM IMAGE AS NAME, got {step.text!r}")
            stages.append(Stage(base, named[1] if named else ""))
        elif not stages:
            raise ContainerfileError(f"line {step.line}: {step.name} before the first FROM")
        else:
            stages[-1].steps.append(step)
    if not stages:
        raise ContainerfileError(f"{path} has no FROM")
    return stages


def _steps(text: str) -> Iterator[Step]:
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        whole = line.rstrip()
        while whole.endswith("\\"):
            whole = whole[:-1] + next(lines, (0, ""))[1].rstrip()
        name, _, rest = whole.strip().partition(" ")
        if name.upper() not in KNOWN:
            raise ContainerfileError(f"line {number}: {name} is not among the supported instructions")
        options = {}
        while match := re.match(r"--([a-z-]+)=(\S+)\s+", rest := rest.lstrip()):
            options[match[1]] = match[2]
            rest = rest[match.end() :]
        yield Step(name.upper(), options, rest, number)
