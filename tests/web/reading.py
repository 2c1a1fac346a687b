"""Every page's address, and which names its view looks for in the query and the form."""

import re
from collections import defaultdict
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import URLResolver

from novum.web import urls

MIDDLEWARE = "tests.web.reading.Recorder"
# For each route, and the method, the names asked for while this process lasts.
ASKED = defaultdict(set)


def routes(patterns=urls.urlpatterns):
    for one in patterns:
        if isinstance(one, URLResolver):
            yield from routes(one.url_patterns)
        else:
            yield str(one.pattern)


def filled(route, values):
    """The address; a parameter that isn't among the values fails the test."""
    return "/" + re.sub(r"<\w+:(\w+)>", lambda name: str(values[name[1]]), route)


class Recorder:
    """Middleware behind all others."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        return self.get_response(request)

    def process_view(self, request, view, arguments, named):
        route = request.resolver_match.route
        request.GET = Noting(request.GET, ASKED[route, "GET"])
        if request.method == "POST":
            request.POST = Noting(request.POST, ASKED[route, "POST"])


class Noting(QueryDict):
    def __init__(self, sent, names):
        # What it's made by isn't what the view asks for.
        self.names = set()
        super().__init__(sent.urlencode(), encoding="utf-8")
        self.names = names

    def __getitem__(self, name):
        self.names.add(name)
        return super().__getitem__(name)

    def getlist(self, name, default=None):
        self.names.add(name)
        return super().getlist(name, default)

    def __contains__(self, name):
        self.names.add(name)
        return super().__contains__(name)


def names_read(client, route, address):
    """What the view asks for when it's sent what it asks for."""
    found = ASKED[route, "GET"], ASKED[route, "POST"]
    before = None
    while before != [*map(len, found)]:
        before = [*map(len, found)]
        query, form = (dict.fromkeys(sorted(names), "1") for names in found)
        client.get(address, query)
        client.post(f"{address}?{urlencode(query)}", {"x": "1", **form})
    return [sorted(names) for names in found]
