"""Which Java Spark will run."""

import os
import shutil


def find_java() -> str | None:
    """The path of the ``java`` that Spark starts: that of JAVA_HOME where it is set, else the one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    if not home:
        return shutil.which("java")
    java = os.path.join(home, "bin", "java")
    return java if os.path.exists(java) else None
