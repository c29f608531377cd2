"""What a server that asks to be registered has to pass, before anything of it is stored (MGP 15.4).

Nothing of it runs here: its script is read and judged, and a refusal is audited.
"""

from __future__ import annotations

__all__ = ("RegistrationDesk",)

from collections.abc import Awaitable, Callable
from dataclasses import replace

from anyio import to_thread

from kinwire.mgp.errors import refusal
from kinwire.mgp.kernel.access_options import AccessPrincipal
from kinwire.mgp.kernel.limited_events import LimitedEvents
from kinwire.mgp.kernel.registered_scripts import ScriptFolder
from kinwire.mgp.kernel.tracing import new_trace_id
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.mgp.rules.code_safety.rejection import rejected
from kinwire.mgp.rules.registered_command import script_index
from kinwire.mgp.rules.registration import (
    Registration,
    RegistrationRefusedError,
    checked_profile,
    checked_url,
    params_problem,
)
from kinwire.storage.clock import Clock
from kinwire_protocols.base import JsonObject, RpcError, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mgp.errors import (
    CodeSafetyViolationError,
    PermissionDeniedError,
    ResourceExhaustedError,
    ValidationBlockedError,
)
from kinwire_protocols.mgp.models import DiscoveryRegisterParams

MOST_SERVERS = 1000
MOST_WAITING = 100  # of one agent or server


class RegistrationDesk:
    """Judges requests to register a server."""

    def __init__(
        self,
        scripts: ScriptFolder,
        is_taken: Callable[[str], Awaitable[bool]],
        refused: LimitedEvents,
        clock: Clock,
    ) -> None:
        """`is_taken` returns whether an id is, or was, that of another server."""
        self._scripts = scripts
        self._is_taken = is_taken
        self._refused = refused
        self._clock = clock

    async def read(self, params: DiscoveryRegisterParams, by: AccessPrincipal) -> Registration:
        """Return what a caller asks for, without the script.

        Raises:
            InvalidParamsError: a field is missing or not valid.
            ValidationBlockedError: it may not lead to that URL.
            PermissionDeniedError: it needs permissions that a sandboxed server cannot have.
        """
        problem = params_problem(params)
        if problem is not None:
            raise await self._note("params", InvalidParamsError(problem), params.id, by)
        extensions, permissions = await self._profile(params, by)
        return Registration(
            id=params.id,
            by_kind=by.kind,
            by=by.id,
            at=self._clock(),
            command=params.command,
            args=tuple(params.args or ()),
            url=params.url,
            extensions=extensions,
            permissions=permissions,
            justification=params.justification,
        )

    async def admit(
        self, new: Registration, known: list[Registration], by: AccessPrincipal
    ) -> None:
        """Check that there is room for a new server, and that its id is free.

        Raises:
            InvalidParamsError: the id is taken.
            ResourceExhaustedError: there are too many servers.
        """
        own = [one for one in known if (one.by_kind, one.by) == (by.kind, by.id)]
        waiting = [one for one in own if not one.is_approved]
        if len(known) >= MOST_SERVERS or len(waiting) >= MOST_WAITING:
            text = f"at most {MOST_SERVERS} servers, and {MOST_WAITING} of one caller that wait"
            error = refusal(ResourceExhaustedError, f"mgp/discovery/register: {text}.")
            raise await self._note("limit", error, new.id, by)
        if await self._is_taken(new.id):
            raise await self.taken(new.id, by)

    async def taken(self, id: str, by: AccessPrincipal) -> InvalidParamsError:
        """Return the error for an id that is not free; it is audited."""
        text = "/id: another server has this id, or had rights under it. Choose another one"
        error = InvalidParamsError(text)
        await self._note("id", error, id, by)
        return error

    async def with_script(self, found: Registration, by: AccessPrincipal) -> Registration:
        """Return a server with the code that it would run, if it may run.

        Raises:
            ValidationBlockedError: what would run cannot be checked.
            CodeSafetyViolationError: the script has violations.
        """
        if found.command is None:
            return found
        try:
            index = script_index(found.command, found.args)
            code = await to_thread.run_sync(self._scripts.read, found.args[index])
        except RegistrationRefusedError as problem:
            raise await self._note("command", _blocked(problem), found.id, by) from None
        violations = await to_thread.run_sync(self._scripts.violations, code)
        if violations:
            rules = self._scripts.rules
            error = refusal(
                CodeSafetyViolationError,
                f"/args/{index}: the script is not allowed at the level {rules.level!r}: "
                f"{violations[0]}",
                details=to_wire(rejected(violations, rules)),
            )
            raise await self._note("code", error, found.id, by)
        return replace(found, script=code, script_at=index)

    async def refuse_caller(self, id: str, by: AccessPrincipal, what: str) -> PermissionDeniedError:
        """Return the error for a caller that may not do this; it is audited."""
        error = refusal(
            PermissionDeniedError,
            f"{what}, and the {by.kind} {by.id!r} may not do it.",
            details={"reason": "registrant"},
        )
        await self._note("registrant", error, id, by)
        return error

    async def _profile(
        self, params: DiscoveryRegisterParams, by: AccessPrincipal
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the extensions and permissions of a server that may lead where it says."""
        try:
            if params.url is not None:
                checked_url(params.url)
        except RegistrationRefusedError as problem:
            raise await self._note("url", _blocked(problem), params.id, by) from None
        try:
            return checked_profile(params.mgp)
        except RegistrationRefusedError as problem:
            error = refusal(PermissionDeniedError, str(problem), details={"reason": "sandboxed"})
            raise await self._note("permissions", error, params.id, by) from None

    async def _note(self, reason: str, error: RpcError, id: str, by: AccessPrincipal) -> RpcError:
        """Write a refusal to the audit trail, and return its error."""
        kinds = {
            "registrant": "PERMISSION_DENIED",
            "permissions": "PERMISSION_DENIED",
            "code": "CODE_REJECTED",
        }
        details: JsonObject = {"method": "mgp/discovery/register", "reason": reason}
        details["error"] = error.message
        kind = kinds.get(reason, "VALIDATION_FAILED")
        event = SecurityEvent(
            kind, by.kind, by.id, id[:128], None, "BLOCKED", details, new_trace_id()
        )
        await self._refused.write(event, by)
        return error


def _blocked(problem: RegistrationRefusedError) -> ValidationBlockedError:
    return refusal(ValidationBlockedError, str(problem), details={"reason": "registration"})
