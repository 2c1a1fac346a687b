from django.apps import AppConfig


class LeasesConfig(AppConfig):
    name = "leases"

    def ready(self) -> None:
        from accounts.verbs.people import shut_out
        from leases.verbs.leaving import take_back

        shut_out.connect(take_back)
