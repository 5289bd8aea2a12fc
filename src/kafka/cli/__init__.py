"""The command line: ``kafka COMMAND`` or ``python -m kafka COMMAND``, one module per command (see `commands`).

Layer 7. Commands are imported when they are run, so that ``kafka --help`` needs neither pyarrow nor pyspark. For an
error that a user can cause, a command prints one line on standard error, never a traceback; `failures` defines the
exit statuses. The entry point is `kafka_columnar.main`.
"""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line with the arguments of this process."""
    try:
        from kafka.cli.commands import commands
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        print("kafka: the command line needs 'click', which is not installed: pip install click", file=sys.stderr)
        sys.exit(1)
    commands.main(prog_name="kafka")
    sys.exit(0)
