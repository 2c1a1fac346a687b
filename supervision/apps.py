from django.apps import AppConfig


class SupervisionConfig(AppConfig):
    """What the fleet does, what is wrong, and the button that mends it."""

    name = "supervision"
    timetable = "supervision.background"
