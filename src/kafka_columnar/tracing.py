"""Where ``opentelemetry-instrument`` finds this package: an entry point of the group "opentelemetry_post_instrument".

The command instruments a library where the distribution that its instrumentation names is installed, and the one for
this API names kafka-python. The package `kafka` is there all the same, so it is instrumented from here.
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
        except Exception:  # tracing that does not begin is no reason for the program not to
            log.exception("the clients could not be instrumented")
