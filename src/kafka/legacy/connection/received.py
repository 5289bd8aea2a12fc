"""What `recv` gives, and the futures of requests."""

from __future__ import annotations

from typing import Any, Self

from kafka.legacy.future import Future


class Answer(Future):
    """A future that its connection completes. To complete it again with the same is allowed: 2.x left it to callers."""

    def success(self, value: Any) -> Self:
        """Complete it with a value."""
        return self if self.is_done and self.value is value else super().success(value)

    def failure(self, e: BaseException | type[BaseException]) -> Self:
        """Complete it with an error or its class."""
        return self if self.is_done and self.exception is e else super().failure(e)


class Received(list[tuple[Any, Future]]):
    """Responses with their futures (2.x). It has the attributes of the first response, which 1.0 gave instead."""

    @property
    def response(self) -> Any:
        """The first response, None if there is none."""
        return self[0][0] if self else None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not self:
            raise AttributeError(name)
        return getattr(self.response, name)
