"""Where a URL leads, what of it may be shown, and what is said when a request fails. Pure.

Shown is never what stands before `@`, nor the path or the query: they carry keys often enough.
"""

from __future__ import annotations

__all__ = (
    "DEFAULT_PORTS",
    "ServerAddress",
    "address_of",
    "hint_for",
    "no_connection",
    "origin_of",
    "reason_of",
    "split_url",
)

import base64
import ssl
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from kinwire.rpc.errors import ConnectionClosedError
from kinwire.transports.http.security import must_be_secure

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_SECURE = {"https", "wss"}
_TARGET = frozenset(map(chr, range(0x21, 0x7F)))
_EXAMPLE = "Write it as http://127.0.0.1:8000/mcp or https://example.com/mcp."
_HINTS = {
    301: "It has moved{to}. Connect to that address.",
    302: "It has moved{to}. Connect to that address.",
    303: "It has moved{to}. Connect to that address.",
    307: "It has moved{to}. Connect to that address: what is sent here is not for another.",
    308: "It has moved{to}. Connect to that address: what is sent here is not for another.",
    401: 'It has to know who calls. Pass headers={"Authorization": ...} or auth=...',
    403: (
        "It knows who calls and refuses, does not accept this host or origin, or serves nothing at "
        "this path."
    ),
    404: "Nothing is served there. Look at the path of the URL: it is often /mcp.",
    405: "Nothing is served there. Look at the path of the URL: it is often /mcp.",
    407: "A proxy wants a name and a password: proxy='http://name:password@...'.",
    413: "The message is larger than it accepts.",
    429: "It wants fewer calls.",
}
_UNKNOWN_AUTHORITY = {18, 19, 20, 21}  # codes of OpenSSL, X509_V_ERR_...
_NO_TLS = "WRONG_VERSION_NUMBER"  # what OpenSSL makes of plain text


class ServerAddress(NamedTuple):
    """A URL, taken apart."""

    scheme: str
    host: str
    """Without brackets."""
    port: int
    target: str
    """Path and query."""
    authorization: str | None
    """What name and password in the URL stand for."""

    def __repr__(self) -> str:
        return f"<ServerAddress {self.origin}>"

    @property
    def secure(self) -> bool:
        """Return whether the server speaks TLS."""
        return self.scheme in _SECURE

    @property
    def authority(self) -> str:
        """Return the value of the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port: what is shown."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """Return the whole URL except name and password: to request, not to show."""
        return self.origin + self.target

    @property
    def identity(self) -> str:
        """Return the URL with its user name, which may be another account, but no password.

        For `Transport.address`: not to be shown.
        """
        user = "" if self.authorization is None else self.authorization.removeprefix("Basic ")
        name = base64.b64decode(user).decode().partition(":")[0]
        return f"url:{self.url} {name}"

    def with_target(self, reference: str) -> ServerAddress | None:
        """Return the address that a server refers to, None if invalid or of another origin."""
        if not reference:
            return None
        try:
            other = split_url(urljoin(self.url, reference))
        except ValueError:
            return None
        return self._replace(target=other.target) if other.origin == self.origin else None


def address_of(url: str, *, insecure: bool) -> ServerAddress:
    """Return where `url` leads.

    Raises:
        ValueError: it is not a URL of `http`, `https`, `ws` or `wss`.
        InsecureAddressError: it leads to another machine, and others could read what is sent.
    """
    address = split_url(url)
    doing = "connect to"
    must_be_secure(address.host, tls=address.secure, insecure=insecure, doing=doing)
    return address


def origin_of(reference: str) -> str | None:
    """Return the origin of a URL that a server names, None if it names none."""
    try:
        return split_url(reference).origin
    except ValueError:
        return None


def split_url(url: str) -> ServerAddress:
    """Return where `url` leads, without a look at who could read what is sent.

    Raises:
        ValueError: it is not a URL of `http`, `https`, `ws` or `wss`.
    """
    if not url.isprintable() or url != url.strip():  # `urlsplit` takes some of these out
        raise ValueError(f"expected a URL without spaces and control characters. {_EXAMPLE}")
    try:
        split = urlsplit(url)
        host, port = split.hostname, split.port
    except ValueError:
        raise ValueError(f"expected a URL, got a malformed one. {_EXAMPLE}") from None
    if split.scheme not in DEFAULT_PORTS:
        got = repr(split.scheme) if split.scheme and "//" in url else "none"
        raise ValueError(f"expected a URL with http, https, ws or wss, got {got}. {_EXAMPLE}")
    if not host:
        raise ValueError(f"expected a URL with a host, got none. {_EXAMPLE}")
    target = _target_of(split.path, split.query)
    if not _TARGET.issuperset(host + target):
        raise ValueError(f"expected a URL without spaces and foreign letters. {_EXAMPLE}")
    port = port or DEFAULT_PORTS[split.scheme]
    return ServerAddress(split.scheme, host, port, target, _credentials(split))


def _target_of(path: str, query: str) -> str:
    return (path or "/") + (f"?{query}" if query else "")


def _credentials(split: object) -> str | None:
    name, password = getattr(split, "username", None), getattr(split, "password", None)
    if name is None:
        return None
    pair = f"{unquote(name)}:{unquote(password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def hint_for(address: ServerAddress, status: int, location: str | None) -> str:
    """Return what to do about a refusal, behind a space; nothing if that is not known."""
    hint = _HINTS.get(status)
    return "" if hint is None else " " + hint.replace("{to}", _moved_to(address, location or ""))


def no_connection(address: ServerAddress, error: Exception) -> ConnectionClosedError:
    """Return what a call raises whose connection never stood, or ended before the answer."""
    return ConnectionClosedError(f"No answer from {address.origin}: {reason_of(error)}.")


def reason_of(error: Exception) -> str:
    """Return why a connection never stood, or ended: a clause."""
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = f"its certificate is not to be trusted: {error.verify_message}"
        if error.verify_code in _UNKNOWN_AUTHORITY:
            reason += (
                ". The variable SSL_CERT_FILE or the option tls names an authority of your own"
            )
    elif isinstance(error, ssl.SSLError) and error.reason == _NO_TLS:
        reason = "it does not speak TLS. Begin the URL with http or ws, if it is on this machine"
    elif isinstance(error, TimeoutError):
        reason = "it does not answer"
    elif isinstance(error, OSError) and error.strerror:
        reason = error.strerror
    else:
        reason = str(error) or type(error).__name__
    return reason.rstrip(".")


def _moved_to(address: ServerAddress, location: str) -> str:
    origin = origin_of(location)
    return "" if origin in (None, address.origin) else f" to {origin}"
