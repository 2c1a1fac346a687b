"""Which addresses a webhook may go to.

Python's `is_global` is not enough: it says yes to NAT64 addresses of loopback, to
site-local and to multicast ones. So: global unicast only, and besides an explicit list.
"""

from ipaddress import (
    IPv4Address,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

# The only part of IPv6 that IANA has given out for it; so translated IPv4 addresses
# (::ffff:0:0:0/96) are out as well, without being named.
GLOBAL_UNICAST = IPv6Network("2000::/3")
DENIED = [
    ip_network(text)
    for text in (
        # IPv4, RFC 6890 and what came after it.
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24"),
        *("192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
        *("224.0.0.0/4", "240.0.0.0/4"),
        # IPv6. The first one holds :: and ::1 and the long abandoned IPv4-compatible
        # ones; the NAT64, Teredo and 6to4 ranges hold IPv4 addresses of any kind.
        *("::/96", "fe80::/10", "fc00::/7", "fec0::/10", "ff00::/8", "64:ff9b::/96"),
        *("64:ff9b:1::/48", "2002::/16", "2001::/23", "100::/64", "100:0:0:1::/64"),
        *("2001:db8::/32", "3fff::/20", "5f00::/16"),
    )
]


def is_public(text: str) -> bool:
    """Whether this address (text, as `getaddrinfo` gives it) is one of the internet."""
    try:
        address: IPv4Address | IPv6Address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return False
        address = address.ipv4_mapped or address
    if isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST:
        return False
    if not address.is_global or address.is_multicast:
        return False
    return not any(_within(address, network) for network in DENIED)


def _within(address: IPv4Address | IPv6Address, network: object) -> bool:
    same_kind = isinstance(network, IPv6Network) == isinstance(address, IPv6Address)
    return same_kind and address in network  # type: ignore[operator]
