from django.urls import URLPattern, path

from novum.web import leases, needs

urlpatterns: list[URLPattern] = [
    path("needs-you", needs.needs, name="needs-you"),
    path("needs-you/act", needs.act, name="needs-act"),
    path("needs-you/alarm", needs.alarm, name="needs-alarm"),
    path("leases", leases.leases, name="leases"),
    path("leases/revoke", leases.revoke, name="leases-revoke"),
]
