"""A server that asks to be registered at run time: what is kept of it, and whether it may run.

It asks by `mgp/discovery/register` (MGP 0.2.0 section 15.4). Whatever it says, it is sandboxed, and
an operator approves what would be started: the approval is bound to a digest of that.
"""

from __future__ import annotations

__all__ = (
    "Registration",
    "RegistrationApproval",
    "RegistrationRefusedError",
    "approval_digest",
    "checked_profile",
    "checked_url",
    "params_problem",
)

import re
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from kinwire.mgp.rules.access import REASON_SIZE
from kinwire.mgp.rules.permissions import MOST_PERMISSIONS, expanded, name_problem, risk_of
from kinwire.rpc.errors import KinwireError
from kinwire.support.json_values import digest
from kinwire.transports.guarded_fetch.rules import NotFetchedError, web_address
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.models import DiscoveryRegisterParams, ServerProfile

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
_MOST_EXTENSIONS = 50
_LONGEST_EXTENSION = 128  # characters

RegistrantKind = Literal["agent", "server", "operator"]


class RegistrationRefusedError(KinwireError):
    """A server cannot be registered as it asks; the text is a clause."""


@dataclass(frozen=True, slots=True)
class RegistrationApproval:
    """That an operator has approved a server."""

    digest: str
    """Of what was approved; see `approval_digest`."""
    by: str
    at: float
    """In seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A server that was registered at run time. It is sandboxed.

    Either `command` or `url` is set. A command is always `python` or `python3`, which is the
    kernel's own interpreter, and it runs `script`: a copy, not the file that `args` names.
    """

    id: str
    by_kind: RegistrantKind
    """What has registered it: an agent, a connected server or an operator."""
    by: str
    """The name of that, as the kernel knows it."""
    at: float
    """When, in seconds since 1970."""
    command: str | None = None
    args: tuple[str, ...] = ()
    script: str | None = None
    """The code that runs in place of the file that `args` names."""
    script_at: int = 0
    """Where in `args` the script is."""
    url: str | None = None
    extensions: tuple[str, ...] = ()
    """What it says that it supports."""
    permissions: tuple[str, ...] = ()
    """What it says that it needs."""
    justification: str | None = None
    approval: RegistrationApproval | None = None

    @property
    def digest(self) -> str:
        """The digest to which an approval of it is bound."""
        return approval_digest(
            command=self.command, args=self.args, url=self.url, script=self.script
        )

    @property
    def is_approved(self) -> bool:
        """Whether an operator has approved exactly this."""
        return self.approval is not None and self.approval.digest == self.digest

    def is_same_as(self, other: Registration) -> bool:
        """Return whether another registration says the same in every field, and by the same one."""
        return replace(self, at=0.0, approval=None) == replace(other, at=0.0, approval=None)

    def to_json(self) -> JsonObject:
        """Return the registration as it is stored."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Any) -> Registration:
        """Return the registration that `to_json` has written.

        Raises:
            KeyError, TypeError, ValueError: it has not.
        """
        fields = dict(stored)
        for name in ("args", "extensions", "permissions"):
            fields[name] = tuple(fields[name])
        approval = fields.pop("approval")
        found = cls(**fields, approval=approval and RegistrationApproval(**approval))
        if (found.command is None) is (found.url is None):
            raise ValueError("expected either a command or a url")
        return found


def approval_digest(
    *,
    command: str | None,
    args: Iterable[str] = (),
    variables: Collection[str] = (),
    url: str | None = None,
    script: str | None = None,
) -> str:
    """Return the digest to which an operator's approval of a server is bound.

    It is of the command, the arguments and the names of the variables of the environment, not of
    their values, which may be secrets that change. Also the address and the script count.
    """
    return digest(command, [*args], sorted(variables), url, script)


def params_problem(params: DiscoveryRegisterParams) -> str | None:
    """Return what is missing or not valid in a request, apart from what would run; None if nothing.

    An id has only letters, digits, dots, hyphens and underscores of ASCII: no other looks the same.
    """
    if _ID.fullmatch(params.id) is None or params.id.lower().startswith("unnamed-"):
        return (
            "/id: expected at most 128 letters, digits, '.', '-' and '_' of ASCII, not beginning "
            "with 'unnamed-'"
        )
    if (params.command is None) is (params.url is None):
        return "expected either /command or /url"
    if params.url is not None and params.args:
        return "/args: expected a /command with it"
    ways = ("stdio",) if params.url is None else ("http", "sse")
    if params.transport not in (None, *ways):
        return f"/transport: expected one of {', '.join(ways)}"
    if len(params.justification or "") > REASON_SIZE:
        return f"/justification: expected at most {REASON_SIZE} characters"
    return None


def checked_url(url: str) -> str:
    """Return a URL to which a server that registers itself may lead: https, a public host.

    Raises:
        RegistrationRefusedError: it may not.
    """
    try:
        address = web_address(url)
    except NotFetchedError as error:
        raise RegistrationRefusedError(f"/url: {error.reason}") from None
    if address.scheme != "https":
        raise RegistrationRefusedError("/url: expected a URL of https")
    return url


def checked_profile(profile: ServerProfile | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the extensions and the permissions that a sandboxed server may have.

    Raises:
        RegistrationRefusedError: there are too many, a name is not valid, or a permission is one of
            the dangerous ones.
    """
    if profile is None:
        return (), ()
    extensions = tuple(dict.fromkeys(map(str, profile.extensions or ())))
    wrong = [one for one in extensions if len(one) > _LONGEST_EXTENSION or not one.isprintable()]
    if wrong or len(extensions) > _MOST_EXTENSIONS:
        raise RegistrationRefusedError("/mgp/extensions: expected at most 50 names")
    return extensions, _checked_permissions(tuple(profile.permissions_required or ()))


def _checked_permissions(names: tuple[str, ...]) -> tuple[str, ...]:
    place = "/mgp/permissions_required"
    if len(names) > MOST_PERMISSIONS:
        raise RegistrationRefusedError(f"{place}: expected at most {MOST_PERMISSIONS}")
    for name in names:
        problem = name_problem(name)
        if problem is not None:
            raise RegistrationRefusedError(f"{place}: {problem}")
    for name in expanded(names):
        if risk_of(name) == "dangerous":
            raise RegistrationRefusedError(
                f"{place}: a sandboxed server cannot have the permission {name!r:.80}, which is "
                "dangerous"
            )
    return tuple(dict.fromkeys(names))
