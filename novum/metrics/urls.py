from django.urls import URLPattern, path

from novum.metrics.door import metrics

urlpatterns: list[URLPattern] = [path("metrics", metrics, name="metrics")]
