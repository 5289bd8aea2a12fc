"""``kafka doctor``: reports what is installed, which variant is loaded, and problems. Needs only Python itself."""

import argparse
import importlib
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kafka_columnar import installation, stand_in
from kafka_columnar.installation import Problem

LIBRARIES = {
    "cramjam": "compression; always needed",
    "crc32c": "checksums; always needed",
    "backports.zstd": "zstd; always needed before Python 3.14, which has it",
    "click": "the command line; always needed",
    "zstandard": "reading small zstd batches faster: pip install 'kafka-columnar[zstd]'",
    "pyarrow": "poll_arrow, send_arrow, Spark: pip install 'kafka-columnar[arrow]'",
    "pyspark": "the Spark source and sink: pip install 'kafka-columnar[spark]'",
    "purejks": "key stores of Java (JKS): pip install 'kafka-columnar[keystores]'",
    "cryptography": "key stores (PKCS#12): pip install 'kafka-columnar[keystores]'",
    "python_socks": "proxies: pip install 'kafka-columnar[socks]'",
    "httpx2": "the schema registry client: pip install 'kafka-columnar[schema-registry]'",
    "ptars": "columns of Protobuf values: pip install 'kafka-columnar[protobuf]'",
    "grpcio-tools": "Protobuf schemas as text: pip install 'kafka-columnar[protobuf]'",
    "jsonschema": "JSON serializers that check values: pip install 'kafka-columnar[json-schema]'",
    "authlib": "OAuth token endpoints: pip install 'kafka-columnar[oauth]'",
    "botocore": "AWS_MSK_IAM: pip install 'kafka-columnar[aws]'",
    "gssapi": "Kerberos: pip install 'kafka-columnar[kerberos]'",
    "pydantic": "pipelines: pip install 'kafka-columnar[pipelines]'",
    "PyYAML": "pipelines: pip install 'kafka-columnar[pipelines]'",
    "sqlglot": "checks of pipelines: pip install 'kafka-columnar[pipelines]'",
    "pandas": "the demo: pip install 'kafka-columnar[demo]'",
    "rich": "the demo: pip install 'kafka-columnar[demo]'",
}
_ROW = "{:<28} {:<28} {}"


def main(arguments: Sequence[str]) -> int:
    """Print the report; return the exit status: 1 if the installation has a problem."""
    parser = argparse.ArgumentParser(
        prog="kafka doctor",
        description="Show versions, libraries, and whether the hot modules are compiled.",
        add_help=False,
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--stand-in",
        metavar="NAME==VERSION",
        nargs="?",
        const=stand_in.DEFAULT,
        help="write a wheel without files that pip takes for kafka-python, for packages that require it, and end",
    )
    asked, rest = parser.parse_known_args(arguments)
    if rest:
        return _with_cluster(parser, arguments, rest)
    if asked.stand_in is not None:
        return _write_stand_in(asked.stand_in)
    problems = installation.problems()
    if asked.json:
        print(json.dumps(facts(problems)))
    else:
        for line in report(problems):
            print(line.rstrip())
    return 1 if problems else 0


def _with_cluster(parser: argparse.ArgumentParser, arguments: Sequence[str], rest: Sequence[str]) -> int:
    """Check the options about a cluster, which need the complete package `kafka` and Click."""
    try:
        commands: Any = importlib.import_module("kafka.cli.commands").commands
    except Exception as error:
        if rest[0] in ("-h", "--help"):
            parser.print_help()
            return 0
        told = [problem.text for problem in installation.problems()] or [f"{type(error).__name__}: {error}"]
        print(f"kafka doctor: {' '.join(rest)} cannot be looked at: {'; '.join(told)}", file=sys.stderr)
        return 2
    commands.main(["doctor", *arguments], prog_name="kafka")
    return 0


