"""What can go wrong here, besides what can everywhere."""

from accounts.errors import Conflict


class TooManyEndpoints(Conflict):
    """The workspace has as many endpoints as it may. Delete one first."""

    code = "too_many_endpoints"


class EndpointOff(Conflict):
    """The endpoint is switched off: nothing is sent. Switch it on first."""

    code = "endpoint_off"
