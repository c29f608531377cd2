"""Which addresses of the internet protocol are anybody's (IANA, special-purpose registries).

`ipaddress.is_global` alone does not do: it holds for addresses of IPv6 that have a private one of
IPv4 in them, for multicast, and for the machines inside clouds that hand out credentials.
"""

from __future__ import annotations

__all__ = ("is_public",)

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_NOT_PUBLIC = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by providers; metadata of Alibaba
        "127.0.0.0/8",
        "168.63.129.16/32",  # metadata of Azure
        "169.254.0.0/16",  # link-local; metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; metadata of Oracle
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)

_UNICAST = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments; Teredo, which leads to any address of IPv4
        "2001:db8::/32",
        "2002::/16",  # 6to4, which does so too
        "3fff::/20",
    )
)
_WITH_IPV4 = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))  # mapped; NAT64


def is_public(address: str) -> bool:
    """Return whether `address` is a valid address on the public internet."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        if found.scope_id is not None:
            return False
        if not any(found in network for network in _WITH_IPV4):
            return found in _UNICAST and not any(found in network for network in _NOT_PUBLIC_6)
        found = IPv4Address(int(found) & 0xFFFF_FFFF)
    return not any(found in network for network in _NOT_PUBLIC)
