from django.apps import AppConfig


class NovumConfig(AppConfig):
    name = "novum"

    def ready(self) -> None:
        # Registers its check.
        from novum import pooling  # noqa: F401
