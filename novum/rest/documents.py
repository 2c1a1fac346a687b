"""The OpenAPI document and a page to browse it, both from here, no CDN."""

from functools import cache
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from novum.rest.openapi import document


@cache
def _document() -> bytes:
    return msgspec.json.encode(document())


def openapi_json(request: HttpRequest) -> HttpResponse:
    return HttpResponse(_document(), content_type="application/json")


def docs(request: HttpRequest) -> HttpResponse:
    context: dict[str, Any] = {"title": "Novum API"}
    return render(request, "rest/docs.html", context)