def facts(problems: Sequence[Problem]) -> dict[str, Any]:
    """Return the report for programs."""
    variant, modules = _variant()
    return {
        "version": _version("kafka-columnar"),
        "variant": variant,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "java": _java(),
        "hot_modules": modules,
        "problems": [{"text": problem.text, "files": list(problem.files)} for problem in problems],
        "notes": list(stand_in.notes(set(installation.others()))),
    }


def _write_stand_in(asked: str) -> int:
    try:
        print(f"written: pip install ./{stand_in.write(asked, Path()).name}")
    except (ValueError, OSError) as error:
        print(f"kafka doctor: {error}", file=sys.stderr)
        return 2
    return 0


def report(problems: Sequence[Problem]) -> Iterator[str]:
    """Return the lines of the report."""
    variant, modules = _variant()
    yield f"kafka-columnar {_version('kafka-columnar')}: {variant}"
    yield _ROW.format("Python", platform.python_version(), platform.platform())
    if _is_free_threaded():
        yield _ROW.format("GIL", "enabled" if gil_is_enabled() else "disabled", "this Python is free-threaded")
    for name, use in LIBRARIES.items():
        yield _ROW.format(name, _version(name), use)
    yield _ROW.format("Java", _java(), "Spark needs version 17 or later")
    plain = [module for module, compiled in modules.items() if not compiled]
    if modules:
        yield _ROW.format("hot modules", f"{len(modules) - len(plain)} of {len(modules)} are compiled", "")
    if 0 < len(plain) < len(modules):
        yield _ROW.format("plain Python", ", ".join(plain), "")
    for problem in problems:
        yield f"Wrong: {problem.text}"
        yield from (f"    {file}" for file in problem.files)
    for note in stand_in.notes(set(installation.others())):
        yield f"Note: {note}"
    if plain:
        yield _advice()
    yield _verdict(variant, len(problems))


def _verdict(variant: str, problems: int) -> str:
    """Return the last line, which appears above the next prompt."""
    if problems:
        return f"{problems} {'thing is' if problems == 1 else 'things are'} wrong with this installation: see above."
    if variant not in ("compiled", "plain", "mixed"):
        return f"The package kafka {variant}."
    return f"Nothing is wrong; the {variant} variant runs."


def _advice() -> str:
    if os.environ.get("KAFKA_PURE", "") not in ("", "0"):
        return "KAFKA_PURE is set, so the plain variant runs. It works, several times slower."
    if _is_built_plain():
        return "This was built with KAFKA_PURE=1, so the plain variant runs. It works, several times slower."
    if _is_free_threaded():
        return (
            "The plain variant runs, because compiled modules would enable the GIL for the whole process. If threads "
            "of Python code are not what you need, an ordinary Python with compiled modules is several times faster."
        )
    again = installation.reinstall("--no-cache-dir", "--no-binary", "kafka-columnar")
    return (
        "The plain variant works, several times slower. For the compiled one install a C compiler and Python's headers "
        f"(on Debian and Ubuntu: apt-get install gcc python3-dev), then: {again}"
    )


def _is_free_threaded() -> bool:
    return "free-threading build" in sys.version


def gil_is_enabled() -> bool:
    """Return whether only one thread at a time runs Python code; always true before Python 3.13."""
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _variant() -> tuple[str, dict[str, bool]]:
    """Return which variant is loaded, and for each hot module whether it is compiled."""
    try:
        module: Any = importlib.import_module("kafka._variant")
        return module.variant(), module.compiled_modules()
    except Exception as error:
        return f"cannot be imported ({type(error).__name__}: {error})", {}


def _is_built_plain() -> bool:
    try:
        module: Any = importlib.import_module("kafka._variant")
        return bool(module.plain_is_built())
    except Exception:  # another distribution's package
        return False


def _java() -> str:
    try:
        requirements: Any = importlib.import_module("kafka.spark.requirements")
        java = requirements.find_java()
        return "not found" if java is None else requirements.java_version(java)
    except Exception:
        return "not looked for"
