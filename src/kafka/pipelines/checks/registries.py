"""Asks the schema registry whether it answers, with short time limits."""

from __future__ import annotations

from typing import Any

from kafka.errors import KafkaConfigurationError
from kafka.pipelines.checks.problem import Findings
from kafka.pipelines.declaration import Location

Conf = tuple[tuple[str, Any], ...]
URL: Location = ("registry", "url")


def quick(registry: Conf, limit_s: float) -> Conf:
    """Return the options of a registry's client with time limits for a check.

    Arguments:
        registry: the options, as in `TypedOptions.registry`.
        limit_s: time limit for an answer, in seconds.
    """
    return tuple(sorted({**dict(registry), "timeout": limit_s, "max.retries": 0}.items()))


def reaches(findings: Findings, registry: Conf) -> bool:
    """Return whether the registry answers; add a problem if it does not.

    Arguments:
        findings: collects the problems.
        registry: the options of the client.
    """
    from kafka.formats.registry.errors import SchemaRegistryConnectionError, SchemaRegistryError
    from kafka.spark.typed.registry import client_of

    try:
        client_of(registry).get_compatibility()
    except SchemaRegistryConnectionError as error:
        findings.error(URL, f"the schema registry cannot be reached: {error}", is_outage=True)
        return False
    except KafkaConfigurationError as error:
        findings.error(URL, str(error))
        return False
    except SchemaRegistryError as error:
        if error.http_status_code in (401, 403):
            findings.error(("registry",), f"the schema registry refuses this user: {error}")
            return False
        findings.passed(URL, "the schema registry answers")  # some registries have no global setting
        return True
    findings.passed(URL, "the schema registry answers")
    return True
