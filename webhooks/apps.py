from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Tells other systems. Nothing imports this app: what it brings is named here and
    found by `novum.parts`, so without its folder and its line in INSTALLED_APPS the
    feature is gone."""

    name = "webhooks"
    operations = "webhooks.doors.webhooks"
    pages = "webhooks.doors.urls"
    timetable = "webhooks.background"
    document = "webhooks.doors.document"
    metrics = "webhooks.doors.metrics"
    needs = "webhooks.doors.needs"

    def ready(self) -> None:
        from webhooks.doors.telling import tell_owner
        from webhooks.verbs.switch_off import switched_off

        switched_off.connect(tell_owner)
