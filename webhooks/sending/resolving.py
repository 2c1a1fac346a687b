"""From a target to addresses that have all been checked. Once per try: what is checked
here is what is connected to, however the name's answer changes meanwhile."""

import socket
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooSlow

from webhooks.sending.addresses import is_public
from webhooks.sending.targets import Refused, Target

# A look-up can't be cut off. Slow ones wait here for their end, not in the loop.
lookups = ThreadPoolExecutor(32, "webhook-names")


class Unknown(Exception):
    """There is no such name, or nobody answers for it."""


def addresses(target: Target) -> list[str]:
    """In the order to try them. Raises Refused, Unknown."""
    try:
        found = socket.getaddrinfo(
            target.host, target.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )
    except (OSError, UnicodeError):
        raise Unknown from None
    several = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not target.is_own:
        for one in several:
            if not is_public(one):
                detail = "That name leads to an address that is not a public one."
                raise Refused("forbidden_address", detail)
    return several


def check_now(target: Target, seconds: float) -> None:
    """For when an endpoint is saved: a name that's unknown today may be known when
    there's something to send. Raises Refused."""
    try:
        lookups.submit(addresses, target).result(seconds)
    except (Unknown, TooSlow):
        return
