from django.apps import AppConfig


class NovumConfig(AppConfig):
    name = "novum"
