"""Apply the validators of a tool before its call leaves (MGP 0.2.0 section 4.5).

The rules are in `rules/validators`; here names of hosts are resolved, each once a call, and every
address is judged. What the server itself resolves later may differ: the check keeps agents from
private addresses, and not a server that wants to go there.
"""

from __future__ import annotations

__all__ = ("CallValidators",)

from collections.abc import Awaitable, Sequence
from contextlib import suppress
from typing import Final

import anyio

from kinwire.mgp.errors import refusal
from kinwire.mgp.kernel.call import GuardedCall
from kinwire.mgp.rules.validators.judgement import ValidatorOptions, Violation
from kinwire.mgp.rules.validators.network import NamedHost, named_hosts
from kinwire.mgp.rules.validators.standard import judge
from kinwire.transports.guarded_fetch.fetch import Network
from kinwire.transports.guarded_fetch.rules import is_public
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp import errors

CODE_SAFETY: Final = "code_safety"
"""The validator that `code_guard` applies."""

_NETWORK: Final = "network_restricted"
_MOST_NAMES: Final = 20
_HINT: Final = {
    "sandbox": "Allow a command with ToolPolicy(allowed_commands=...)",
    "readonly": "Choose another validator with ToolPolicy(validator=...)",
    "network_restricted": "Allow a host with ServerPolicy(allowed_hosts=...)",
}


class CallValidators:
    """Judges calls by the validators of their tools, except `code_safety`."""

    def __init__(self, network: Network, *, timeout: float = 5.0) -> None:
        """Resolve names with `network`, all those of one call within `timeout` seconds."""
        self._network = network
        self._timeout = timeout

    def check(self, call: GuardedCall) -> Awaitable[None] | None:
        """Raise if a validator of the tool refuses the call; return what names have to wait for.

        Raises:
            ValidationBlockedError: it does; the details name the validator and each violation.
        """
        options = ValidatorOptions(
            allowed_commands=call.tool.policy.allowed_commands,
            without_shell=call.tool.policy.without_shell,
            allowed_hosts=call.server.policy.allowed_hosts,
        )
        named: list[NamedHost] = []
        for validator in call.tool.validators:
            if validator == CODE_SAFETY:
                continue
            found = judge(validator, call.tool, call.arguments, options)
            if found:
                raise _blocked(call, validator, found)
            if validator == _NETWORK:
                named = named_hosts(call.arguments, options)
        return self._check_names(call, named) if named else None

    async def _check_names(self, call: GuardedCall, named: Sequence[NamedHost]) -> None:
        found = await self._resolved(named)
        if found:
            raise _blocked(call, _NETWORK, found)

    async def _resolved(self, named: Sequence[NamedHost]) -> list[Violation]:
        """Return why the hosts may not be asked; a name without an answer may not."""
        if len(named) > _MOST_NAMES:
            return [Violation("", f"the arguments name more than {_MOST_NAMES} hosts")]
        found: list[Violation] = []
        with anyio.move_on_after(self._timeout) as scope:
            async with anyio.create_task_group() as tasks:
                for one in named:
                    tasks.start_soon(self._resolve, one, found)
        if scope.cancelled_caught:
            found.append(Violation("", "a host was not resolved in time"))
        return found

    async def _resolve(self, one: NamedHost, found: list[Violation]) -> None:
        addresses: Sequence[str] = ()
        with suppress(OSError, ValueError):  # UnicodeError for what no resolver takes
            addresses = await self._network.resolve(one.host, one.port)
        if not addresses:
            found.append(Violation(one.place, "a host has no address"))
        elif not all(map(is_public, addresses)):
            found.append(Violation(one.place, "a host leads to an address that is not public"))


def _blocked(
    call: GuardedCall, validator: str, found: Sequence[Violation]
) -> errors.ValidationBlockedError:
    first = found[0]
    place = f"{first.place}: " if first.place else ""
    details: JsonObject = {
        "validator": validator[:40],
        "violations": [{"place": one.place[:200], "reason": one.reason} for one in found],
    }
    hint = _HINT.get(validator, "Choose a standard validator with ToolPolicy(validator=...)")
    return refusal(
        errors.ValidationBlockedError,
        f"{call.tool.name}: the validator {validator!r:.40} refuses the call: "
        f"{place}{first.reason}. {hint}.",
        details=details,
    )
