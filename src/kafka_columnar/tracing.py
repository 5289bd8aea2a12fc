"""The entry point for ``opentelemetry-instrument``, in the group "opentelemetry_post_instrument".

The command instruments a library only if the distribution named by the instrumentation is installed, and the one for
this API names kafka-python. This entry point instruments the package `kafka` of this distribution.
"""

import importlib.metadata
import logging
import os

NAME = "kafka"
INSTRUMENTOR = "opentelemetry.instrumentation.kafka:KafkaInstrumentor"

log = logging.getLogger(__name__)


def instrument() -> None:
    """Instrument the clients, unless ``OTEL_PYTHON_DISABLED_INSTRUMENTATIONS`` names "kafka" or "*"."""
    disabled = {each.strip() for each in os.environ.get("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "").split(",")}
    if disabled & {NAME, "*"}:
        return
    for entry in importlib.metadata.entry_points(group="opentelemetry_instrumentor", name=NAME):
        if entry.value != INSTRUMENTOR:
            continue
        try:
            instrumentor = entry.load()()
            if not instrumentor.is_instrumented_by_opentelemetry:
                instrumentor.instrument(skip_dep_check=True)
        except Exception:  # failing to start tracing must not stop the program
            log.exception("the clients could not be instrumented")
