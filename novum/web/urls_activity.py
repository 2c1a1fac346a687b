from django.urls import URLPattern, path

from novum.web import activity

urlpatterns: list[URLPattern] = [
    path("activity", activity.shown, name="activity"),
    path("activity/export", activity.exported, name="activity-export"),
]
