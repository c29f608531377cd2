"""The proxy for an address, as the environment names it. Pure: the environment is an argument.

The variables are read as `curl` and `httpx` read them. URLs of proxies are never shown, because
they may hold passwords.
"""

from __future__ import annotations

__all__ = ("proxy_address", "proxy_for")

from collections.abc import Mapping
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from kinwire.transports.http_client.address import ServerAddress, split_url

_EXAMPLE = "expected a URL such as http://proxy.example:3128"


def proxy_address(url: str, *, source: str = "proxy") -> ServerAddress:
    """Return where the proxy is; "proxy.example:3128" is read as if it began with `http://`.

    Args:
        url: the URL of the proxy, perhaps with a name and a password.
        source: the option or variable that names the proxy, for the error.

    Raises:
        ValueError: it is not the URL of a proxy that can be used.
    """
    scheme, mark, _ = url.partition("://")
    if mark and scheme.lower().startswith("socks"):
        raise ValueError(
            f"{source}: {_EXAMPLE}, got one of SOCKS. Pass a client of your own that "
            "can use it: http=httpx2.AsyncClient(proxy=...)"
        )
    try:
        address = split_url(url if mark else f"http://{url}")
    except ValueError:
        address = None
    if address is None or address.scheme not in ("http", "https"):
        raise ValueError(f"{source}: {_EXAMPLE}")
    return address


def proxy_for(address: ServerAddress, environment: Mapping[str, str]) -> ServerAddress | None:
    """Return the proxy that the environment names for an address, None for a direct connection.

    `HTTPS_PROXY` is for `https` and `wss`, `HTTP_PROXY` for `http` and `ws`, `ALL_PROXY` for both;
    `NO_PROXY` lists hosts that are connected to directly. Names in lower case precede. `HTTP_PROXY`
    is ignored in a CGI program, where a client's header `Proxy` sets it.

    Raises:
        ValueError: the variable that counts does not hold the URL of a proxy. It is named.
    """
    kind = "https_proxy" if address.secure else "http_proxy"
    for name in (kind, "all_proxy"):
        variable = _set_variable(name, environment)
        if variable is None:
            continue
        value = environment[variable].strip()
        if value:
            no_proxy = _set_variable("no_proxy", environment)
            hosts = "" if no_proxy is None else environment[no_proxy]
            return None if _is_listed(address, hosts) else proxy_address(value, source=variable)
    return None


def _set_variable(name: str, environment: Mapping[str, str]) -> str | None:
    """Return how the variable is spelled that counts, None if it is not set."""
    if name in environment:
        return name
    if name == "http_proxy" and "REQUEST_METHOD" in environment:
        return None
    return name.upper() if name.upper() in environment else None


def _is_listed(address: ServerAddress, no_proxy: str) -> bool:
    return any(_matches(address, entry) for entry in no_proxy.replace(",", " ").split())


def _matches(address: ServerAddress, entry: str) -> bool:
    if entry == "*":
        return True
    host, entry = address.host.lower().rstrip("."), entry.lower().rpartition("://")[2]
    numeric = _ip(host)
    if numeric is not None and "/" in entry:
        with suppress(ValueError):
            return numeric in ip_network(entry, strict=False)
        return False
    name, port = _host_and_port(entry)
    if port is not None and port != str(address.port):
        return False
    if numeric is not None:
        return numeric == _ip(name)
    name = name.removeprefix("*").removeprefix(".").rstrip(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))


def _host_and_port(entry: str) -> tuple[str, str | None]:
    """Return both, the port as None if it is not there. IPv6 may stand in brackets."""
    if _ip(entry) is not None:
        return entry, None
    host, mark, port = entry.rpartition(":")
    if not mark or not port.isdigit():
        host, port = entry, ""
    return host.removeprefix("[").removesuffix("]"), port or None


def _ip(text: str) -> IPv4Address | IPv6Address | None:
    with suppress(ValueError):
        return ip_address(text)
    return None
