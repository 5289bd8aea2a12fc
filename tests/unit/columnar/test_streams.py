"""Standard streams that are closed, full, or read by nobody: a line and a status, whatever the command is."""

import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="there is no /dev/full here"),
]
FULL, CLOSED = "No space left on device", "Bad file descriptor"


def run(command: str, *, unbuffered: bool) -> tuple[int, str, str]:
    """Run ``kafka`` in a shell, with its redirections: status, output, complaints."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("KAFKA_", "PYTHONUNB"))}
    env |= {"PYTHONUNBUFFERED": "1"} if unbuffered else {}
    line = f"{sys.executable} -m kafka {command}"
    done = subprocess.run(["sh", "-c", line], env=env, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize(("redirection", "said"), [(">/dev/full", FULL), (">&-", CLOSED)])
@pytest.mark.parametrize("command", ["--help", "doctor"])
def test_an_output_that_cannot_be_written_is_a_line_and_status_1(
    command: str, redirection: str, said: str, unbuffered: bool
) -> None:
    assert run(f"{command} {redirection}", unbuffered=unbuffered) == (
        1,
        "",
        f"Error: cannot write to standard output: {said}\n",
    )


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-", "<&- 2>&-"])
def test_a_wrong_use_keeps_its_status_where_it_cannot_be_told(redirection: str) -> None:
    assert run(f"topics {redirection}", unbuffered=False) == (2, "", "")


def test_a_command_that_prints_nothing_needs_no_input_and_no_output() -> None:
    assert run("--version <&-", unbuffered=False)[::2] == (0, "")


def test_all_is_written_where_python_does_not_buffer() -> None:
    """One write of more than a pipe holds, whose reader is gone after some of it, is no success."""
    code = (
        "import sys\nimport kafka_columnar\n"
        "kafka_columnar._run = lambda: (sys.stdout.buffer.write(b'x' * 1_000_000), sys.exit(0))\n"
        "kafka_columnar.main()"
    )
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(4) == b"xxxx"
        process.stdout.close()
        assert process.wait(120) == 1
