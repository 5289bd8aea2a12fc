"""Finding a Java that is new enough."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess

OLDEST_JAVA = 17


class JavaError(RuntimeError):
    """There is no usable Java on this machine; the message says what to install."""


@functools.cache
def java_command() -> str:
    """Return the path of `java`: the one in JAVA_HOME, or the first in PATH.

    Raises:
        JavaError: none is there, or it is older than Java 17 (which Apache Kafka 4 and Spark 4 need).
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=os.path.join(home, "bin")) if home else None
    found = found or shutil.which("java")
    advice = f"install a Java {OLDEST_JAVA} or newer (Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
    if found is None:
        raise JavaError(f"Java was not found: {advice}")
    said = subprocess.run([found, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "(?:1\.)?(\d+)', said.stderr + said.stdout)
    if match is None:
        raise JavaError(f"{found} -version did not tell a version but {said.stderr.strip()[:200]!r}: {advice}")
    if int(match[1]) < OLDEST_JAVA:
        raise JavaError(f"{found} is Java {match[1]}: {advice}")
    return found
