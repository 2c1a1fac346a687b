from django.urls import path

from novum.guide import views

urlpatterns = [
    path("llms.txt", views.llms_txt, name="llms"),
    path("v1/agents.md", views.agents_md, name="agents-md"),
]
