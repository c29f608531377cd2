"""What stands before all sessions of a listener: who may reach it, and who is asking."""

from __future__ import annotations

__all__ = (
    "LISTENER_KINDS",
    "PRINCIPAL",
    "Authenticate",
    "Guard",
    "current_principal",
    "principal_address",
)

from contextvars import ContextVar
from functools import lru_cache

from kinwire.rpc.error_table import internal_error
from kinwire.support.arguments import FLAG, FUNCTION, TEXT, ValueKind, instance_of, list_of
from kinwire.support.json_values import strict_text
from kinwire.transports.http.bearer import (
    NO_TOKEN,
    NOT_VALID,
    Authenticate,
    BearerCheck,
    token_in,
)
from kinwire.transports.http.head import Head
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.http.replies import HttpResponse, Scope, refusal
from kinwire.transports.http.security import AccessProblem, AccessRules, is_loopback

LISTENER_KINDS: dict[str, ValueKind] = {
    "allowed_hosts": list_of(TEXT, "a list of strings"),
    "allowed_origins": list_of(TEXT, "a list of strings"),
    "authenticate": FUNCTION.or_none,
    "resource_metadata": TEXT.or_none,
    "insecure": FLAG,
    "limits": instance_of(HttpLimits, "HttpLimits", "HttpLimits(sessions=100)").or_none,
}
"""What the options of a listener take."""

PRINCIPAL: ContextVar[object] = ContextVar("kinwire principal", default=None)

_NO_SERVER = ("", None)
_PLAIN = (
    "This server is reached over a network without TLS, and may not be. Put TLS before it, or "
    "declare the network or the proxy as trusted (insecure=True)."
)


def current_principal() -> object:
    """Return who sent the request under way, as `authenticate` said; None if nobody asked."""
    return PRINCIPAL.get()


def principal_address(principal: object) -> str | None:
    """Return `Transport.address` for a peer that is `principal`.

    It is None without a principal, and for one that is not a JSON value: such an object has no
    text that is the same in the next process.
    """
    try:
        return None if principal is None else f"principal:{strict_text(principal)}"
    except ValueError:
        return None


class Guard:
    """Decides on the head of a request alone."""

    def __init__(
        self,
        rules: AccessRules,
        limits: HttpLimits,
        *,
        insecure: bool,
        authenticate: Authenticate | None,
        resource_metadata: str | None,
    ) -> None:
        self._rules = rules
        self._known = lru_cache(maxsize=256)(self._by_values)
        self._limits = limits
        self.insecure = insecure
        self.bearers = None if authenticate is None else BearerCheck(authenticate)
        """Who asks, by the token; None if anybody may."""
        extra = "" if resource_metadata is None else f'resource_metadata="{resource_metadata}"'
        self._challenge = f"Bearer {extra}".strip()
        self._invalid = ", ".join(part for part in ('Bearer error="invalid_token"', extra) if part)

    async def admit(self, scope: Scope, head: Head) -> HttpResponse | None:
        """Set who asks, or return what a request earns that must not go on."""
        reply = self.refusal(scope, head)
        if reply is None and self.bearers is not None:
            reply = await self.identify(self.bearers, head)
        return reply

    def refusal(self, scope: Scope, head: Head) -> HttpResponse | None:
        """Return what a request earns that must not go on, without a look at the token."""
        scheme = scope.get("scheme", "http")
        server, port = scope.get("server") or _NO_SERVER
        if head.repeated:
            refused = self._problem(scheme, server, port, head.all(b"host"), head.all(b"origin"))
        else:  # by the bytes, as almost all requests have the same ones
            values = head.values
            refused = self._known(scheme, server, port, values.get(b"host"), values.get(b"origin"))
        if refused is not None:
            return refusal(refused.status, refused.why)
        if head.size > self._limits.header_size:
            return refusal(431, f"The headers exceed {self._limits.header_size} bytes.")
        return None

    def _by_values(
        self, scheme: str, server: str, port: int | None, host: bytes | None, origin: bytes | None
    ) -> AccessProblem | None:
        hosts, origins = (
            () if value is None else (value.decode("latin-1").strip(),) for value in (host, origin)
        )
        return self._problem(scheme, server, port, hosts, origins)

    def _problem(
        self,
        scheme: str,
        server: str,
        port: int | None,
        hosts: tuple[str, ...],
        origins: tuple[str, ...],
    ) -> AccessProblem | None:
        is_plain = scheme in ("http", "ws") and port is not None  # a socket file has no port
        if is_plain and not self.insecure and not is_loopback(server):
            return AccessProblem(403, _PLAIN)
        return self._rules.refusal(hosts, origins)

    async def identify(self, bearers: BearerCheck, head: Head) -> HttpResponse | None:
        """Set who asks, by the token; or return what a request without a valid one earns."""
        token = token_in(head.text(b"authorization"))
        if token is None or b"authorization" in head.repeated:
            return self._unauthorized(self._challenge, NO_TOKEN)
        try:
            principal = await bearers.principal_of(token)
        except Exception as error:
            return refusal(500, internal_error("authenticate", error))
        if principal is None:
            return self._unauthorized(self._invalid, NOT_VALID)
        PRINCIPAL.set(principal)
        return None

    @staticmethod
    def _unauthorized(challenge: str, why: str) -> HttpResponse:
        return refusal(401, why, headers=((b"www-authenticate", challenge.encode()),))
