"""The trial: ``make container-trials``, or ``python -m scripts.containers [broker] [ui]`` as root.

Each image is built in ``build/container-trials`` and run. The broker keeps its records from one run to the next; the
web UI shows its login page for that broker. With KAFKA_PURE=1, nothing is compiled, which saves minutes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
from pathlib import Path

from scripts.containers.containerfile import ContainerfileError, Stage, parse
from scripts.containers.processes import Running
from scripts.containers.stages import ROOT, UnavailableError, build

FOLDER = ROOT / "build" / "container-trials"
UNPRIVILEGED = 10001
_SERVERS = ("-b", "127.0.0.1:9092")


def main() -> int:
    """Run the trials that were asked for; gives 1 if one fails. Where they cannot run, says why and gives 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("images", nargs="*", default=[], help="broker, ui [both]")
    images = parser.parse_args().images or ["broker", "ui"]
    if unknown := set(images) - {"broker", "ui"}:
        parser.error(f"expected broker or ui, got {', '.join(sorted(unknown))}")
    if os.geteuid() != 0 or not sys.platform.startswith("linux"):
        print("container-trials: skipped: they need root on Linux, for chroot and mounts")
        return 0
    if missing := [each for each in ("unshare", "nsenter", "ip", "chroot") if not shutil.which(each)]:
        print(f"container-trials: skipped: {', '.join(missing)} not found")
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for image in images:
        try:
            trial(image)
        except UnavailableError as error:
            print(f"container-trials: {image} skipped: not found: {error}")
        except (ContainerfileError, AssertionError) as error:
            print(f"container-trials: {image} FAILED: {error}")
            return 1
    return 0


def trial(image: str) -> None:
    """Build an image and run it. Raises `AssertionError` for what does not hold."""
    stages = parse(ROOT / "deploy" / f"{image}.Containerfile")
    began = time.monotonic()
    more = {"KAFKA_PURE": "1", "KAFKA_REQUIRE_COMPILED": ""} if os.environ.get("KAFKA_PURE") else {}
    root = build(stages, FOLDER / image, more)
    size = sum(path.lstat().st_size for path in (root / "opt/kafka").rglob("*"))
    print(f"{image}: built in {time.monotonic() - began:.0f} s; /opt/kafka has {size / 1e6:.0f} MB", flush=True)
    {"broker": try_broker, "ui": try_ui}[image](stages[-1], root)


def check_process(running: Running) -> None:
    """The process is number 1, unprivileged, and cannot write to the root."""
    status = Path(f"/proc/{running.pid}/status").read_text()
    assert f"Uid:\t{UNPRIVILEGED}" in status, "the process does not run as the user of the file"
    denied = running.inside("touch", "/opt/kafka/x")
    assert denied.returncode, "the root can be written"
    assert "Read-only file system" in denied.stderr, denied.stderr
    assert running.inside("id", "-u").stdout.strip() == str(UNPRIVILEGED)


def try_broker(stage: Stage, root: Path) -> None:
    """Start it twice on one volume: records of the first run are there in the second."""
    data = FOLDER / "data"
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(root / "data", data)
    os.chown(data, UNPRIVILEGED, UNPRIVILEGED)
    kafka = [sys.executable, "-m", "kafka"]
    for number in (1, 2):
        running = Running(stage, root, {"/data": data}, ["--advertised-host", "127.0.0.1"])
        try:
            seconds = running.until_healthy(stage.health_check())
            check_process(running)
            text = f"from run {number}"
            produced = f"echo '{text}' | {' '.join(kafka)} produce t {' '.join(_SERVERS)}"
            done = running.inside("sh", "-c", produced, outside=True)
            assert done.returncode == 0, done.stderr
            read = running.inside(*kafka, "consume", "t", "--no-titles", *_SERVERS, outside=True)
            assert read.stdout.splitlines() == [f"from run {each}" for each in range(1, number + 1)], read
            status, stopped_s = running.stop(signal.SIGTERM)
            assert status == 0, f"SIGTERM ended it with status {status}: {running.output()}"
        finally:
            running.kill()
        print(f"broker, run {number}: healthy after {seconds:.1f} s; SIGTERM ended it in {stopped_s:.1f} s", flush=True)


def try_ui(stage: Stage, root: Path) -> None:
    """Start it next to a broker in the same network: it is healthy, asks for a login, and ends at SIGTERM."""
    running = Running(stage, root, {}, None, {"KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9092"})
    try:
        broker = running.beside(sys.executable, "-m", "kafka", "broker", "--port", "9092")
        try:
            seconds = running.until_healthy(stage.health_check())
            check_process(running)
            python = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).status)"
            page = running.inside(sys.executable, "-c", python, "http://127.0.0.1:8085/login", outside=True)
            assert page.stdout == "200\n", page
            refused = running.inside(sys.executable, "-c", python, "http://127.0.0.1:8085/groups", outside=True)
            assert "401: Unauthorized" in refused.stderr, refused
            status, stopped_s = running.stop(signal.SIGTERM)
            assert status in (0, 143), f"SIGTERM ended it with status {status}: {running.output()}"
            assert "Token for logging in:" in running.output()
        finally:
            broker.terminate()
            broker.wait(30)
    finally:
        running.kill()
    print(f"ui: healthy after {seconds:.1f} s; SIGTERM ended it in {stopped_s:.1f} s, status {status}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
