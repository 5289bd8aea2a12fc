"""Runs commands on a broker, in this process."""

import json
import os
from typing import Any

from click.testing import CliRunner, Result

from kafka.cli.commands import commands

SETTINGS = {name: None for name in os.environ if name.startswith("KAFKA_") and name != "KAFKA_PURE"}


class Cli:
    """Runs commands against one broker, in this process."""

    def __init__(self, bootstrap_servers: str, profiles: str) -> None:
        self.bootstrap_servers = bootstrap_servers
        self._env = {**SETTINGS, "KAFKA_BOOTSTRAP_SERVERS": bootstrap_servers, "XDG_CONFIG_HOME": profiles}

    def run(
        self, *arguments: str, stdin: str | bytes | None = None, env: dict[str, str | None] | None = None
    ) -> Result:
        """Run a command; return its result, even after an error."""
        return CliRunner().invoke(commands, list(arguments), input=stdin, env={**self._env, **(env or {})})

    def __call__(self, *arguments: str, stdin: str | bytes | None = None) -> str:
        """Run a command that succeeds; return its standard output, without column titles unless they are requested."""
        result = self.run("--no-titles", *arguments, stdin=stdin)
        assert result.exit_code == 0, result.output
        return result.stdout

    def json(self, *arguments: str, stdin: str | bytes | None = None) -> Any:
        """Run a command with ``--json``; return its parsed output."""
        return json.loads(self(*arguments, "--json", stdin=stdin))

    def fails(self, *arguments: str, status: int = 1) -> str:
        """Run a command that fails; return its last line of output."""
        result = self.run(*arguments)
        assert result.exit_code == status, result.output
        return result.stderr.strip().splitlines()[-1]
