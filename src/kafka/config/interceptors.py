"""The option for interceptors, which producers and consumers support but admin clients do not."""

from typing import Any

from kafka.config.option import no_object, option

_METHODS = ("on_send", "on_acknowledgement", "on_consume", "on_commit")


def parse_interceptors(name: str, value: Any) -> tuple[Any, ...]:
    """Check a sequence of interceptors: classes or objects that have at least one method of an interceptor."""
    found = tuple(value) if isinstance(value, list | tuple) else (value,)
    for each in found:
        if not any(callable(getattr(each, method, None)) for method in _METHODS):
            raise no_object(name, "classes or objects with some of " + ", ".join(f"{m}()" for m in _METHODS), each)
    return found


def interceptors_option() -> Any:
    """Return the dataclass field for the ``interceptors`` option."""
    return option(
        [],
        parse_interceptors,
        "Classes or objects that intercept every record: ProducerInterceptor or ConsumerInterceptor "
        "(kafka.interceptor).",
        "interceptor.classes",
        accepts="Sequence[Any]",
    )
