"""The command line: ``kafka COMMAND`` or ``python -m kafka COMMAND``, one command a module.

Layer 7. Commands are imported when they are run, so that ``kafka --help`` needs neither pyarrow nor pyspark. An error
that a user can cause is one line on standard error and exit status 1 (2 for wrong usage), never a traceback.
"""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line with the arguments of the process."""
    try:
        from kafka.cli.commands import commands
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        print(
            f"kafka: the command line needs {error.name!r}, which is not installed; "
            "install it with: pip install 'kafka-columnar[cli]'",
            file=sys.stderr,
        )
        sys.exit(1)
    commands.main(prog_name="kafka")
    sys.exit(0)
