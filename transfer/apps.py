from django.apps import AppConfig


class TransferConfig(AppConfig):
    """Boards in and out: our own JSON, Trello's, and tables of tasks."""

    name = "transfer"
    timetable = "transfer.background"
