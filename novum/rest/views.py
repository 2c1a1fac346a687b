"""The REST door for everybody: one view class for all operations.

Callers with a token take the shortcut (`novum.rest.shortcut`), unless their method or
address leads nowhere: signed-in people, preflights and mistakes come here.
"""

from typing import Any, ClassVar

from django.http.response import HttpResponseBase
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.callers import Caller
from accounts.errors import Unauthenticated
from novum.operations.operation import Operation
from novum.rest.answering import answer


class AlwaysJson(BaseContentNegotiation):
    """There is one form of an answer; asking for another is no error."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        return None

    def select_renderer(
        self, request: Any, renderers: Any, format_suffix: Any = None
    ) -> Any:
        return renderers[0], renderers[0].media_type


class OperationView(APIView):
    """All methods of one path."""

    content_negotiation_class = AlwaysJson
    operations: ClassVar[dict[str, Operation]] = {}

    def handle(self, request: Request, **path: Any) -> HttpResponseBase:
        method = "GET" if request.method == "HEAD" else str(request.method)
        operation = self.operations.get(method)
        if operation is None:
            raise MethodNotAllowed(method)
        caller = request.user
        if not isinstance(caller, Caller):
            raise Unauthenticated
        return answer(request._request, operation, caller, path)

    get = post = put = patch = delete = handle

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        return Response(status=204, headers={"Allow": ", ".join(self.allowed_methods)})

    @property
    def allowed_methods(self) -> list[str]:
        head = ["HEAD"] if "GET" in self.operations else []
        return [*self.operations, *head, "OPTIONS"]
