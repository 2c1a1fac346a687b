from django.apps import AppConfig


class TasksPeopleConfig(AppConfig):
    name = "tasks_people"
    timetable = "tasks_people.background"
