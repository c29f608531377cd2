"""The errors that MCPL raises itself; `kinwire_protocols.mcpl` has the errors that peers answer."""

from __future__ import annotations

__all__ = (
    "HookFailedError",
    "NotPublishedError",
    "ProviderError",
    "ScopeDeniedError",
    "StateNotRecordedError",
    "StateRefusedError",
    "UnsupportedMessageError",
)

from typing import TYPE_CHECKING, Literal

from kinwire.rpc.errors import InvalidResponseError, KinwireError
from kinwire.support.arguments import TEXT, ArgumentCheck, one_of

if TYPE_CHECKING:
    from kinwire.mcpl.rules.scopes import ScopeRequest
    from kinwire_protocols import mcp


_PROVIDER_ERROR = ArgumentCheck(
    "ProviderError",
    'ProviderError("provider_failed", "...")',
    {"reason": one_of("provider_failed", "rate_limited", "timeout"), "why": TEXT},
)
_UNSUPPORTED = ArgumentCheck(
    "UnsupportedMessageError",
    'UnsupportedMessageError("/0/content", "...")',
    {"pointer": TEXT, "why": TEXT},
)


class HookFailedError(KinwireError):
    """A hook after inference failed or was missing, and no response may be shown without it.

    If no server ran the hook, `feature_set` is the pattern of `Hooks.fail_closed`, and `server` the
    `server_id` that stands before it; empty if the pattern applies to all servers.
    """

    def __init__(self, server: str, feature_set: str, reason: str) -> None:
        super().__init__(server, feature_set, reason)
        self.server = server
        self.feature_set = feature_set
        self.reason = reason

    def __str__(self) -> str:
        failed = f"{self.server} failed, and {self.feature_set}"
        if not self.server:
            failed = f"no server answered for {self.feature_set}, which"
        return (
            f"context/afterInference: {failed} fails closed: "
            f"{self.reason}. Show an error in the place of the response."
        )


class NotPublishedError(KinwireError):
    """Moderation stopped content on its way to a channel; it was not sent.

    If `held`, it may be published again later.
    """

    def __init__(self, channel_id: str, reason: str | None, *, held: bool) -> None:
        super().__init__(channel_id, reason, held)
        self.channel_id = channel_id
        self.reason = reason
        self.held = held

    def __str__(self) -> str:
        done, hint = ("held", "Try it again later") if self.held else ("dropped", "Change it")
        return (
            f"channels/publish: moderation {done} what was to go to {self.channel_id:.128}: "
            f"{self.reason or 'it gave no reason'}. {hint}."
        )


class ProviderError(KinwireError):
    """A provider of models gave no answer.

    `reason` is a word for the server, `why` a clause for the log. Neither contains text of the
    provider, which may repeat secrets.
    """

    def __init__(
        self, reason: Literal["provider_failed", "rate_limited", "timeout"], why: str
    ) -> None:
        _PROVIDER_ERROR.check(reason=reason, why=why)
        super().__init__(reason, why)
        self.reason = reason
        self.why = why

    def __str__(self) -> str:
        return f"the model gave no answer ({self.reason}): {self.why}"


class UnsupportedMessageError(KinwireError):
    """A message cannot be sent to the provider of models; nothing was sent.

    `pointer` is a JSON pointer into the messages, `why` says what was expected and what came.
    """

    def __init__(self, pointer: str, why: str) -> None:
        _UNSUPPORTED.check(pointer=pointer, why=why)
        super().__init__(pointer, why)
        self.pointer = pointer
        self.why = why

    def __str__(self) -> str:
        return f"inference/request#/messages{self.pointer}: {self.why}"


class ScopeDeniedError(KinwireError):
    """A tool call is not approved to act in its scope; it was not sent.

    `reason` is a clause that says which rule or who denied it.
    """

    def __init__(self, request: ScopeRequest, reason: str) -> None:
        super().__init__(request, reason)
        self.request = request
        self.reason = reason

    def __str__(self) -> str:
        asked = self.request
        return (
            f"{asked.tool}: {asked.feature_set} of {asked.server} may not act in {asked.label!r}: "
            f"{self.reason}. Change the lists of that set, or approve it when asked."
        )


class StateNotRecordedError(KinwireError):
    """A tool call succeeded, but the host failed to record the state in its result (MCPL 8.3).

    `result` is the result as it came, and `__cause__` says what failed, such as the store. If only
    writing failed, the next call builds on the new state, and what was not written is written with
    the next checkpoint.
    """

    def __init__(self, tool: str, result: mcp.CallToolResult) -> None:
        super().__init__(tool, result)
        self.tool = tool
        self.result = result

    def __str__(self) -> str:
        return (
            f"tools/call {self.tool}#/state: expected to record it, got {self.__cause__!r:.300}. "
            "The call itself succeeded: see `result`."
        )


class StateRefusedError(InvalidResponseError):
    """A tool call succeeded, but the state in its result is invalid.

    Checkpoints and head are as they were before the call. `result` is the result as it came.
    """

    def __init__(self, tool: str, reason: str, result: mcp.CallToolResult) -> None:
        super().__init__(tool, reason, result)
        self.tool = tool
        self.reason = reason
        self.result = result

    def __str__(self) -> str:
        return f"tools/call {self.tool}#/state{self.reason}"
