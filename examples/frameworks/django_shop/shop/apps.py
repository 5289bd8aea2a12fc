"""The application `shop`: connects the signals once all models are loaded."""

from django.apps import AppConfig


class ShopConfig(AppConfig):
    name = "shop"

    def ready(self) -> None:
        from shop import signals  # noqa: F401  # connects the receivers
